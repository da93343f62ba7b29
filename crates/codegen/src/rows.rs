//! Rows behind pointers, `double **u`: the test that they are equally spaced, so that `u[i][j]` is an element of one
//! array.

use crate::context::Context;
use crate::print::prec;
use oxeye_ir::{ArrayId, BinaryOp, Expr, Nest, Program, RowTest, SymId};
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

/// The test of an array in a nest.
pub(crate) fn row_test<'a>(program: &'a Program, nest: &Nest, array: ArrayId) -> Option<&'a RowTest> {
    program.entries.get(&nest.id)?.rows.iter().find(|t| t.array == array)
}

/// The array and dimension whose extent the symbol is, if it is a distance between rows behind pointers.
pub(crate) fn row_extent(program: &Program, symbol: SymId) -> Option<(ArrayId, usize)> {
    let tested = program.entries.values().flat_map(|e| &e.rows).map(|t| t.array);
    tested.into_iter().find_map(|id| {
        let shape = &program.arrays.get(&id)?.shape;
        let is_it = |e: &Option<Expr>| {
            e.as_ref().and_then(Expr::as_affine).and_then(oxeye_ir::Affine::as_var) == Some(symbol.into())
        };
        Some((id, shape.iter().position(is_it)?))
    })
}

/// A symbol's value where rows are apart: the least extent that has room for all indices.
pub(crate) fn least_extent((first, last): &(Expr, Expr)) -> Expr {
    let below = Expr::binary(BinaryOp::Min, first.clone(), Expr::from(0));
    let behind = Expr::binary(BinaryOp::Add, last.clone(), Expr::from(1));
    Expr::binary(BinaryOp::Sub, behind, below)
}

impl Context<'_> {
    /// An expression of type `long`, or `int`, about the rows of an array, in which `name` stands for the variable.
    pub(crate) fn rows(&mut self, test: &RowTest, name: &str, asked: Asked) -> String {
        let element = self.program.array(test.array).element;
        let size = element.bytes();
        let n = test.ranges.len() - 1;
        let was_wide = std::mem::replace(&mut self.wide, true);
        let ends: Vec<(String, String)> = test
            .ranges
            .iter()
            .map(|(low, high)| (self.expr(low).at(prec::ADD), self.expr(high).at(prec::ADD)))
            .collect();
        self.wide = was_wide;
        let mut constants: Vec<(String, String)> = Vec::new();
        for (k, (low, high)) in ends.iter().enumerate() {
            constants.push((format!("oxeye_f{k}"), low.clone()));
            constants.push((format!("oxeye_l{k}"), high.clone()));
        }
        let row = |other: Option<(usize, String)>| -> String {
            let subscripts: String = (0..n)
                .map(|d| match &other {
                    Some((k, at)) if *k == d => format!("[{at}]"),
                    _ => format!("[oxeye_f{d}]"),
                })
                .collect();
            format!("(__UINTPTR_TYPE__){name}{subscripts}")
        };
        // Bytes between neighbours, from the innermost rows outwards.
        for k in (0..n).rev() {
            let next = row(Some((k, format!("oxeye_f{k} + 1"))));
            let alone = match k + 1 == n {
                true => format!("(oxeye_l{n} + 1) * {size}L"),
                false => format!("(oxeye_l{} + 1) * oxeye_b{}", k + 1, k + 1),
            };
            let distance = format!("oxeye_f{k} < oxeye_l{k} ? (long)({next} - {}) : {alone}", row(None));
            constants.push((format!("oxeye_b{k}"), distance));
        }
        let mut text = String::new();
        let extent = |k: usize| match k == n {
            true => format!("oxeye_b{} / {size}L", k - 1),
            false => format!("(oxeye_b{k} > 0 ? oxeye_b{} / oxeye_b{k} : 1)", k - 1),
        };
        let offset = (0..n).map(|k| format!("oxeye_f{k} * oxeye_b{k}")).collect::<Vec<_>>().join(" + ");
        match asked {
            Asked::Extent(k) => _ = write!(text, "{}; }})", extent(k)),
            Asked::Origin => _ = write!(text, "{} - ({offset}); }})", row(None)),
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
                let _ = write!(text, "int oxeye_even = {}; ", positive.join(" && "));
                for k in 0..n {
                    let _ = write!(
                        text,
                        "for (long oxeye_r{k} = oxeye_f{k}; oxeye_even && oxeye_r{k} <= oxeye_l{k}; oxeye_r{k}++) "
                    );
                }
                let subscripts: String = (0..n).map(|k| format!("[oxeye_r{k}]")).collect();
                let moved: Vec<String> = (0..n)
                    .map(|k| {
                        format!("(__UINTPTR_TYPE__)(oxeye_r{k} - oxeye_f{k}) * (__UINTPTR_TYPE__)oxeye_b{k}")
                    })
                    .collect();
                let _ = write!(
                    text,
                    "oxeye_even = (__UINTPTR_TYPE__){name}{subscripts} - {} == {}; oxeye_even; }})",
                    row(None),
                    moved.join(" + ")
                );
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
        let ty = array.element.c_name();
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
                 for (long oxeye_r{k} = {low}; oxeye_r{k} <= {high}; oxeye_r{k}++) {{\n",
                stars(k)
            );
            at = format!("{at}[oxeye_r{k}]");
            position = format!("({position} + (oxeye_r{k} - {low})) * {}", extents[k]);
        }
        let _ = write!(made, "{at} = ({ty} *){memory} + {position} - {};\n{}", ends[n].0, "}\n".repeat(n));
        let mut loops = String::new();
        for (k, (low, high)) in ends.iter().take(n).enumerate() {
            let subscripts: String = (0..k).map(|d| format!("[oxeye_r{d}]")).collect();
            freed = format!("{loops}__builtin_free({name}{subscripts} + {low});\n{}{freed}", "}".repeat(k));
            loops += &format!("for (long oxeye_r{k} = {low}; oxeye_r{k} <= {high}; oxeye_r{k}++) {{");
        }
        (made, freed)
    }
}
