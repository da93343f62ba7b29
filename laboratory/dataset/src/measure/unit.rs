//! Nests as C functions that the harness can call.

use crate::nest::{Fill, GeneratedNest};
use oxeye_analysis::evaluate_symbols;
use oxeye_binding::Binding;
use oxeye_codegen::{CodegenError, RenderOptions, prelude, render_nest};
use oxeye_ir::{Affine, Array, ArrayId, Expr, Nest, Program, ScalarType, Storage, SymId, Var};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A nest's arguments: its symbols, then its arrays, each by ascending id.
pub(super) struct Arguments<'a> {
    program: &'a Program,
    arrays: Vec<&'a Array>,
}

/// The C block of a nest.
///
/// # Errors
/// If it has no rendering.
pub(super) fn block(program: &Program, nest: &Nest, threads: u32) -> Result<String, CodegenError> {
    let options = RenderOptions { threads, reassociate: true, plain_sums: true, ..RenderOptions::default() };
    render_nest(program, Binding::none(), nest, &options)
}

impl<'a> Arguments<'a> {
    pub(super) fn of(program: &'a Program) -> Self {
        let arrays = program.arrays.values().filter(|a| a.storage == Storage::Param).collect();
        Self { program, arrays }
    }

    /// A translation unit with a function `oxeye_<id>` for each block.
    pub(super) fn unit(&self, blocks: &[(usize, &str)]) -> String {
        let texts: Vec<&str> = blocks.iter().map(|(_, text)| *text).collect();
        let mut unit = prelude(&texts);
        unit += "#include <math.h>\n#include <stdlib.h>\n";
        for (id, text) in blocks {
            self.function(&mut unit, *id, text);
        }
        unit
    }

    fn function(&self, unit: &mut String, id: usize, block: &str) {
        let mut parameters = Vec::new();
        let mut values = Vec::new();
        for symbol in self.program.symbols.values() {
            let ty = symbol.ty.c_name();
            parameters.push(format!("{ty} {}", symbol.name));
            values.push(format!("*({ty} *)args[{}]", values.len()));
        }
        for array in &self.arrays {
            let (ty, name) = (array.element.c_name(), &array.name);
            let position = values.len();
            if array.shape.is_empty() {
                parameters.push(format!("{ty} {name}"));
                values.push(format!("*({ty} *)args[{position}]"));
                continue;
            }
            let rows: String =
                array.shape[1..].iter().map(|e| format!("[{}]", self.extent(e.as_ref()))).collect();
            parameters.push(match rows.as_str() {
                "" => format!("{ty} *restrict {name}"),
                _ => format!("{ty} (*restrict {name}){rows}"),
            });
            values.push(format!("args[{position}]"));
        }
        let _ = write!(
            unit,
            "\nstatic __attribute__((noinline)) void nest_{id}({})\n{{\n    {block}\n}}\n\n\
             void oxeye_{id}(void **args)\n{{\n    nest_{id}({});\n}}\n",
            parameters.join(", "),
            values.join(", ")
        );
    }

    /// An extent in C; those of generated nests are affine.
    fn extent(&self, extent: Option<&Expr>) -> String {
        let Some(Expr::Affine(a)) = extent else { return "1".into() };
        self.affine(a)
    }

    fn affine(&self, a: &Affine) -> String {
        let mut text = a.constant_part().to_string();
        for (var, coefficient) in a.terms() {
            if let Var::Sym(s) = var {
                let _ = write!(text, " + {coefficient} * {}", self.program.symbols[&s].name);
            }
        }
        text
    }

    /// The lines of a plan that describe the arguments.
    pub(super) fn plan(
        &self,
        nest: &Nest,
        generated: &GeneratedNest,
        sizes: &BTreeMap<String, i64>,
    ) -> String {
        let values = crate::nest::symbol_values(self.program, sizes);
        let value_of = |s: SymId| values.get(&s).copied();
        let written: BTreeSet<ArrayId> =
            nest.accesses().into_iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
        let mut plan = String::new();
        for symbol in self.program.symbols.values() {
            let value = value_of(symbol.id).unwrap_or(1);
            let _ = writeln!(plan, "arg {} 1 0 value {value} 0", type_number(symbol.ty));
        }
        for array in &self.arrays {
            let extent = |e: &Option<Expr>| {
                e.as_ref().and_then(|e| evaluate_symbols(e, &value_of)).unwrap_or(1).max(1)
            };
            let extents: Vec<i64> = array.shape.iter().map(extent).collect();
            let elements: i64 = extents.iter().product();
            let (how, parameter) = match generated.fills.get(&array.name) {
                Some(Fill::Below(symbol)) => ("below", sizes.get(symbol).copied().unwrap_or(1)),
                Some(Fill::Dominant) => ("dominant", extents.last().copied().unwrap_or(1)),
                _ => ("uniform", 0),
            };
            let is_written = i32::from(written.contains(&array.id));
            let seed = 1 + u64::from(array.id.0);
            let ty = type_number(array.element);
            let _ = writeln!(plan, "arg {ty} {elements} {is_written} {how} {parameter} {seed}");
        }
        plan
    }
}

/// As the harness numbers them.
fn type_number(ty: ScalarType) -> u32 {
    match ty {
        ScalarType::F32 => 0,
        ScalarType::F64 => 1,
        ScalarType::I64 | ScalarType::U64 => 3,
        _ => 2,
    }
}
