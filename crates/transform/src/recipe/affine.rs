//! Affine expressions as text: `2*L1-P0+3`.

use super::names::Names;
use super::words::Unreadable;
use crate::steps::argument::Kind;
use oxeye_ir::{Affine, SymId, Var};

/// Prints an expression in the form that [`read`] accepts.
pub(super) fn print(e: &Affine, names: &Names) -> String {
    let mut text = String::new();
    for (var, c) in e.terms() {
        let sign = if c < 0 { "-" } else { "+" };
        if !(text.is_empty() && c > 0) {
            text.push_str(sign);
        }
        if c.unsigned_abs() != 1 {
            text.push_str(&format!("{}*", c.unsigned_abs()));
        }
        text.push_str(&match var {
            Var::Loop(id) => names.print(id),
            Var::Sym(symbol) => symbol.to_string(),
        });
    }
    let constant = e.constant_part();
    if constant != 0 || text.is_empty() {
        text.push_str(&if text.is_empty() { constant.to_string() } else { format!("{constant:+}") });
    }
    text
}

/// Reads an expression without spaces.
pub(super) fn read(text: &str, names: &mut Names) -> Result<Affine, Unreadable> {
    let bad = || Unreadable::from(format!("`{text}` is not {}", Kind::Expression.noun()));
    let mut sum = Affine::default();
    let mut rest = text;
    while !rest.is_empty() {
        let is_first = rest.len() == text.len();
        let (sign, tail) = match (rest.strip_prefix('-'), rest.strip_prefix('+')) {
            (Some(tail), _) => (-1, tail),
            (_, Some(tail)) => (1, tail),
            _ if is_first => (1, rest),
            _ => return Err(bad()),
        };
        let (term, next) = tail.split_at(tail.find(['+', '-']).unwrap_or(tail.len()));
        let signed = |digits: &str| {
            let magnitude: i128 = digits.parse().ok()?;
            i64::try_from(sign * magnitude).ok()
        };
        let (factor, var) = match term.split_once('*') {
            Some((factor, var)) => (signed(factor), Some(var)),
            None if term.starts_with(|c: char| c.is_ascii_digit()) => (signed(term), None),
            None => (signed("1"), Some(term)),
        };
        let factor = factor.ok_or_else(bad)?;
        sum = match var {
            None => sum.offset(factor),
            Some(var) => {
                let symbol = var.parse::<SymId>().ok().map(Var::Sym);
                let var = symbol.or_else(|| names.loop_id(var).map(Var::Loop)).ok_or_else(bad)?;
                sum.add_scaled(&Affine::var(var), factor)
            }
        };
        rest = next;
    }
    if text.is_empty() { Err(bad()) } else { Ok(sum) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_ir::LoopId;

    #[test]
    fn extreme_coefficients_parse_back() {
        for c in [i64::MIN, i64::MIN + 1, -1, 1, i64::MAX] {
            let point = Affine::term(LoopId(0), c).offset(c);
            let mut names = Names::ids_only();
            assert_eq!(read(&print(&point, &names), &mut names), Ok(point));
        }
    }
}
