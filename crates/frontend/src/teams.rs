//! Which directives make teams of threads, and the file with all of them but one switched off.

use crate::Unit;

impl Unit {
    /// The text with one directive alone, of those that make teams of threads: the others are blank lines. What they would
    /// divide among a team is then run by one thread. `None` if another one is no line of its own.
    pub fn with_team(&self, line: u32) -> Option<String> {
        let mut text = String::new();
        let mut is_blank = false;
        for (own, number) in self.source.split_inclusive('\n').zip(1u32..) {
            let starts = self.teams.contains(&number) && number != line;
            if starts && !own.trim_start().starts_with('#') {
                return None;
            }
            is_blank |= starts;
            text += if is_blank { &own[own.trim_end_matches(['\r', '\n']).len()..] } else { own };
            is_blank &= own.trim_end().ends_with('\\');
        }
        Some(text)
    }
}
