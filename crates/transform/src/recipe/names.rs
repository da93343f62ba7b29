//! Names that stand for loops in recipes written by people.

use oxeye_ir::LoopId;

/// The names in a recipe. Until it is applied, they are represented by ids counted down from the greatest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    known: Vec<String>,
    ids_only: bool,
}

impl Names {
    /// Accepts no names, only ids.
    pub(super) fn ids_only() -> Self {
        Self { known: Vec::new(), ids_only: true }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// A loop by its id, such as `L2`, or by its name, such as `i` or `i#2`; `None` if the word is neither.
    pub(super) fn loop_id(&mut self, word: &str) -> Option<LoopId> {
        if let Ok(id) = word.parse() {
            return Some(id);
        }
        if self.ids_only || !is_name(word) {
            return None;
        }
        let k = self.known.iter().position(|known| known == word).unwrap_or_else(|| {
            self.known.push(word.to_owned());
            self.known.len() - 1
        });
        Some(LoopId(u32::MAX - k as u32))
    }

    /// The name that an id stands for.
    pub(super) fn name(&self, id: LoopId) -> Option<&str> {
        self.known.get((u32::MAX - id.0) as usize).map(String::as_str)
    }

    /// A loop in the form that is read.
    pub(super) fn print(&self, id: LoopId) -> String {
        self.name(id).map_or_else(|| id.to_string(), str::to_owned)
    }
}

/// A C identifier, optionally followed by `#` and a number.
fn is_name(word: &str) -> bool {
    let (name, ordinal) = word.split_once('#').map_or((word, None), |(name, n)| (name, Some(n)));
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_number = |n: &str| n.parse::<usize>().is_ok_and(|n| n > 0);
    starts && name.chars().all(|c| c.is_alphanumeric() || c == '_') && ordinal.is_none_or(is_number)
}
