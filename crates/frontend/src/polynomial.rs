//! Sums of products of iterators and symbols.

use oxeye_ir::{BinaryOp, Expr, ScalarType, Var};
use std::collections::BTreeMap;

/// A sum of products of variables.
pub(crate) type Polynomial = BTreeMap<Vec<Var>, i64>;

pub(crate) const MAX_TERMS: usize = 48;
pub(crate) const MAX_DEGREE: usize = 4;

/// An integer expression as such a sum, if it is one and small, with a variable for whatever else `stands_for` knows one for.
pub(crate) fn polynomial(e: &Expr, stands_for: &mut dyn FnMut(&Expr) -> Option<Var>) -> Option<Polynomial> {
    let mut result = Polynomial::new();
    let mut add = |mono: Vec<Var>, c: i64| -> Option<()> {
        let entry = result.entry(mono).or_insert(0);
        *entry = entry.checked_add(c)?;
        Some(())
    };
    match e {
        Expr::Affine(a) => {
            a.terms().try_for_each(|(v, c)| add(vec![v], c))?;
            add(Vec::new(), a.constant_part())?;
        }
        Expr::Cast(ScalarType::I64, inner) => return polynomial(inner, stands_for),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), l, r) => {
            let sign = if *op == BinaryOp::Add { 1 } else { -1 };
            polynomial(l, stands_for)?.into_iter().try_for_each(|(m, c)| add(m, c))?;
            polynomial(r, stands_for)?.into_iter().try_for_each(|(m, c)| add(m, c.checked_mul(sign)?))?;
        }
        Expr::Binary(BinaryOp::Mul, l, r) => {
            let (l, r) = (polynomial(l, stands_for)?, polynomial(r, stands_for)?);
            for (m, c) in &l {
                for (n, d) in &r {
                    let mut mono: Vec<Var> = m.iter().chain(n).copied().collect();
                    mono.sort_unstable();
                    add(mono, c.checked_mul(*d)?)?;
                }
            }
        }
        other => add(vec![stands_for(other)?], 1)?,
    }
    result.retain(|_, c| *c != 0);
    let is_small = result.len() <= MAX_TERMS && result.keys().all(|m| m.len() <= MAX_DEGREE);
    is_small.then_some(result)
}
