//! What to do with a result: commands to copy, what nests hand on to each other, and what was compared.

use super::parts::figure;
use crate::figures::format_bytes;
use crate::plot::{FlowBox, FlowLine, escape, flows as drawn};
use crate::report::ReportData;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Commands to copy; nothing if there are none.
pub(super) fn commands(page: &mut String, data: &ReportData) {
    if data.about.commands.is_empty() {
        return;
    }
    page.push_str("<section>\n<h2>What to do with it</h2>\n");
    for (what, command) in &data.about.commands {
        let (what, command) = (escape(what), escape(command));
        let _ = writeln!(page, "<h3>{what}</h3>\n<pre class=\"command\"><code>{command}</code></pre>");
    }
    page.push_str("</section>\n");
}

/// What was compared, and what was not.
pub(super) fn compared(page: &mut String, data: &ReportData) {
    if data.about.compared.is_empty() {
        return;
    }
    page.push_str("<section>\n<h2>What was compared</h2>\n<ul>\n");
    for sentence in &data.about.compared {
        let _ = writeln!(page, "<li>{}</li>", escape(sentence));
    }
    page.push_str("</ul>\n</section>\n");
}

/// The arrays that nests hand on to each other; nothing where they hand on none.
pub(super) fn flows(page: &mut String, data: &ReportData) {
    if data.about.flows.is_empty() {
        return;
    }
    // Only nests that take part have a box.
    let mut boxes: BTreeMap<usize, usize> = BTreeMap::new();
    data.about.flows.iter().flat_map(|flow| [flow.from, flow.to]).for_each(|nest| {
        boxes.insert(nest, 0);
    });
    boxes.values_mut().enumerate().for_each(|(position, at)| *at = position);
    let name = |nest: &usize| data.nests.iter().find(|entry| entry.before.id == *nest);
    let flow_box = |nest: &usize| FlowBox {
        title: name(nest).map_or_else(|| nest.to_string(), |entry| format!("{nest} {}", entry.before.name)),
        text: name(nest).and_then(|entry| entry.recipe.clone()).unwrap_or_default(),
        is_outside: false,
    };
    let titles: Vec<FlowBox> = boxes.keys().map(flow_box).collect();
    let lines = data.about.flows.iter().map(|flow| {
        let bytes = if flow.bytes > 0.0 { format!(", {}", format_bytes(flow.bytes)) } else { String::new() };
        FlowLine {
            from: boxes[&flow.from],
            to: boxes[&flow.to],
            label: flow.arrays.join(", ") + &bytes,
            amount: flow.bytes.max(1.0),
            is_unread: false,
        }
    });
    let lines: Vec<FlowLine> = lines.collect();
    page.push_str(
        "<section>\n<h2>What nests hand on</h2>\n<p>Arrays that one nest writes and another one reads, by the text of each \
         function; `oxeye inspect` measures how many bytes do.</p>\n",
    );
    figure(page, |size| drawn(&titles, &lines, size));
    page.push_str("</section>\n");
}
