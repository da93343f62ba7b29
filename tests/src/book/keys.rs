//! The keys of reports, as their structures document them.

use std::path::Path;

/// The fields of a structure with what they mean, as rows of a table. Those that are not part of the JSON form are left out.
///
/// # Errors
/// If the file has no such structure.
pub fn keys(root: &Path, words: &[&str]) -> Result<String, String> {
    let [source, name] = words else { return Err(format!("{words:?}: a file and a structure are needed")) };
    let path = root.join(source);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let head = format!("pub struct {name} {{");
    let (_, rest) = text.split_once(&head).ok_or_else(|| format!("{source} has no `{name}`"))?;
    let mut out = String::from("| key | means |\n|---|---|\n");
    let (mut told, mut attributes) = (String::new(), String::new());
    for line in rest.lines().map(str::trim_end).take_while(|line| *line != "}").map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            told += words;
        } else if line.starts_with('#') {
            attributes += line;
        } else if let Some((field, _)) = line.strip_prefix("pub ").and_then(|line| line.split_once(':')) {
            let is_left_out = attributes.contains("(skip)") || attributes.contains("flatten");
            if !is_left_out {
                out += &format!("| `{field}` | {} |\n", sentence(&told));
            }
            told.clear();
            attributes.clear();
        }
    }
    Ok(out)
}

/// Documentation without links and without a final period.
fn sentence(told: &str) -> String {
    let mut out = told.trim().trim_end_matches('.').to_owned();
    while let Some(at) = out.find("](") {
        // Functions end in brackets of their own.
        let end = out[at..].find(')').map_or(out.len(), |end| at + end + 1);
        let end = if out[..end].ends_with("()") { end + 1 } else { end };
        out.replace_range(at..end.min(out.len()), "");
    }
    let out = out.replace("[`", "`").replace("`]", "`").replace('|', "\\|");
    match out.ends_with("SCHEMA`") {
        true => "The name of this form".to_owned(),
        false => out.replace('[', "").replace('<', "&lt;").replace("`None`", "`null`"),
    }
}
