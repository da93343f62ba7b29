//! Colours and type of plots and reports, for light and dark.
//!
//! The hues are those of Okabe and Ito ("Color universal design", 2008), which people with any kind of colour vision
//! can tell apart, a little lighter on dark ground. Colour is never the only difference.

/// Custom properties: those of light ground, and those of dark where the reader prefers it.
pub(crate) const VARIABLES: &str = "
:root{--ox-bg:#ffffff;--ox-panel:#f6f7f9;--ox-ink:#1a1d21;--ox-muted:#5b6470;--ox-rule:#d5dae0;--ox-grid:#e8ebef;
--ox-before:#b25a00;--ox-after:#0062a3;--ox-good:#00704f;--ox-bad:#b03a00;
--ox-l1:#8a4b7d;--ox-l2:#007a5a;--ox-l3:#1f77b4;--ox-dram:#c4520a;--ox-peak:#3b424b;
--ox-0:#0072b2;--ox-1:#d55e00;--ox-2:#00845f;--ox-3:#c08400;--ox-4:#3f9fd8;--ox-5:#b4568c;--ox-6:#6b7480;--ox-7:#6a4a2f;
color-scheme:light}
@media (prefers-color-scheme:dark){:root{--ox-bg:#14171a;--ox-panel:#1d2126;--ox-ink:#e9ecef;
--ox-muted:#a3adb8;--ox-rule:#3a4149;--ox-grid:#272c32;--ox-before:#f0a04b;--ox-after:#62b8f0;--ox-good:#3cc49a;
--ox-bad:#ff9066;--ox-l1:#d99acb;--ox-l2:#3cc49a;--ox-l3:#6fb7ec;--ox-dram:#ff9a5c;--ox-peak:#ccd3da;
--ox-0:#5aa9e0;--ox-1:#ff8a4a;--ox-2:#2fc598;--ox-3:#f0b93a;--ox-4:#9ad6fa;--ox-5:#e39cc4;--ox-6:#a3adb8;--ox-7:#c99f7c;
color-scheme:dark}}
";

/// Size of the text in plots, in pixels.
pub const FONT_PX: f64 = 12.5;

/// Style of the plots' classes.
pub(crate) const PLOT_STYLE: &str = "
.ox-plot{font:12.5px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}
.ox-plot text{fill:var(--ox-ink)}.ox-plot text.ox-muted{fill:var(--ox-muted)}
.ox-plot text.ox-halo{paint-order:stroke;stroke:var(--ox-bg);stroke-width:3.5px;stroke-linejoin:round}
.ox-plot text.ox-strong{font-weight:600}
.ox-paper{fill:var(--ox-bg)}.ox-frame{fill:none;stroke:var(--ox-rule)}.ox-grid{stroke:var(--ox-grid)}
.ox-leader{stroke:var(--ox-muted);stroke-width:.8}
.ox-roof{fill:none;stroke-width:1.8}.ox-roof.ox-one{stroke-width:1.2;stroke-dasharray:5 4}
.ox-roof.ox-low{stroke-width:1.2;opacity:.75}
.ox-l1{stroke:var(--ox-l1)}.ox-l2{stroke:var(--ox-l2)}.ox-l3{stroke:var(--ox-l3)}.ox-dram{stroke:var(--ox-dram)}
.ox-peak{stroke:var(--ox-peak)}
.ox-plot text.ox-t-l1{fill:var(--ox-l1)}.ox-plot text.ox-t-l2{fill:var(--ox-l2)}.ox-plot text.ox-t-l3{fill:var(--ox-l3)}
.ox-plot text.ox-t-dram{fill:var(--ox-dram)}.ox-plot text.ox-t-peak{fill:var(--ox-peak)}
.ox-before{fill:var(--ox-bg);stroke:var(--ox-before);stroke-width:2.2}
.ox-after{fill:var(--ox-after);stroke:var(--ox-bg);stroke-width:1}
.ox-arrow{stroke:var(--ox-muted);stroke-width:1.4}.ox-arrow-head{fill:var(--ox-muted)}
.ox-bar-before{fill:var(--ox-before);opacity:.85}.ox-bar-after{fill:var(--ox-after)}
.ox-curve{fill:none;stroke:var(--ox-after);stroke-width:2}.ox-curve-dot{fill:var(--ox-after)}
.ox-capacity{stroke:var(--ox-muted);stroke-dasharray:2 3}
.ox-mark-0{fill:var(--ox-0);stroke:var(--ox-bg);stroke-width:.6}.ox-line-0{fill:none;stroke:var(--ox-0);stroke-width:1.8}
.ox-mark-1{fill:var(--ox-1);stroke:var(--ox-bg);stroke-width:.6}.ox-line-1{fill:none;stroke:var(--ox-1);stroke-width:1.8}
.ox-mark-2{fill:var(--ox-2);stroke:var(--ox-bg);stroke-width:.6}.ox-line-2{fill:none;stroke:var(--ox-2);stroke-width:1.8}
.ox-mark-3{fill:var(--ox-3);stroke:var(--ox-bg);stroke-width:.6}.ox-line-3{fill:none;stroke:var(--ox-3);stroke-width:1.8}
.ox-mark-4{fill:var(--ox-4);stroke:var(--ox-bg);stroke-width:.6}.ox-line-4{fill:none;stroke:var(--ox-4);stroke-width:1.8}
.ox-mark-5{fill:var(--ox-5);stroke:var(--ox-bg);stroke-width:.6}.ox-line-5{fill:none;stroke:var(--ox-5);stroke-width:1.8}
.ox-mark-6{fill:var(--ox-6);stroke:var(--ox-bg);stroke-width:.6}.ox-line-6{fill:none;stroke:var(--ox-6);stroke-width:1.8}
.ox-mark-7{fill:var(--ox-7);stroke:var(--ox-bg);stroke-width:.6}.ox-line-7{fill:none;stroke:var(--ox-7);stroke-width:1.8}
.ox-pale{opacity:.3}
.ox-box{fill:var(--ox-panel);stroke:var(--ox-rule)}.ox-box.ox-outside{fill:var(--ox-bg);stroke-dasharray:4 3}
.ox-flow{fill:none;stroke:var(--ox-after);stroke-linejoin:round;opacity:.8}.ox-flow.ox-back{stroke:var(--ox-before)}
.ox-flow.ox-unread{stroke:var(--ox-muted);stroke-dasharray:4 3}.ox-flow-head{fill:var(--ox-after)}
.ox-flow-head.ox-back{fill:var(--ox-before)}.ox-flow-head.ox-unread{fill:var(--ox-muted)}
.ox-w1{stroke-width:1.2}.ox-w2{stroke-width:2}.ox-w3{stroke-width:3}.ox-w4{stroke-width:4.2}.ox-w5{stroke-width:5.6}
";
