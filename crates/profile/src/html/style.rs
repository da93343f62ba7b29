//! The page's style; colours are those of the plots.

pub(super) const PAGE: &str = "
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ox-bg);color:var(--ox-ink);
font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}
main{max-width:1040px;margin:0 auto;padding:24px 20px 64px}
header{margin-bottom:20px}h1{font-size:1.7rem;line-height:1.2;margin:0 0 6px;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:40px 0 12px;padding-bottom:6px;border-bottom:1px solid var(--ox-rule)}
h3{font-size:.95rem;margin:20px 0 6px}
.kicker{margin:0;color:var(--ox-muted);font-size:.85rem}
.facts{margin:0;color:var(--ox-muted);font-size:.9rem;overflow-wrap:anywhere}.dot{padding:0 .15em}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(205px,1fr));gap:12px}
.tile{background:var(--ox-panel);border:1px solid var(--ox-rule);border-radius:8px;padding:12px 16px}
.tile .name,.tile .text{color:var(--ox-muted);font-size:.85rem}
.tile .value{font-size:1.6rem;font-weight:650;line-height:1.3}
.scroll{overflow-x:auto;border:1px solid var(--ox-rule);border-radius:8px}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:7px 12px;text-align:left;vertical-align:top;white-space:nowrap;border-bottom:1px solid var(--ox-grid)}
tbody tr:last-child th,tbody tr:last-child td{border-bottom:0}
thead th{background:var(--ox-panel);color:var(--ox-muted);font-weight:600;font-size:.82rem}
tbody th{font-weight:400;color:var(--ox-muted)}
.n{text-align:right}.none{color:var(--ox-muted)}.recipe{white-space:normal;min-width:14em}
a{color:var(--ox-after)}
.meter{display:inline-block;width:54px;height:7px;margin-right:8px;border-radius:4px;background:var(--ox-rule);
vertical-align:middle;overflow:hidden}.meter span{display:block;height:100%;background:var(--ox-after)}
small{color:var(--ox-muted);font-size:.82em}
.tag{font-style:normal;font-size:.72em;color:var(--ox-muted);border:1px solid var(--ox-rule);border-radius:4px;padding:0 4px}
.figure{margin:4px 0}.figure svg{display:block;max-width:100%;height:auto;margin:0 auto}.figure svg.narrow{display:none}
@media (max-width:720px){.figure svg.wide{display:none}.figure svg.narrow{display:block}
main{padding:16px 14px 48px}h1{font-size:1.35rem}h2{margin-top:32px}.tiles{grid-template-columns:1fr 1fr;gap:8px}
.texts{grid-template-columns:1fr}
.tile{padding:10px 12px}.tile .value{font-size:1.25rem}th,td{padding:6px 9px}}
details{border:1px solid var(--ox-rule);border-radius:8px;margin:8px 0;padding:0 14px}
details[open]{padding-bottom:14px}summary{cursor:pointer;padding:10px 0;overflow-wrap:anywhere}
summary .title{font-weight:600}.hint{color:var(--ox-muted);font-size:.9rem}
.texts{display:grid;grid-template-columns:1fr 1fr;gap:12px}.texts>div{min-width:0}
pre.command{display:flex;gap:10px;align-items:flex-start;background:var(--ox-panel);border:1px solid var(--ox-rule);
border-radius:8px;padding:10px 12px;overflow-x:auto}pre.command code{flex:1;font-size:1em}
button{font:inherit;font-size:.85rem;color:inherit;background:none;border:1px solid var(--ox-rule);border-radius:6px;cursor:pointer}
th button{border:0;padding:0;font-weight:600;font-size:inherit}th[aria-sort=ascending] button::after{content:' ▲'}
th[aria-sort=descending] button::after{content:' ▼'}
input.filter{font:inherit;font-size:.9rem;color:inherit;background:var(--ox-panel);border:1px solid var(--ox-rule);
border-radius:6px;padding:5px 10px;margin:0 0 8px;width:min(100%,20em)}
details.inner{background:var(--ox-panel);margin-top:14px}
ul,ol{padding-left:1.3em;margin:6px 0}li{margin:3px 0;overflow-wrap:anywhere}
code,pre{font:.86em/1.5 ui-monospace,'Cascadia Mono','DejaVu Sans Mono',Menlo,monospace}
pre{margin:0;padding:12px}p.note{background:var(--ox-panel);border-radius:8px;padding:10px 14px}
dl{margin:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(290px,1fr));gap:10px 24px}
dt{color:var(--ox-muted);font-size:.85rem}dd{margin:0;overflow-wrap:anywhere}
@media print{.scroll{overflow:visible}details{break-inside:avoid}}
";
