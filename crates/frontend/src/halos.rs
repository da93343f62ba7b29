//! Lengths of rows that are a symbol and a constant, as in `a[(i + 1) * (m + 2) + j]`: with `m + 2` as a variable of its own,
//! the subscript is a sum of few products again.

use crate::polynomial::{MAX_DEGREE, MAX_TERMS, Polynomial};
use oxeye_ir::{Affine, SymId, Var};
use std::collections::BTreeMap;

/// Widest halo that is looked for.
const MOST: i64 = 64;
/// Most choices of widths that are tried for one array.
const MOST_CHOICES: usize = 12;

/// What is added to symbols. Polynomials with these widths speak of the sums instead of the symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Halos(BTreeMap<SymId, i64>);

impl Halos {
    /// A polynomial of symbols as one of the sums.
    pub(crate) fn enter(&self, p: &Polynomial) -> Option<Polynomial> {
        if self.0.is_empty() {
            return Some(p.clone());
        }
        let mut result = Polynomial::new();
        for (mono, c) in p {
            let mut terms: Vec<(Vec<Var>, i64)> = vec![(Vec::new(), *c)];
            for var in mono {
                let width = match var {
                    Var::Sym(s) => self.0.get(s).copied().unwrap_or(0),
                    Var::Loop(_) => 0,
                };
                let mut next = Vec::new();
                for (mono, c) in terms {
                    if width != 0 {
                        next.push((mono.clone(), c.checked_mul(-width)?));
                    }
                    next.push((mono.into_iter().chain([*var]).collect(), c));
                }
                terms = next;
            }
            for (mono, c) in terms {
                let entry = result.entry(mono).or_insert(0);
                *entry = entry.checked_add(c)?;
            }
        }
        result.retain(|_, c| *c != 0);
        let is_small = result.len() <= MAX_TERMS && result.keys().all(|m| m.len() <= MAX_DEGREE);
        is_small.then_some(result)
    }

    /// An expression of the sums as one of the symbols.
    pub(crate) fn leave(&self, a: &Affine) -> Affine {
        a.substitute(&|var| match var {
            Var::Sym(s) => self.0.get(&s).map(|width| Affine::var(s).offset(*width)),
            Var::Loop(_) => None,
        })
    }
}

/// Widths that would make products of several, the most frequent first.
pub(crate) fn halos(polynomials: &[Polynomial]) -> Vec<Halos> {
    let mut found: BTreeMap<SymId, BTreeMap<i64, usize>> = BTreeMap::new();
    for p in polynomials {
        for (mono, c) in p {
            for (k, var) in mono.iter().enumerate() {
                let Var::Sym(symbol) = var else { continue };
                let mut rest = mono.clone();
                rest.remove(k);
                let beside = p.get(&rest).copied().unwrap_or(0);
                let is_whole = !rest.is_empty() && beside.checked_rem(*c) == Some(0);
                if is_whole && beside != 0 && (beside / c).saturating_abs() <= MOST {
                    *found.entry(*symbol).or_default().entry(beside / c).or_default() += 1;
                }
            }
        }
    }
    let mut choices = vec![Halos::default()];
    for (symbol, widths) in found {
        let mut widths: Vec<(i64, usize)> = widths.into_iter().collect();
        widths.sort_by_key(|(width, n)| (std::cmp::Reverse(*n), *width));
        let with = |choice: &Halos, width: i64| {
            let mut choice = choice.clone();
            choice.0.insert(symbol, width);
            choice
        };
        let wider: Vec<Halos> = widths
            .iter()
            .take(2)
            .flat_map(|(width, _)| choices.iter().map(|choice| with(choice, *width)))
            .collect();
        choices = wider.into_iter().chain(choices).take(MOST_CHOICES).collect();
    }
    choices.retain(|choice| !choice.0.is_empty());
    choices
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_ir::LoopId;

    #[test]
    fn widths_are_found_and_undone() {
        let (i, j, m) = (Var::Loop(LoopId(0)), Var::Loop(LoopId(1)), Var::Sym(SymId(0)));
        // (i + 1) * (m + 2) + j
        let mono = |vars: &[Var]| {
            let mut vars = vars.to_vec();
            vars.sort_unstable();
            vars
        };
        let p: Polynomial =
            [(mono(&[i, m]), 1), (mono(&[i]), 2), (mono(&[m]), 1), (mono(&[]), 2), (mono(&[j]), 1)].into();
        let found = halos(std::slice::from_ref(&p));
        assert_eq!(found, [Halos([(SymId(0), 2)].into())]);
        let short: Polynomial = [(mono(&[i, m]), 1), (mono(&[m]), 1), (mono(&[j]), 1)].into();
        assert_eq!(found[0].enter(&p), Some(short));
        let length = found[0].leave(&Affine::var(SymId(0)));
        assert_eq!(length, Affine::var(SymId(0)).offset(2));
    }
}
