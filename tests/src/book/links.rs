//! Links between documents.

use std::path::Path;

/// The links of a document that lead to no file, or to no heading of one.
///
/// # Panics
/// If a document that is there cannot be read.
pub fn broken_links(document: &Path) -> Vec<String> {
    let text = read(document);
    let folder = document.parent().unwrap_or(Path::new("."));
    let is_broken = |link: &&str| {
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if path.is_empty() { document.to_owned() } else { folder.join(path) };
        let has_anchor = || anchors(&read(&target)).iter().any(|known| known == anchor);
        !target.exists() || !anchor.is_empty() && !has_anchor()
    };
    let links = links(&text);
    links.iter().map(String::as_str).filter(is_broken).map(str::to_owned).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The text without blocks of code and code in lines.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") {
            let parts = line.split('`').enumerate().filter(|(k, _)| k % 2 == 0).map(|(_, part)| part);
            out += &parts.collect::<String>();
            out.push('\n');
        }
    }
    out
}

/// Where links within the repository lead, as they are written.
fn links(text: &str) -> Vec<String> {
    let text = prose(text);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|t| !t.contains("://") && !t.starts_with("mailto:")).map(str::to_owned).collect()
}

/// The anchors of a document's headings.
fn anchors(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        let heading =
            line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#') && !is_code);
        let Some(heading) = heading else { continue };
        let letters = heading.trim().to_lowercase();
        let letters = letters.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        found.push(letters.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_anchors_are_found() {
        let text = "# One `two`, three\n[a](b.md#c) `[x](y)` ![p](q.svg) [w](https://e.org)\n```\n# no\n```\n    [i](j)\n";
        assert_eq!(links(text), ["b.md#c", "q.svg"]);
        assert_eq!(anchors(text), ["one-two-three"]);
    }
}
