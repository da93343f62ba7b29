//! A nest prepared for many recipes: its statements, dependences and normal forms are computed once.

use crate::legality;
use crate::normalize::{NormalNest, normalize_nest};
use crate::policy::Policy;
use crate::recipe::Recipe;
use crate::refusal::{Reason, Refusal, RefusalKind};
use crate::rewrite::Rewrite;
use crate::scan;
use crate::schedule::Schedule;
use crate::steps::{self, Transformation};
use crate::values::Valued;
use oxeye_ir::{Nest, Program};
use std::sync::{Arc, OnceLock};

/// A nest after a recipe.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The program with the temporaries that the nest uses.
    pub program: Program,
    /// The new nest.
    pub nest: Nest,
    /// Whether floating-point sums are reordered relative to the source.
    pub reassociated: bool,
}

/// A nest of a program, with the analyses that every [`apply`](PreparedNest::apply) needs. Each is computed on first
/// use; threads may share it, and clones share the results.
#[derive(Clone, Debug)]
pub struct PreparedNest<'a> {
    program: &'a Program,
    nest: &'a Nest,
    found: Arc<Found>,
}

#[derive(Debug, Default)]
struct Found {
    source: OnceLock<Schedule>,
    /// Under the strict policy, and with reassociation.
    normal: [OnceLock<Normalized>; 2],
}

/// A nest in normal form.
#[derive(Debug)]
pub(crate) struct Normalized {
    pub(crate) normal: NormalNest,
    pub(crate) schedule: Schedule,
    /// Whether its statements access the elements that the map to the source says.
    elements: Result<(), Reason>,
}

/// A nest after the first steps of a recipe, those that rewrite it.
#[derive(Clone, Debug)]
pub struct Rewritten {
    valued: Valued,
}

impl Rewritten {
    /// The nest, for suggestions.
    pub fn prepared(&self) -> PreparedNest<'_> {
        PreparedNest::new(&self.valued.program, &self.valued.nest)
    }
}

/// The dependences that recipes on a normal form are checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Those of the source, under the map between the instances, and those of the normal form.
    Source,
    /// Only those of the normal form: this rewrite gives no map.
    NormalForm(Rewrite),
}

impl<'a> PreparedNest<'a> {
    /// Prepares a nest; nothing is computed yet.
    pub fn new(program: &'a Program, nest: &'a Nest) -> Self {
        Self { program, nest, found: Arc::default() }
    }

    /// The program of the nest.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The nest.
    pub fn nest(&self) -> &'a Nest {
        self.nest
    }

    /// The normal form under the policy.
    pub fn normal_form(&self, policy: Policy) -> &NormalNest {
        &self.normalized(policy).normal
    }

    /// The nest in its original order.
    pub(crate) fn schedule(&self) -> &Schedule {
        self.found.source.get_or_init(|| Schedule::import(self.program, self.nest))
    }

    /// What recipes on the normal form are checked against.
    pub fn judged(&self, policy: Policy) -> Judged {
        match self.normal_form(policy).instances.unmapped() {
            Some(rewrite) => Judged::NormalForm(rewrite),
            None => Judged::Source,
        }
    }

    /// The normal form under the policy, and its schedule.
    pub(crate) fn normalized(&self, policy: Policy) -> &Normalized {
        self.found.normal[usize::from(policy.reassociate)].get_or_init(|| {
            let normal = normalize_nest(self.program, self.nest, policy);
            let schedule = Schedule::import_normal(&normal.program, &normal.nest);
            let elements = legality::check_elements(&schedule, self.schedule(), &normal.instances);
            Normalized { normal, schedule, elements }
        })
    }

    /// Applies a recipe.
    ///
    /// # Errors
    /// If a step does not fit the nest, or the result cannot be proved to keep every dependence.
    pub fn apply(&self, recipe: &Recipe, policy: Policy) -> Result<Applied, Refusal> {
        let n_rewrites = recipe.n_rewrites();
        if n_rewrites == 0 {
            return self.scheduled(recipe, policy);
        }
        let Rewritten { valued } = self.rewritten(recipe, policy)?;
        let rest = Recipe { steps: recipe.steps[n_rewrites..].to_vec() };
        let applied = PreparedNest::new(&valued.program, &valued.nest)
            .scheduled(&rest, policy)
            .map_err(|refusal| Refusal { step: n_rewrites + refusal.step, ..refusal })?;
        let last = n_rewrites - 1;
        let Applied { program, nest, reassociated } = applied;
        let reassociated = reassociated || valued.reassociated;
        let (program, nest) =
            valued.finish(program, nest).map_err(|reason| reason.at_step(last, &recipe.steps[last]))?;
        Ok(Applied { program, nest, reassociated })
    }

    /// The nest that the steps of a recipe see which stand behind those that rewrite the nest itself.
    ///
    /// # Errors
    /// If one of these does not fit.
    pub fn rewritten(&self, recipe: &Recipe, policy: Policy) -> Result<Rewritten, Refusal> {
        let refused = |k: usize| move |reason: Reason| reason.at_step(k, &recipe.steps[k]);
        let mut valued = Valued::new(self.program, self.nest).map_err(refused(0))?;
        for (k, step) in recipe.steps.iter().enumerate() {
            let Some(rewrite) = step.as_rewrite() else { break };
            rewrite.rewrite(&mut valued, policy).map_err(refused(k))?;
        }
        Ok(Rewritten { valued })
    }

    /// Applies the steps of a recipe without rewrites.
    fn scheduled(&self, recipe: &Recipe, policy: Policy) -> Result<Applied, Refusal> {
        if !matches!(recipe.steps.first(), Some(Transformation::Normalize(_))) {
            let judge = |schedule: &Schedule| legality::check(schedule, policy);
            return apply_from(self.schedule().clone(), self.nest, recipe, (0, policy), &judge);
        }
        let Normalized { normal, schedule, elements } = self.normalized(policy);
        let (source, instances) = (self.schedule(), &normal.instances);
        let is_mapped = self.judged(policy) == Judged::Source;
        let judge = |schedule: &Schedule| {
            let reassociated = legality::check(schedule, policy)?;
            let from_source = is_mapped && legality::check_source(schedule, source, instances, policy)?;
            Ok(reassociated || from_source)
        };
        if is_mapped {
            let at_first = |reason: Reason| reason.at_step(0, &recipe.steps[0]);
            elements.clone().map_err(at_first)?;
        }
        let applied = apply_from(schedule.clone(), &normal.nest, recipe, (1, policy), &judge)?;
        Ok(Applied { reassociated: applied.reassociated || normal.reassociated, ..applied })
    }
}

