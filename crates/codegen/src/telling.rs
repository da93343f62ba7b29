//! Statements that tell the watch runtime of their accesses.

use crate::context::Context;
use oxeye_ir::{Stmt, Update};

impl Context<'_> {
    /// A statement that tells of its accesses; none if nothing is watched.
    pub(crate) fn watched_stmt(&mut self, s: &Stmt) -> Option<Vec<String>> {
        self.watch.as_mut()?.at = Some(s.id);
        let target = self.access(&s.target);
        let value = self.expr(&s.value);
        let ty = self.type_of(&s.value).c_name();
        let watch = self.watch.as_mut()?;
        let (load, store) = (watch.number(&s.target, false), watch.number(&s.target, true));
        watch.at = None;
        let store_to = |to: &str| {
            let sign = match s.update {
                Update::Assign => "=",
                Update::Add => "+=",
                Update::Sub => "-=",
                Update::Mul => "*=",
                Update::Div => "/=",
                Update::Min | Update::Max => {
                    let sign = if s.update == Update::Min { "<" } else { ">" };
                    return vec![
                        format!("    const {ty} oxeye_value = {};", value.text),
                        format!("    {to} = {to} {sign} oxeye_value ? {to} : oxeye_value;"),
                    ];
                }
            };
            vec![format!("    {to} {sign} {};", value.text)]
        };
        let mut lines = vec!["{".to_owned()];
        match store {
            None => lines.extend(store_to(&target)),
            Some(store) => {
                lines.push(format!("    __typeof__(&({target})) oxeye_to = &({target});"));
                lines.push("    const __typeof__(*oxeye_to) oxeye_was = *oxeye_to;".to_owned());
                if let Some(load) = load.filter(|_| s.update.reads_target()) {
                    lines.push(format!(
                        "    oxeye_watch_loaded({load}, (const void *)oxeye_to, sizeof *oxeye_to);"
                    ));
                }
                lines.extend(store_to("*oxeye_to"));
                lines.push(format!(
                    "    oxeye_watch_stored({store}, (const void *)oxeye_to, (const void *)&oxeye_was, sizeof *oxeye_to);"
                ));
            }
        }
        lines.push("}".to_owned());
        Some(lines)
    }
}
