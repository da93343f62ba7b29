//! Results of training for models that never saw one family of nests.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use super::markdown::cell;

/// The tables of a model's card: every object whose members are objects of numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Families {
    tables: Vec<Table>,
}

#[derive(Debug, Clone, PartialEq)]
struct Table {
    name: String,
    columns: Vec<String>,
    rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Families {
    /// Reads the file that training wrote beside the weights; `None` if it does not exist.
    ///
    /// # Errors
    /// If it exists and is not JSON.
    pub(crate) fn read(path: &Path) -> Result<Option<Families>> {
        if !path.exists() {
            return Ok(None);
        }
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let value = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
        Ok(Some(Families::of(&value)))
    }

    fn of(value: &Value) -> Families {
        let mut families = Families::default();
        if let Value::Object(members) = value {
            for (name, value) in members {
                families.collect(name, value);
            }
        }
        families
    }

    fn collect(&mut self, name: &str, value: &Value) {
        let Value::Object(members) = value else { return };
        match Table::of(name, members) {
            Some(table) => self.tables.push(table),
            None => {
                members.iter().for_each(|(inner, value)| self.collect(&format!("{name}, {inner}"), value))
            }
        }
    }

    /// A section; empty without tables.
    pub(crate) fn markdown(&self) -> String {
        if self.tables.is_empty() {
            return String::new();
        }
        let mut text = String::from("\n## Families of the dataset, from training\n");
        for Table { name, columns, rows } in &self.tables {
            let _ = write!(text, "\n### {}\n\n| |", words(name));
            columns.iter().for_each(|column| _ = write!(text, " {} |", words(column)));
            let _ = writeln!(text, "\n|---|{}", "--:|".repeat(columns.len()));
            for (row, values) in rows {
                let _ = write!(text, "| {} |", words(row));
                values.iter().for_each(|value| _ = write!(text, " {} |", value.map_or("–".into(), number)));
                text.push('\n');
            }
        }
        text
    }
}

impl Table {
    /// Rows are members, columns the numbers that they have; `None` unless all members are objects with a number.
    fn of(name: &str, members: &Map<String, Value>) -> Option<Table> {
        let mut columns: Vec<String> = Vec::new();
        for member in members.values() {
            let numbers = member.as_object()?.iter().filter(|(_, value)| value.is_number());
            let before = columns.len();
            let mut n_numbers = 0;
            for (column, _) in numbers {
                n_numbers += 1;
                if !columns[..before].contains(column) {
                    columns.push(column.clone());
                }
            }
            if n_numbers == 0 {
                return None;
            }
        }
        let values = |member: &Value| columns.iter().map(|column| member[column].as_f64()).collect();
        let rows: Vec<(String, Vec<Option<f64>>)> =
            members.iter().map(|(row, member)| (row.clone(), values(member))).collect();
        (!rows.is_empty()).then_some(Table { name: name.to_owned(), columns, rows })
    }
}

fn words(key: &str) -> String {
    cell(&key.replace('_', " "))
}

/// Whole numbers as they are, others with three decimals.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 { format!("{value}") } else { format!("{value:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_are_found_wherever_they_are() {
        let families = Families::of(&json!({
            "model": "m1",
            "architecture": {"hidden": 64},
            "left_out": {
                "stencil": {"n_nests": 120, "top3": 0.91234, "note": "x"},
                "mixed": {"n_nests": 80, "top3": null, "spearman": 0.5},
            },
            "metrics": {"held_out": {"static": {"top3": 0.9}, "profile": {"top3": 0.95}}},
        }));
        let text = families.markdown();
        assert!(
            text.contains("### left out\n\n| | n nests | spearman | top3 |\n|---|--:|--:|--:|\n"),
            "{text}"
        );
        assert!(text.contains("| mixed | 80 | 0.500 | – |\n| stencil | 120 | – | 0.912 |"), "{text}");
        assert!(text.contains("### metrics, held out\n\n| | top3 |"), "{text}");
        assert!(!text.contains("architecture"), "{text}");
    }

    #[test]
    fn without_tables_there_is_no_section() {
        assert_eq!(Families::of(&json!({"model": "m1"})).markdown(), "");
        assert_eq!(Families::of(&json!([1])).markdown(), "");
        let missing = Path::new("/nowhere/encoder.json");
        assert_eq!(Families::read(missing).expect("a missing file is no error"), None);
    }
}
