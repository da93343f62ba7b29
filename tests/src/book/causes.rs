//! Why nests stay as they are and results are not kept, as the code words it.

use oxeye::{LeftOut, NotInNests, NotKept, Unchanged};

/// The causes of a kind as rows of a table: each with what would help.
///
/// # Errors
/// If there is no such kind.
pub fn causes(kind: &[&str]) -> Result<String, String> {
    let (head, rows) = match kind.join(" ").as_str() {
        "unchanged" => ("| cause | in JSON | means | what helps |\n|---|---|---|---|\n", unchanged()?),
        "left out" => {
            let row = |cause: &LeftOut| {
                vec![cause.to_string(), cause.remedy().unwrap_or(super::NOTHING_HELPS).to_owned()]
            };
            ("| note | what helps |\n|---|---|\n", LeftOut::all().iter().map(row).collect())
        }
        "not kept" => {
            let row = |cause: &NotKept| vec![cause.to_string(), cause.remedy().to_owned()];
            ("| note | what helps |\n|---|---|\n", NotKept::all().iter().map(row).collect())
        }
        "not in nests" => {
            let row = |cause: &NotInNests| {
                let help = cause.remedy().unwrap_or(super::NOTHING_HELPS);
                [cause.words(), cause.means(), help].map(str::to_owned).to_vec()
            };
            ("| cause | means | what helps |\n|---|---|---|\n", NotInNests::ALL.iter().map(row).collect())
        }
        other => return Err(format!("no causes are called `{other}`")),
    };
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    Ok(head.to_owned() + &rows.into_iter().map(row).collect::<String>())
}

fn unchanged() -> Result<Vec<Vec<String>>, String> {
    let row = |cause: &Unchanged| {
        let json = serde_json::to_value(cause).map_err(|e| e.to_string())?;
        let words = match (cause.short(), cause.words()) {
            (Some(short), Some(words)) if short != words => format!("{short}; with `-v`: {words}"),
            (_, words) => words.unwrap_or("(its note)").to_owned(),
        };
        let unknown = if cause.words().is_some() { super::NOTHING_HELPS } else { "see its note" };
        let help = cause.remedy().unwrap_or(unknown).to_owned();
        Ok(vec![words, format!("`{}`", json.as_str().unwrap_or_default()), cause.means(), help])
    };
    Unchanged::ALL.iter().map(row).collect()
}
