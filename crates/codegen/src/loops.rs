//! Loop headers and bounds.

use crate::context::Context;
use crate::print::{Text, integer, prec};
use crate::types::{common_type, loop_type};
use oxeye_ir::{Affine, Bound, BoundTerm, Loop, ScalarType};

/// `⌈a / d⌉`
fn ceil_div(a: i64, d: i64) -> i64 {
    a.div_euclid(d) + i64::from(a.rem_euclid(d) != 0)
}

/// The term as an affine expression, if the division is exact or affects only the constant.
fn divided(expr: &Affine, divisor: i64) -> Option<Affine> {
    if divisor <= 1 {
        return Some(expr.clone());
    }
    if expr.terms().any(|(_, c)| c % divisor != 0) {
        return None;
    }
    let start = Affine::constant(ceil_div(expr.constant_part(), divisor));
    Some(expr.terms().fold(start, |sum, (v, c)| sum.add_scaled(&Affine::var(v), c / divisor)))
}

/// A bound as text.
pub(crate) struct BoundText {
    pub(crate) text: Text,
    pub(crate) ty: ScalarType,
    /// Whether it is worth computing once.
    pub(crate) is_long: bool,
}

impl Context<'_> {
    /// The greatest (`lower`) or least term.
    pub(crate) fn bound(&self, bound: &Bound, is_lower: bool, offset: i64) -> BoundText {
        let mut constant: Option<i64> = None;
        let mut terms: Vec<(Text, ScalarType)> = Vec::new();
        let mut is_long = false;
        let mut add = |term: (Text, ScalarType)| {
            if !terms.iter().any(|(t, _)| t.text == term.0.text) {
                terms.push(term);
            }
        };
        for term in &bound.0 {
            match term {
                BoundTerm::Affine { expr, divisor } => {
                    let wide = self.wide || self.long.bounds.contains(expr);
                    let expr = self.resolve(expr);
                    let type_of = |a: &Affine| {
                        if wide { ScalarType::I64 } else { self.type_of(&a.clone().into()) }
                    };
                    match divided(&expr, *divisor) {
                        Some(a) => match a.as_constant() {
                            Some(c) => {
                                constant = Some(match constant {
                                    None => c,
                                    Some(k) if is_lower => k.max(c),
                                    Some(k) => k.min(c),
                                });
                            }
                            None => {
                                let a = a.offset(offset);
                                add((self.affine_in(&a, wide), type_of(&a)));
                            }
                        },
                        None => {
                            is_long = true;
                            let text =
                                format!("OXEYE_CEILDIV({}, {divisor})", self.affine_in(&expr, wide).text);
                            add((shifted(Text::primary(text), offset), type_of(&expr)));
                        }
                    }
                }
                BoundTerm::Data(e) => {
                    is_long = true;
                    let ty = match self.type_of(e) {
                        ScalarType::I64 | ScalarType::U64 | ScalarType::U32 => ScalarType::I64,
                        _ => ScalarType::I32,
                    };
                    add((shifted(self.expr(e), offset), ty));
                }
                BoundTerm::Open => {}
            }
        }
        if let Some(c) = constant {
            let ty = if i32::try_from(c).is_ok() { ScalarType::I32 } else { ScalarType::I64 };
            add((integer(c.saturating_add(offset)), ty));
        }
        let ty = terms.iter().fold(ScalarType::I32, |t, (_, u)| common_type(t, *u));
        let (sign, macro_name) = if is_lower { (">", "OXEYE_MAX") } else { ("<", "OXEYE_MIN") };
        is_long |= terms.len() > 1;
        let mut texts: Vec<Text> = terms.into_iter().map(|(t, _)| t).collect();
        let text = match texts.as_mut_slice() {
            [] => integer(0),
            [_] => texts.remove(0),
            [_, _] => {
                let b = texts.remove(1).at(11);
                let a = texts.remove(0).at(11);
                Text::new(format!("{a} {sign} {b} ? {a} : {b}"), prec::TERNARY)
            }
            _ => {
                let last = texts.pop().map_or_else(String::new, |t| t.text);
                let text =
                    texts.into_iter().rev().fold(last, |rest, t| format!("{macro_name}({}, {rest})", t.text));
                Text::primary(text)
            }
        };
        BoundText { text, ty, is_long }
    }

    /// The `for` header; declarations that must come before it are added to `hoisted`. Brings the iterator into scope.
    pub(crate) fn header(&mut self, l: &Loop, hoisted: &mut Vec<String>) -> String {
        let ty = loop_type(l);
        let c_type = ty.c_name();
        let upwards = l.step > 0;
        if l.upper.is_open() {
            let start = self.bound(&l.lower, true, 0).text.text;
            let name = self.enter_loop(l.id, &l.name, ty);
            let (declaration, head) = self.counter(c_type, &name, &start, &format!("; {name}++"));
            hoisted.extend(declaration);
            return head;
        }
        let (start, end) = if upwards {
            (self.bound(&l.lower, true, 0), self.bound(&l.upper, false, 0))
        } else {
            (self.bound(&l.upper, false, -1), self.bound(&l.lower, true, 0))
        };
        let end = self.hoist(l, if upwards { "end" } else { "first" }, end, hoisted);
        let name = self.enter_loop(l.id, &l.name, ty);
        let compare = if upwards { "<" } else { ">=" };
        let step = match l.step {
            1 => format!("{name}++"),
            -1 => format!("{name}--"),
            s if s > 0 => format!("{name} += {}", integer(s).text),
            s => format!("{name} -= {}", integer(s.saturating_neg()).text),
        };
        let rest = format!("{name} {compare} {end}; {step}");
        let (declaration, head) = self.counter(c_type, &name, &start.text.text, &rest);
        hoisted.extend(declaration);
        head
    }

    /// The head of a loop over a counter, and the declaration of the counter if the head cannot have it. `rest` is what
    /// follows the first semicolon.
    pub(crate) fn counter(&self, ty: &str, name: &str, start: &str, rest: &str) -> (Option<String>, String) {
        match self.declares_first {
            true => (Some(format!("{ty} {name};")), format!("for ({name} = {start}; {rest})")),
            false => (None, format!("for ({ty} {name} = {start}; {rest})")),
        }
    }

    /// The bound, as a separate constant if it is long.
    pub(crate) fn hoist(
        &mut self,
        l: &Loop,
        suffix: &str,
        bound: BoundText,
        hoisted: &mut Vec<String>,
    ) -> String {
        if !bound.is_long {
            return bound.text.at(11);
        }
        let ty = common_type(bound.ty, ScalarType::I32).c_name();
        let name = self.fresh(&format!("{}_{suffix}", l.name));
        hoisted.push(format!("const {ty} {name} = {};", bound.text.text));
        name
    }
}

fn shifted(text: Text, offset: i64) -> Text {
    match offset {
        0 => text,
        k if k < 0 => Text::new(format!("{} - {}", text.at(prec::ADD), integer(-k).text), prec::ADD),
        k => Text::new(format!("{} + {}", text.at(prec::ADD), integer(k).text), prec::ADD),
    }
}
