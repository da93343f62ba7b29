//! What could not be read.

use crate::figures::format_percent;
use crate::plot::escape;
use crate::report::UnreadEntry;
use std::fmt::Write;

/// Loops that could not be read, in the order given; nothing where nobody looked for them.
pub(super) fn unread(page: &mut String, entries: Option<&[UnreadEntry]>) {
    let Some(entries) = entries else { return };
    page.push_str("<section>\n<h2>Not readable</h2>\n");
    if entries.is_empty() {
        page.push_str("<p class=\"note\">No loop that takes time was refused.</p>\n</section>\n");
        return;
    }
    let shares: Vec<f64> = entries.iter().filter_map(|entry| entry.share).collect();
    let loops = match shares.as_slice() {
        [] => "These loops".to_owned(),
        shares => format!("Loops with {} of the time", format_percent(shares.iter().sum())),
    };
    let _ = writeln!(page, "<p>{loops} stay as they are, since Oxeye cannot read them exactly.</p>");
    page.push_str(
        "<div class=\"scroll\"><table class=\"sorted\">\n<thead><tr><th scope=\"col\">Loop</th>\
         <th class=\"n\" scope=\"col\">Share</th><th scope=\"col\">Reason</th></tr></thead>\n<tbody>\n",
    );
    for entry in entries {
        let help = entry.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
        let share = entry.share.map_or_else(|| NONE.to_owned(), format_percent);
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n\" data-v=\"{}\">{share}</td><td class=\"recipe\">{}{}</td></tr>",
            escape(&entry.place),
            entry.share.unwrap_or(0.0),
            escape(&entry.reason),
            escape(&help)
        );
    }
    page.push_str(
        "</tbody></table></div>\n<p class=\"note\">The chapter <b>Refusals</b> of the book has every such message, and what \
         helps.</p>\n</section>\n",
    );
}

pub(super) const NONE: &str = "<span class=\"none\">–</span>";
