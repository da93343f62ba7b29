//! Rows behind pointers, `double **u`: the test that they are equally spaced, so that `u[i][j]` is an element of one
//! array.

use crate::context::Context;
use crate::print::{plain_type, prec};
use crate::types::constant;
use oxeye_binding::RowTest;
use oxeye_ir::{BinaryOp, Expr};
use std::fmt::Write;

/// A question about the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    /// Whether they are equally spaced, at the distances that the nest needs.
    Even,
    /// The extent of this dimension, from 1.
    Extent(usize),
    /// The address of the element whose subscripts are all zero, whether it exists or not.
    Origin,
}

/// A symbol's value where rows are apart: the least extent that has room for all indices.
pub(crate) fn least_extent((first, last): &(Expr, Expr)) -> Expr {
    let below = Expr::binary(BinaryOp::Min, first.clone(), Expr::from(0));
    let behind = Expr::binary(BinaryOp::Add, last.clone(), Expr::from(1));
    Expr::binary(BinaryOp::Sub, behind, below)
}

impl Context<'_> {
    /// How many numbers are in what the innermost rows are made of: more than one where that is a structure.
    fn row_element_numbers(&self, test: &RowTest) -> u64 {
        let inside = self.program.array(test.array).shape.iter().skip(test.ranges.len()).flatten();
        inside.map(|e| constant(e).map_or(1, i64::unsigned_abs)).product()
    }

    /// The size of what the innermost rows are made of.
    pub(crate) fn row_element_bytes(&self, test: &RowTest) -> u64 {
        self.program.array(test.array).element.bytes() * self.row_element_numbers(test)
    }

    /// An expression of type `long`, or `int`, about the rows of an array, in which `name` stands for the variable.
    pub(crate) fn rows(&mut self, test: &RowTest, name: &str, asked: Asked) -> String {
        let size = self.row_element_bytes(test);
        let n = test.ranges.len() - 1;
        let was_wide = std::mem::replace(&mut self.wide, true);
        let end = |e: &Expr| self.expr(e).at(prec::ADD);
        let mut constants: Vec<(String, String)> = Vec::new();
        for (k, (low, high)) in test.ranges.iter().enumerate() {
            constants.push((format!("oxeye_f{k}"), end(low)));
            constants.push((format!("oxeye_l{k}"), end(high)));
        }
        // The blocks of rows that are used: names of the first and the last index of each dimension.
        let name_of = |part: Option<usize>, end: &str, d: usize| {
            format!("oxeye_{}{end}{d}", part.map_or(String::new(), |p| format!("p{p}")))
        };
        let mut parts: Vec<Option<usize>> = (0..test.parts.len()).map(Some).collect();
        for (p, part) in test.parts.iter().enumerate() {
            for (d, (low, high)) in part.iter().enumerate() {
                constants.push((name_of(Some(p), "f", d), end(low)));
                constants.push((name_of(Some(p), "l", d), end(high)));
            }
        }
        if parts.is_empty() {
            parts.push(None);
        }
        self.wide = was_wide;
        let row = |part: Option<usize>, other: Option<usize>| -> String {
            let subscripts: String = (0..n)
                .map(|d| match other {
                    Some(k) if k == d => format!("[{} + 1]", name_of(part, "f", d)),
                    _ => format!("[{}]", name_of(part, "f", d)),
                })
                .collect();
            format!("(__UINTPTR_TYPE__){name}{subscripts}")
        };
        // Bytes between neighbours, from the innermost rows outwards.
        for k in (0..n).rev() {
            let alone = match k + 1 == n {
                true => format!("(oxeye_l{n} + 1) * {size}L"),
                false => format!("(oxeye_l{} + 1) * oxeye_b{}", k + 1, k + 1),
            };
            // Two neighbours lie in a part that has more than one row in this dimension.
            let spans = |p: &Option<usize>| p.is_none_or(|p| test.parts[p].get(k) == test.ranges.get(k));
            let seen: Vec<Option<usize>> = match parts.iter().find(|p| spans(p)) {
                Some(whole) => vec![*whole],
                None => parts.clone(),
            };
            let distance = seen.into_iter().rev().fold(alone, |otherwise, p| {
                let (f, l) = (name_of(p, "f", k), name_of(p, "l", k));
                format!("{f} < {l} ? (long)({} - {}) : {otherwise}", row(p, Some(k)), row(p, None))
            });
            constants.push((format!("oxeye_b{k}"), distance));
        }
        let mut text = String::new();
        let extent = |k: usize| match k == n {
            true => format!("oxeye_b{} / {size}L", k - 1),
            false => format!("(oxeye_b{k} > 0 ? oxeye_b{} / oxeye_b{k} : 1)", k - 1),
        };
        let first = parts[0];
        let offset: Vec<String> =
            (0..n).map(|k| format!("{} * oxeye_b{k}", name_of(first, "f", k))).collect();
        let offset = offset.join(" + ");
        match asked {
            Asked::Extent(k) => _ = write!(text, "{}; }})", extent(k)),
            Asked::Origin => _ = write!(text, "{} - ({offset}); }})", row(first, None)),
            Asked::Even => {
                let mut conditions = Vec::new();
                for k in 1..=n {
                    let unit = if k == n { format!("{size}L") } else { format!("oxeye_b{k}") };
                    conditions.push(format!("oxeye_b{} > 0 && oxeye_b{} % {unit} == 0", k - 1, k - 1));
                    conditions.push(format!("oxeye_f{k} >= 0 && oxeye_l{k} < oxeye_b{} / {unit}", k - 1));
                }
                // Inner distances are divisors, so they come first.
                conditions.reverse();
                let mut positive: Vec<String> = (0..n).map(|k| format!("oxeye_b{k} > 0")).collect();
                positive.extend(conditions);
                let mut tests = String::new();
                for part in &parts {
                    for k in 0..n {
                        let (f, l) = (name_of(*part, "f", k), name_of(*part, "l", k));
                        let rest = format!("oxeye_even && oxeye_r{k} <= {l}; oxeye_r{k}++");
                        let (declaration, head) = self.counter("long", &format!("oxeye_r{k}"), &f, &rest);
                        if let Some(declaration) = declaration.filter(|_| *part == first) {
                            let _ = write!(text, "{declaration} ");
                        }
                        let _ = write!(tests, "{head} ");
                    }
                    let subscripts: String = (0..n).map(|k| format!("[oxeye_r{k}]")).collect();
                    let moved = (0..n).map(|k| {
                        let f = name_of(first, "f", k);
                        format!("(__UINTPTR_TYPE__)(oxeye_r{k} - {f}) * (__UINTPTR_TYPE__)oxeye_b{k}")
                    });
                    let moved = moved.collect::<Vec<_>>().join(" + ");
                    let origin = row(first, None);
                    let _ = write!(
                        tests,
                        "oxeye_even = (__UINTPTR_TYPE__){name}{subscripts} - {origin} == {moved}; "
                    );
                }
                let _ = write!(text, "int oxeye_even = {}; {tests}oxeye_even; }})", positive.join(" && "));
            }
        }
        // Only what is used, to avoid compiler warnings.
        let mut used = text;
        for (name, value) in constants.iter().rev() {
            if used.contains(name.as_str()) {
                used = format!("const long {name} = {value}; {used}");
            }
        }
        format!("__extension__ ({{ {used}")
    }

    /// C text that makes new pointers to rows in the memory at `memory`, which starts with the first element that the
    /// nest uses; and text that frees them.
    pub(crate) fn make_rows(&mut self, test: &RowTest, name: &str, memory: &str) -> (String, String) {
        let array = self.program.array(test.array);
        let ty = plain_type(array);
        let n = test.ranges.len() - 1;
        let extents: Vec<String> = array
            .shape
            .iter()
            .skip(1)
            .map(|e| e.as_ref().map_or("1".to_owned(), |e| self.expr(e).at(prec::UNARY)))
            .collect();
        let was_wide = std::mem::replace(&mut self.wide, true);
        let ends: Vec<(String, String)> = test
            .ranges
            .iter()
            .map(|(low, high)| (self.expr(low).at(prec::PRIMARY), self.expr(high).at(prec::PRIMARY)))
            .collect();
        self.wide = was_wide;
        let (mut made, mut freed) = (String::new(), String::new());
        let stars = |k: usize| "*".repeat(n + 1 - k);
        let mut at = name.to_owned();
        let _ = writeln!(made, "{ty} {}{name};", stars(0));
        let mut position = "0".to_owned();
        for (k, (low, high)) in ends.iter().take(n).enumerate() {
            let _ = write!(
                made,
                "{at} = ({ty} {})__builtin_malloc(({high} < {low} ? 1 : {high} - {low} + 1) * 8) - {low};\n\
                 {{ long oxeye_r{k}; for (oxeye_r{k} = {low}; oxeye_r{k} <= {high}; oxeye_r{k}++) {{\n",
                stars(k)
            );
            at = format!("{at}[oxeye_r{k}]");
            position = format!("({position} + (oxeye_r{k} - {low})) * {}", extents[k]);
        }
        let numbers = match self.row_element_numbers(test) {
            1 => format!("{position} - {}", ends[n].0),
            numbers => format!("({position} - {}) * {numbers}", ends[n].0),
        };
        let _ = write!(made, "{at} = ({ty} *){memory} + {numbers};\n{}", "}}\n".repeat(n));
        let mut loops = String::new();
        for (k, (low, high)) in ends.iter().take(n).enumerate() {
            let subscripts: String = (0..k).map(|d| format!("[oxeye_r{d}]")).collect();
            freed = format!("{loops}__builtin_free({name}{subscripts} + {low});\n{}{freed}", "}}".repeat(k));
            loops += &format!(
                "{{ long oxeye_r{k}; for (oxeye_r{k} = {low}; oxeye_r{k} <= {high}; oxeye_r{k}++) {{"
            );
        }
        (made, freed)
    }

    /// C text that lets a member lead to a table of rows: a pointer, or an array of pointers inside the structure.
    pub(crate) fn set_rows(&mut self, test: &RowTest, member: &str, table: &str) -> String {
        let Some((low, high)) = test.ranges.first() else { return String::new() };
        let was_wide = std::mem::replace(&mut self.wide, true);
        let (low, high) = (self.expr(low).text, self.expr(high).at(prec::ADD));
        self.wide = was_wide;
        format!(
            "if (__builtin_types_compatible_p(__typeof__({member}), __typeof__(&({member})[0])))\n\
             __builtin_memcpy((void *)&({member}), &{table}, sizeof(void *));\n\
             else {{ long oxeye_r0; for (oxeye_r0 = {low}; oxeye_r0 <= {high}; oxeye_r0++)\n\
             __builtin_memcpy((void *)&({member})[oxeye_r0], &{table}[oxeye_r0], sizeof(void *)); }}\n"
        )
    }
}
