//! What a nest takes from and gives to the program around it.

use crate::context::Context;
use crate::print::prec;
use crate::render::is_outer;
use oxeye_ir::{ArrayId, Expr, Nest, Program, ScalarType, Storage, SymId, Var};
use std::collections::BTreeSet;

/// What an argument stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentOf {
    /// An array or scalar.
    Array(ArrayId),
    /// A symbol.
    Symbol(SymId),
}

/// One buffer or scalar that a nest uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name in the source.
    pub name: String,
    /// Type of its elements.
    pub element: ScalarType,
    /// What it is in the program.
    pub what: ArgumentOf,
    /// Whether it is memory with several elements; otherwise one scalar.
    pub is_buffer: bool,
    /// Whether the nest leaves a new value that the program may read.
    pub written: bool,
    /// Whether nobody reads it after the nest: what a nest leaves in it does not matter.
    pub is_scratch: bool,
    /// Its size in bytes: a C expression of type `long long`, valid where the nest stands and using what
    /// [`crate::prelude`] defines; `None` where it cannot be known.
    pub bytes: Option<String>,
}

/// The arguments of a nest as it stands in the source: symbols first, then arrays, each by ascending id.
pub fn arguments(program: &Program, nest: &Nest) -> Vec<Argument> {
    let accesses = nest.accesses();
    let written: BTreeSet<ArrayId> = accesses.iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
    let used: Vec<&oxeye_ir::Array> =
        nest.arrays().into_iter().filter_map(|id| program.arrays.get(&id)).collect();
    let arrays = used.iter().copied().filter(|a| is_outer(a.storage));
    let mut symbols: BTreeSet<SymId> = nest.vars().into_iter().filter_map(symbol).collect();
    symbols.extend(&nest.mentions);
    for extent in used.iter().flat_map(|a| a.shape.iter().flatten()) {
        extent.visit(&mut |e| {
            if let Expr::Affine(a) = e {
                symbols.extend(a.terms().filter_map(|(v, _)| symbol(v)));
            }
        });
    }
    let mut found: Vec<Argument> = symbols
        .into_iter()
        .filter_map(|id| program.symbols.get(&id))
        .map(|s| Argument {
            name: s.name.clone(),
            element: s.ty,
            what: ArgumentOf::Symbol(s.id),
            is_buffer: false,
            written: false,
            is_scratch: false,
            bytes: Some(s.ty.bytes().to_string()),
        })
        .collect();
    let mut cx = Context::new(program, &BTreeSet::new());
    for array in arrays {
        let is_buffer = !array.shape.is_empty();
        let is_local = match array.storage {
            Storage::Global => false,
            Storage::Param => !is_buffer,
            _ => true,
        };
        let live = !is_local || nest.live_out.contains(&array.id);
        let bytes = if is_buffer {
            declared_bytes(&mut cx, array).or_else(|| {
                let end = cx.byte_offset(nest, array, true)?;
                Some(format!("(long long)OXEYE_MAX(0, {end})"))
            })
        } else {
            Some(array.element.bytes().to_string())
        };
        found.push(Argument {
            name: array.name.clone(),
            element: array.element,
            what: ArgumentOf::Array(array.id),
            is_buffer,
            written: written.contains(&array.id) && live,
            is_scratch: written.contains(&array.id) && !live,
            bytes,
        });
    }
    found
}

fn symbol(v: Var) -> Option<SymId> {
    match v {
        Var::Sym(s) => Some(s),
        Var::Loop(_) => None,
    }
}

fn declared_bytes(cx: &mut Context, array: &oxeye_ir::Array) -> Option<String> {
    let was_wide = std::mem::replace(&mut cx.wide, true);
    let mut text = format!("(long long){}", array.element.bytes());
    for extent in &array.shape {
        match extent {
            Some(e) => text += &format!(" * {}", cx.expr(e).at(prec::UNARY)),
            None => {
                cx.wide = was_wide;
                return None;
            }
        }
    }
    cx.wide = was_wide;
    Some(text)
}
