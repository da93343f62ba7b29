//! Cells of Markdown tables.

/// The text, escaped so that it stays in its cell.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