/// Applies the steps of a recipe from number `first` on to the schedule that `nest` was imported as.
fn apply_from(
    start: Schedule,
    nest: &Nest,
    recipe: &Recipe,
    (first, policy): (usize, Policy),
    judge: &dyn Fn(&Schedule) -> Result<bool, Reason>,
) -> Result<Applied, Refusal> {
    let rest = &recipe.steps[first..];
    let refusal = |k: usize, reason: Reason| {
        reason.at_step(first + k, rest.get(k).map_or("emit".into(), |s| s.to_string()))
    };
    let after = |n_steps: usize| {
        let mut schedule = start.clone();
        for (k, step) in rest[..n_steps].iter().enumerate() {
            steps::edit(&mut schedule, step, policy).map_err(|reason| refusal(k, reason))?;
        }
        Ok(schedule)
    };
    let schedule = after(rest.len())?;
    let reassociated = judge(&schedule).map_err(|last| {
        // Steps may be illegal alone and legal together: blame the step after the last legal stage. Refusals are rare, so
        // that the stages are made again rather than kept.
        let mut reason = last;
        for k in (0..rest.len()).rev() {
            match after(k).map(|stage| judge(&stage)) {
                Ok(Err(earlier)) => reason = earlier,
                _ => return refusal(k, reason),
            }
        }
        match first {
            0 => refusal(0, reason),
            // It was illegal before the first step.
            _ => reason.at_step(0, &recipe.steps[0]),
        }
    })?;
    let last = rest.len().saturating_sub(1);
    let (program, nest) = scan::generate(schedule, nest).map_err(|reason| refusal(last, reason))?;
    every_loop_ends(&nest).map_err(|reason| refusal(last, reason))?;
    Ok(Applied { program, nest, reassociated })
}

/// Whether loops that go on until they are left still end by that: the judge knows orders, and not that there is an end.
fn every_loop_ends(nest: &Nest) -> Result<(), Reason> {
    let endless = nest.loops().into_iter().find(|l| l.upper.is_open() && l.left_by().is_none());
    let Some(l) = endless else { return Ok(()) };
    let text = format!("loop {} ({}) goes on until it is left, and nothing would end it", l.name, l.id);
    Err(Reason::new(RefusalKind::NotWritable, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::Normalize;
    use oxeye_ir::Node;

    const STRICT: Policy = Policy { reassociate: false, finite: false };

    /// The judge takes a normal form as a nest like any other; only the source shows that it is wrong.
    #[test]
    fn a_pass_that_turns_a_recurrence_round_is_refused() {
        let text = "program f {
          symbol P0 n: i32
          array A0 a: f64[n] param
          dataflow { N0 }
          nest N0 in f { for L0 i: i32 in 1 .. n { S0: a[i] = a[i - 1] } }
        }";
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let nest = &program.nests[0];
        let recipe = Recipe { steps: vec![Normalize {}.into()] };
        assert!(PreparedNest::new(&program, nest).apply(&recipe, STRICT).is_ok());

        let mut normal = normalize_nest(&program, nest, STRICT);
        let [Node::Loop(l)] = normal.nest.roots.as_mut_slice() else { panic!("one loop") };
        l.step = -1;
        let schedule = Schedule::import_normal(&normal.program, &normal.nest);
        assert_eq!(legality::check(&schedule, STRICT), Ok(false), "it keeps its own order");
        let planted = PreparedNest::new(&program, nest);
        let elements = legality::check_elements(&schedule, planted.schedule(), &normal.instances);
        let put = planted.found.normal[0].set(Normalized { normal, schedule, elements });
        assert!(put.is_ok());
        assert_eq!(planted.judged(STRICT), Judged::Source);
        let refusal = planted.apply(&recipe, STRICT).expect_err("planted");
        assert_eq!((refusal.step, refusal.transformation.as_str()), (0, "normalize"));
        assert!(matches!(refusal.kind, RefusalKind::Dependence { .. }), "{refusal}");
    }
}
