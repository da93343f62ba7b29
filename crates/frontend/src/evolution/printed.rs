//! Values over loops as text.

use super::follow::Evaluator;
use super::form::Evolution;
use super::sum::{Sum, Symbol};
use crate::ast::{Expr, ExprKind, File};
use std::fmt;

impl Evaluator<'_> {
    /// A value as text.
    pub(crate) fn printed<'a>(&'a self, value: &'a Evolution) -> Printed<'a> {
        Printed { file: self.file, fixed: &self.fixed, value }
    }
}

/// A value as text: `{0,+,4}<0>` is 0, 4, 8 and so on in the iterations of loop 0.
pub(crate) struct Printed<'a> {
    pub(crate) file: &'a File,
    pub(crate) fixed: &'a [Expr],
    pub(crate) value: &'a Evolution,
}

impl Printed<'_> {
    fn with<'b>(&'b self, value: &'b Evolution) -> Printed<'b> {
        Printed { value, ..*self }
    }

    fn symbol(&self, symbol: Symbol) -> String {
        match symbol {
            Symbol::Entry(v) => self.file.var(v).name.clone(),
            Symbol::Start(v, level) => format!("{}<{level}>", self.file.var(v).name),
            Symbol::Head(v, level) => format!("{}@{level}", self.file.var(v).name),
            Symbol::Fixed(k) => self.fixed.get(k).map_or_else(String::new, |e| in_c(self.file, e)),
        }
    }

    fn sum(&self, sum: &Sum) -> String {
        let mut parts: Vec<(i64, Option<String>)> =
            sum.terms.iter().map(|(symbol, c)| (*c, Some(self.symbol(*symbol)))).collect();
        for (c, factors) in &sum.products {
            let factors: Vec<String> = factors.iter().map(|factor| self.factor(factor)).collect();
            parts.push((*c, Some(factors.join("*"))));
        }
        if sum.constant != 0 || parts.is_empty() {
            parts.push((sum.constant, None));
        }
        let mut text = String::new();
        for (c, what) in parts {
            text += match (c < 0, text.is_empty()) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            text += &match (c.unsigned_abs(), what) {
                (1, Some(what)) => what,
                (c, Some(what)) => format!("{c}*{what}"),
                (c, None) => c.to_string(),
            };
        }
        text
    }

    fn factor(&self, factor: &Sum) -> String {
        let is_one = factor.terms.len() == 1 && factor.constant == 0 && factor.products.is_empty();
        let text = self.sum(factor);
        if is_one { text } else { format!("({text})") }
    }
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Evolution::Sum(sum) => f.write_str(&self.sum(sum)),
            Evolution::Add { base, step, of } => {
                write!(f, "{{{},+,{}}}<{of}>", self.with(base), self.with(step))
            }
            Evolution::Mul { base, factor, of } => {
                write!(f, "{{{},*,{}}}<{of}>", self.with(base), self.sum(factor))
            }
            Evolution::Of(op, l, r) => {
                let sign = op.symbol().map_or("?", |(sign, _)| sign);
                write!(f, "({} {sign} {})", self.with(l), self.with(r))
            }
            Evolution::Select { condition, then, otherwise } => {
                let (then, otherwise) = (self.with(then), self.with(otherwise));
                write!(f, "({} ? {then} : {otherwise})", self.with(condition))
            }
            Evolution::Turns { values, of } => {
                let values: Vec<String> = values.iter().map(|v| self.with(v).to_string()).collect();
                write!(f, "turns({})<{of}>", values.join(", "))
            }
            Evolution::Unknown(stop) => write!(f, "? ({})", stop.why),
        }
    }
}

/// An expression that is not followed.
fn in_c(file: &File, e: &Expr) -> String {
    match &e.kind {
        ExprKind::Var(v) => file.var(*v).name.clone(),
        ExprKind::Int(n, _) => n.to_string(),
        ExprKind::Index(base, index) => format!("{}[{}]", in_c(file, base), in_c(file, index)),
        ExprKind::Binary(op, l, r) => {
            let sign = op.symbol().map_or("?", |(sign, _)| sign);
            format!("[{} {sign} {}]", in_c(file, l), in_c(file, r))
        }
        ExprKind::Cast(_, inner) | ExprKind::Promote(inner) => in_c(file, inner),
        _ => "[..]".to_owned(),
    }
}
