//! Integer affine expressions and constraints over loop iterators and symbols.

use crate::{LoopId, SymId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A variable of an affine expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Var {
    /// The iterator of an enclosing loop.
    Loop(LoopId),
    /// A symbol of the program.
    Sym(SymId),
}

impl std::fmt::Display for Var {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Var::Loop(l) => l.fmt(f),
            Var::Sym(s) => s.fmt(f),
        }
    }
}

impl From<LoopId> for Var {
    fn from(id: LoopId) -> Self {
        Var::Loop(id)
    }
}

impl From<SymId> for Var {
    fn from(id: SymId) -> Self {
        Var::Sym(id)
    }
}

/// `Σ coefficient · variable + constant`, over the integers. Terms with coefficient zero are never stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Affine {
    #[serde(with = "terms_as_list")]
    terms: BTreeMap<Var, i64>,
    constant: i64,
}

/// JSON needs string keys; a list of pairs keeps the wire form plain.
mod terms_as_list {
    use super::Var;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(super) fn serialize<S: Serializer>(terms: &BTreeMap<Var, i64>, s: S) -> Result<S::Ok, S::Error> {
        terms.iter().collect::<Vec<_>>().serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<Var, i64>, D::Error> {
        Ok(Vec::<(Var, i64)>::deserialize(d)?.into_iter().filter(|(_, c)| *c != 0).collect())
    }
}

impl Affine {
    /// The constant `value`.
    pub fn constant(value: i64) -> Self {
        Self { terms: BTreeMap::new(), constant: value }
    }

    /// The variable itself.
    pub fn var(var: impl Into<Var>) -> Self {
        Self { terms: BTreeMap::from([(var.into(), 1)]), constant: 0 }
    }

    /// `coefficient · var`.
    pub fn term(var: impl Into<Var>, coefficient: i64) -> Self {
        Self::var(var).scaled(coefficient)
    }

    /// Terms in ascending variable order (loops before symbols).
    pub fn terms(&self) -> impl Iterator<Item = (Var, i64)> + '_ {
        self.terms.iter().map(|(v, c)| (*v, *c))
    }

    /// The constant part.
    pub fn constant_part(&self) -> i64 {
        self.constant
    }

    /// The coefficient of `var`, zero if absent.
    pub fn coefficient(&self, var: impl Into<Var>) -> i64 {
        self.terms.get(&var.into()).copied().unwrap_or(0)
    }

    /// The value, if no variable occurs.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The variable, if the expression is exactly one variable.
    pub fn as_var(&self) -> Option<Var> {
        match self.terms.first_key_value() {
            Some((var, 1)) if self.terms.len() == 1 && self.constant == 0 => Some(*var),
            _ => None,
        }
    }

    /// Whether `var` occurs.
    pub fn uses(&self, var: impl Into<Var>) -> bool {
        self.terms.contains_key(&var.into())
    }

    /// The loops that occur.
    pub fn loops(&self) -> impl Iterator<Item = LoopId> + '_ {
        self.terms.keys().filter_map(|v| match v {
            Var::Loop(l) => Some(*l),
            Var::Sym(_) => None,
        })
    }

    /// `self + coefficient · other`. Coefficients saturate; the verifier rejects such extremes.
    pub fn add_scaled(mut self, other: &Affine, coefficient: i64) -> Self {
        for (var, c) in &other.terms {
            let entry = self.terms.entry(*var).or_insert(0);
            *entry = entry.saturating_add(c.saturating_mul(coefficient));
        }
        self.terms.retain(|_, c| *c != 0);
        self.constant = self.constant.saturating_add(other.constant.saturating_mul(coefficient));
        self
    }

    /// `self + value`.
    pub fn offset(mut self, value: i64) -> Self {
        self.constant = self.constant.saturating_add(value);
        self
    }

    /// `factor · self`.
    pub fn scaled(&self, factor: i64) -> Self {
        Affine::default().add_scaled(self, factor)
    }

    /// Replaces each variable for which `with` gives an expression.
    pub fn substitute(&self, with: &dyn Fn(Var) -> Option<Affine>) -> Self {
        let mut result = Affine::constant(self.constant);
        for (var, c) in &self.terms {
            match with(*var) {
                Some(e) => result = result.add_scaled(&e, *c),
                None => result = result.add_scaled(&Affine::var(*var), *c),
            }
        }
        result
    }

    /// The value under an assignment; `None` if a variable has none or the value overflows.
    pub fn evaluate(&self, value_of: &dyn Fn(Var) -> Option<i64>) -> Option<i64> {
        self.terms
            .iter()
            .try_fold(self.constant, |sum, (var, c)| sum.checked_add(c.checked_mul(value_of(*var)?)?))
    }
}

impl From<i64> for Affine {
    fn from(value: i64) -> Self {
        Affine::constant(value)
    }
}

impl From<LoopId> for Affine {
    fn from(id: LoopId) -> Self {
        Affine::var(id)
    }
}

impl From<SymId> for Affine {
    fn from(id: SymId) -> Self {
        Affine::var(id)
    }
}

impl std::ops::Add for Affine {
    type Output = Affine;
    fn add(self, other: Affine) -> Affine {
        self.add_scaled(&other, 1)
    }
}

impl std::ops::Sub for Affine {
    type Output = Affine;
    fn sub(self, other: Affine) -> Affine {
        self.add_scaled(&other, -1)
    }
}

impl std::ops::Neg for Affine {
    type Output = Affine;
    fn neg(self) -> Affine {
        self.scaled(-1)
    }
}

impl std::ops::Mul<i64> for Affine {
    type Output = Affine;
    fn mul(self, factor: i64) -> Affine {
        self.scaled(factor)
    }
}

/// Whether a constraint requires zero or a non-negative value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Relation {
    /// `expr == 0`
    Zero,
    /// `expr >= 0`
    NonNegative,
}

/// `expr == 0` or `expr >= 0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Constraint {
    /// The left-hand side.
    pub expr: Affine,
    /// How it compares with zero.
    pub relation: Relation,
}

impl Constraint {
    /// `left >= right`
    pub fn ge(left: Affine, right: Affine) -> Self {
        Self { expr: left - right, relation: Relation::NonNegative }
    }

    /// `left < right`
    pub fn lt(left: Affine, right: Affine) -> Self {
        Self { expr: (right - left).offset(-1), relation: Relation::NonNegative }
    }

    /// `left == right`
    pub fn eq(left: Affine, right: Affine) -> Self {
        Self { expr: left - right, relation: Relation::Zero }
    }

    /// Replaces variables, as [`Affine::substitute`].
    pub fn substitute(&self, with: &dyn Fn(Var) -> Option<Affine>) -> Self {
        Self { expr: self.expr.substitute(with), relation: self.relation }
    }
}
