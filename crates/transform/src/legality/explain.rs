//! Messages about broken dependences, for C programmers.

use super::check::Judge;
use super::dependences::same_accumulation;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::space::Space;
use crate::schedule::{MemoryAccess, Statement};
use oxeye_analysis::omega::{Feasibility, Limit, System, feasible, sample};
use oxeye_ir::{LoopId, Update};

impl Judge<'_> {
    pub(super) fn explain(
        &self,
        system: &System,
        space: &Space,
        (s, a): (usize, &MemoryAccess),
        (t, b): (usize, &MemoryAccess),
        at: Option<LoopId>,
    ) -> Reason {
        let how = match (a.write, b.write) {
            (true, true) => "both write",
            (true, false) => "the first writes what the second reads:",
            _ => "the second overwrites what the first reads:",
        };
        let name = &self.schedule.program.array(a.array).name;
        let describe = |s: usize| {
            let statement = &self.schedule.statements[s];
            match statement.assignment().and_then(|s| s.line) {
                Some(line) => format!("{} (line {line})", statement.id),
                None => statement.id.to_string(),
            }
        };
        let place = match at {
            Some(l) => {
                let how = if self.loops[&l].reductions.is_some() { "concurrent" } else { "reordered" };
                format!("loop {} would be {how}", self.schedule.loop_name(l))
            }
            None => "their order would change".to_owned(),
        };
        let mut text =
            format!("{} and {} depend on each other ({how} {name}); {place}", describe(s), describe(t));
        let element = self.schedule.program.array(a.array).element;
        let mut kind = RefusalKind::Dependence { at, array: a.array };
        if let (Some(u), Some(v)) = (a.update, b.update)
            && same_accumulation(u, v)
            && element.is_float()
            && !self.policy.reassociate
        {
            let what = match u {
                Update::Mul => "product",
                Update::Min => "minimum",
                Update::Max => "maximum",
                _ => "sum",
            };
            kind = RefusalKind::ReassociationNotAllowed { at, array: a.array };
            text.push_str(&format!(", and a floating-point {what} may not be taken in another order"));
        }
        if let Some(point) = sample(system, Limit::default()) {
            let instance = |which: u8, statement: &Statement| {
                let values: Vec<String> = statement
                    .time
                    .loops
                    .iter()
                    .map(|(l, _)| {
                        let value = statement.map[l].evaluate(&|v| point.get(space.find(which, v)?).copied());
                        let info = self.schedule.iterators.get(l).map_or("?", |i| i.name.as_str());
                        format!("{info}={}", value.map_or("?".into(), |v| v.to_string()))
                    })
                    .collect();
                values.join(", ")
            };
            let first = instance(0, &self.schedule.statements[s]);
            let second = instance(1, &self.schedule.statements[t]);
            if !first.is_empty() {
                text.push_str(&format!("; for example ({first}) must come before ({second})"));
            }
        } else if feasible(system, Limit::default()) == Feasibility::Unknown {
            kind = RefusalKind::WorkLimit;
        }
        Reason::new(kind, text)
    }
}
