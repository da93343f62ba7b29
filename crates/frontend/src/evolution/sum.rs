//! Sums of symbols and of products that are not multiplied out.

use crate::ast::VarId;
use std::collections::BTreeMap;

/// The number of a loop, from the outermost that is looked at on, which is 0. Loops inside have greater ones.
pub(crate) type Level = u32;

/// A number that is not followed further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Symbol {
    /// What a variable holds before the loop that is looked at, or, if that does not change it, anywhere.
    Entry(VarId),
    /// What a variable holds when the loop of this number begins, if nothing else is known of it.
    Start(VarId, Level),
    /// What a variable holds at the head of an iteration. None is left in results.
    Head(VarId, Level),
    /// An expression that the loop does not change, by its position among those of the evaluator.
    Fixed(usize),
}

/// `constant + Σ coefficient · symbol + Σ coefficient · product`, over the integers. No coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sum {
    pub(crate) constant: i64,
    pub(crate) terms: BTreeMap<Symbol, i64>,
    /// Each has at least two factors, none of them constant.
    pub(crate) products: Vec<(i64, Vec<Sum>)>,
}

/// Most products, and factors of one, that are kept.
const MOST_FACTORS: usize = 8;

impl From<i64> for Sum {
    fn from(constant: i64) -> Self {
        Sum { constant, ..Sum::default() }
    }
}

impl From<Symbol> for Sum {
    fn from(symbol: Symbol) -> Self {
        Sum { terms: BTreeMap::from([(symbol, 1)]), ..Sum::default() }
    }
}

impl Sum {
    pub(crate) fn as_constant(&self) -> Option<i64> {
        (self.terms.is_empty() && self.products.is_empty()).then_some(self.constant)
    }

    /// The sum of two; `None` where a coefficient is beyond 64 bits.
    pub(crate) fn plus(&self, other: &Sum) -> Option<Sum> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant)?;
        for (symbol, c) in &other.terms {
            let own = sum.terms.entry(*symbol).or_insert(0);
            *own = own.checked_add(*c)?;
        }
        sum.terms.retain(|_, c| *c != 0);
        for (c, factors) in &other.products {
            match sum.products.iter_mut().find(|(_, own)| own == factors) {
                Some((own, _)) => *own = own.checked_add(*c)?,
                None => sum.products.push((*c, factors.clone())),
            }
        }
        sum.products.retain(|(c, _)| *c != 0);
        (sum.products.len() <= MOST_FACTORS).then_some(sum)
    }

    pub(crate) fn scaled(&self, by: i64) -> Option<Sum> {
        if by == 0 {
            return Some(Sum::from(0));
        }
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_mul(by)?;
        let coefficients = sum.terms.values_mut().chain(sum.products.iter_mut().map(|(c, _)| c));
        for c in coefficients {
            *c = c.checked_mul(by)?;
        }
        Some(sum)
    }

    pub(crate) fn times(&self, other: &Sum) -> Option<Sum> {
        if let Some(by) = self.as_constant() {
            return other.scaled(by);
        }
        if let Some(by) = other.as_constant() {
            return self.scaled(by);
        }
        let ((a, mut factors), (b, more)) = (self.factors(), other.factors());
        factors.extend(more);
        let product = Sum { products: vec![(1, factors)], ..Sum::default() };
        product.scaled(a.checked_mul(b)?).filter(|sum| sum.products[0].1.len() <= MOST_FACTORS)
    }

    /// As a number times factors.
    fn factors(&self) -> (i64, Vec<Sum>) {
        let is_single = self.constant == 0;
        match (self.products.as_slice(), self.terms.len()) {
            ([(c, factors)], 0) if is_single => (*c, factors.clone()),
            ([], 1) if is_single => {
                let term = self.terms.first_key_value().map(|(symbol, c)| (*c, vec![Sum::from(*symbol)]));
                term.unwrap_or((1, vec![self.clone()]))
            }
            _ => (1, vec![self.clone()]),
        }
    }

    /// The sum divided by a number that divides every coefficient.
    pub(crate) fn divided(&self, by: i64) -> Option<Sum> {
        let part = |c: i64| if c.checked_rem(by)? == 0 { c.checked_div(by) } else { None };
        let mut sum = self.clone();
        sum.constant = part(sum.constant)?;
        for c in sum.terms.values_mut().chain(sum.products.iter_mut().map(|(c, _)| c)) {
            *c = part(*c)?;
        }
        Some(sum)
    }

    /// Calls `f` on every symbol.
    pub(crate) fn symbols(&self, f: &mut dyn FnMut(Symbol)) {
        self.terms.keys().for_each(|symbol| f(*symbol));
        self.products.iter().flat_map(|(_, factors)| factors).for_each(|factor| factor.symbols(f));
    }

    pub(crate) fn mentions(&self, is_it: &dyn Fn(Symbol) -> bool) -> bool {
        let mut found = false;
        self.symbols(&mut |symbol| found |= is_it(symbol));
        found
    }
}
