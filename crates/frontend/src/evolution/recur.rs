//! What variables hold at the head of each iteration, from what one iteration makes of them.

use super::follow::{Evaluator, Evolutions, State};
use super::form::Trips;
use super::form::{Evolution, minus, operation, plus, recurrence, select, times};
use super::sum::{Level, Sum, Symbol};
use crate::ast::{Range, VarId};
use std::collections::{BTreeMap, BTreeSet};

type Values = BTreeMap<VarId, Evolution>;

impl Evaluator<'_> {
    /// Solves the recurrences of a loop: `before` is the state in front of it, `behind` that at the end of an iteration, in
    /// which each of the changed variables was its head at first.
    pub(super) fn solved(
        &self,
        level: Level,
        changed: &BTreeSet<VarId>,
        before: &State,
        behind: &State,
        at: Range,
    ) -> Evolutions {
        let mut known = Values::new();
        let base = |var: VarId| match self.held(before, var, at) {
            Evolution::Unknown(_) => Symbol::Start(var, level).into(),
            value => value,
        };
        let next: Values = changed.iter().map(|v| (*v, self.held(behind, *v, at))).collect();
        loop {
            let mut is_new = false;
            for (var, next) in &next {
                let waits = |symbol| matches!(symbol, Symbol::Head(v, l) if l == level && v != *var && !known.contains_key(&v));
                if known.contains_key(var) || next.mentions(&waits) {
                    continue;
                }
                let value = one(*var, level, base(*var), next, &known, at, &self.file.var(*var).name);
                known.insert(*var, value);
                is_new = true;
            }
            if !is_new {
                break;
            }
        }
        for (var, values) in turns(&next, level, &known) {
            let values = values.into_iter().map(base).collect();
            known.insert(var, Evolution::Turns { values, of: level });
        }
        for var in changed {
            let name = &self.file.var(*var).name;
            let unclear = || Evolution::unknown(format!("`{name}` depends on others that depend on it"), at);
            known.entry(*var).or_insert_with(unclear);
        }
        let needs = behind.needs.iter().filter(|(var, _)| changed.contains(var));
        let needs = needs.map(|(var, needs)| {
            (*var, needs.iter().map(|need| with_heads(need, level, &known, at)).collect())
        });
        let unknown = super::Stop { why: String::new(), at };
        Evolutions {
            needs: needs.collect(),
            heads: known,
            trips: Trips::Unknown(unknown),
            exits: Values::new(),
            is_left: false,
            least: 0,
            level,
        }
    }
}

/// The recurrence of one variable, in whose next value all other heads are known.
fn one(
    var: VarId,
    level: Level,
    base: Evolution,
    next: &Evolution,
    known: &Values,
    at: Range,
    name: &str,
) -> Evolution {
    let own = Symbol::Head(var, level);
    let is_own = |symbol| symbol == own;
    if next.is_unknown() {
        return next.clone();
    }
    let step = minus(next.clone(), own.into(), at);
    if !step.mentions(&is_own) {
        return recurrence(base, with_heads(&step, level, known, at), level);
    }
    if !next.mentions(&is_own) {
        // What it was set to in the iteration before.
        let set = with_heads(next, level, known, at).one_before(level);
        return match set {
            Some(set) if set.at_start(level) == base => set,
            Some(set) if set.is_unknown() => set,
            _ => Evolution::unknown(format!("`{name}` holds something else in the first iteration"), at),
        };
    }
    match next.as_sum().and_then(|sum| factor_of(sum, own)) {
        Some(factor) if !factor.mentions(&|s| matches!(s, Symbol::Head(_, l) if l == level)) => {
            Evolution::Mul { base: Box::new(base), factor, of: level }
        }
        _ => Evolution::unknown(format!("what `{name}` holds is no sum or product of what it held"), at),
    }
}

/// The factor of `factor · symbol`.
fn factor_of(sum: &Sum, symbol: Symbol) -> Option<Sum> {
    match (sum.products.as_slice(), sum.terms.len(), sum.constant) {
        ([], 1, 0) => sum.terms.get(&symbol).map(|c| Sum::from(*c)),
        ([(c, factors)], 0, 0) => {
            let own = Sum::from(symbol);
            let k = factors.iter().position(|factor| *factor == own)?;
            let mut rest = factors.clone();
            rest.remove(k);
            let rest = rest.iter().try_fold(Sum::from(*c), |product, factor| product.times(factor))?;
            (!rest.mentions(&|s| s == symbol)).then_some(rest)
        }
        _ => None,
    }
}

/// Variables that get each other's values in turns, with those whose values they have one after the other.
fn turns(next: &Values, level: Level, known: &Values) -> Vec<(VarId, Vec<VarId>)> {
    let source = |var: VarId| {
        let sum = next.get(&var).filter(|_| !known.contains_key(&var))?.as_sum()?;
        match sum.terms.first_key_value() {
            Some((Symbol::Head(from, l), 1)) if *l == level && *sum == Sum::from(Symbol::Head(*from, *l)) => {
                Some(*from)
            }
            _ => None,
        }
    };
    let round = |var: VarId| {
        let mut all = vec![var];
        loop {
            match source(*all.last()?)? {
                from if from == var => return (all.len() > 1).then_some((var, all)),
                from if all.contains(&from) => return None,
                from => all.push(from),
            }
        }
    };
    next.keys().filter_map(|var| round(*var)).collect()
}

/// A value in which the heads of a loop are what they hold in iteration k.
pub(super) fn with_heads(e: &Evolution, level: Level, known: &Values, at: Range) -> Evolution {
    let go = |e: &Evolution| with_heads(e, level, known, at);
    match e {
        Evolution::Sum(sum) => sum_with_heads(sum, level, known, at),
        Evolution::Add { base, step, of } => recurrence(go(base), go(step), *of),
        Evolution::Of(op, l, r) => operation(*op, go(l), go(r)),
        Evolution::Select { condition, then, otherwise } => select(go(condition), go(then), go(otherwise)),
        Evolution::Mul { .. } | Evolution::Turns { .. } | Evolution::Unknown(_) => {
            match e.mentions(&|s| matches!(s, Symbol::Head(_, l) if l == level)) {
                true => Evolution::unknown("it is a product of what the loop around it holds", at),
                false => e.clone(),
            }
        }
    }
}

fn sum_with_heads(sum: &Sum, level: Level, known: &Values, at: Range) -> Evolution {
    let mut total = Evolution::from(sum.constant);
    for (symbol, c) in &sum.terms {
        let value = match symbol {
            Symbol::Head(v, l) if *l == level => known.get(v).cloned().unwrap_or_else(|| (*symbol).into()),
            symbol => (*symbol).into(),
        };
        total = plus(total, times((*c).into(), value, at), at);
    }
    for (c, factors) in &sum.products {
        let product = factors.iter().fold(Evolution::from(*c), |product, factor| {
            times(product, sum_with_heads(factor, level, known, at), at)
        });
        total = plus(total, product, at);
    }
    total
}
