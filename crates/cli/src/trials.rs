//! Trials and what happens to them, in words.

use crate::terminal::print_or_quit;
use oxeye_database::Tally;
use serde_json::Value;
use std::io::Write as _;

/// The template of a recipe or the names of its steps, for people.
pub(crate) fn steps(recipe: &Value) -> String {
    if let Some(template) = recipe["template"].as_str() {
        return template.to_owned();
    }
    let list = recipe.as_array().or(recipe["steps"].as_array());
    let names = list.into_iter().flatten().filter_map(|step| step["step"].as_str());
    let names: Vec<&str> = names.collect();
    if names.is_empty() { recipe.to_string() } else { names.join(", ") }
}

/// How many bad lines are named one by one.
const MOST_NAMED: usize = 20;

pub(crate) fn report(tally: &Tally, refused: bool, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return print_or_quit(&format!("{:#}\n", serde_json::to_value(tally)?));
    }
    for bad in tally.bad_lines.iter().take(MOST_NAMED) {
        note(&bad.to_string());
    }
    let n_more = tally.bad_lines.len().saturating_sub(MOST_NAMED);
    if n_more > 0 {
        note(&format!("and {n_more} more bad lines"));
    }
    if refused {
        note("nothing was imported; --skip-bad imports the other lines");
        return Ok(());
    }
    let Tally { inserted, replaced, kept, .. } = tally;
    print_or_quit(&format!("{inserted} entries added, {replaced} replaced, {kept} kept as they were\n"))
}

/// A word on standard error; where that is closed, nobody wants to know.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn recipes_are_named_by_their_steps() {
        assert_eq!(steps(&json!([{"step": "tile"}, {"step": "vectorize", "at": 1}])), "tile, vectorize");
        assert_eq!(steps(&json!([])), "[]");
        let learnt = |template: Value| json!({"template": template, "steps": [{"step": "tile"}]});
        assert_eq!(steps(&learnt(json!("source threads simd"))), "source threads simd");
        assert_eq!(steps(&learnt(Value::Null)), "tile");
    }
}
