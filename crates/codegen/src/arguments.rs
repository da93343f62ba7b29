//! The data that a nest takes from the program around it and gives back.

use crate::alias::Asked as Reach;
use crate::context::{Context, is_outer};
use crate::print::{plain_type, prec};
use oxeye_binding::{Binding, View};
use oxeye_ir::{Array, ArrayId, Nest, Program, ScalarType, Storage, SymId};
use std::collections::{BTreeMap, BTreeSet};

/// What an argument is in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentOf {
    /// An array or scalar.
    Array(ArrayId),
    /// A symbol.
    Symbol(SymId),
}

/// A buffer or scalar that a nest uses.
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
    /// Whether it is not read after the nest, so that its final contents do not matter.
    pub is_scratch: bool,
    /// Its size in bytes: a C expression of type `long long`, valid where the nest stands and using what
    /// [`crate::prelude`] defines, to be evaluated only if the nest reaches the memory; `None` where it cannot be known.
    pub bytes: Option<String>,
    /// How many of these bytes lie before the first one that the nest reaches, where that may be some: a C expression like
    /// `bytes`. They may be no memory of the program's, as before an array that is counted from one. Less than nothing where the
    /// nest reaches what lies before these bytes.
    pub begin: Option<String>,
    /// For an array of structures, the parts that the nest uses. `bytes` then counts all of it, and `element` is the
    /// type of one of the members.
    pub fields: Option<Fields>,
    /// Its value as a C expression where it has no name.
    pub expression: Option<String>,
    /// The array, if it has rows behind pointers.
    pub rows: Option<ArrayId>,
}

/// The members of structures that a nest uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Size of a structure; 0 if its layout is not known, so that results cannot be compared.
    pub bytes: u64,
    /// Runs of contiguous elements: offset, number and type.
    pub runs: Vec<(u64, u64, ScalarType)>,
}

/// The arguments of a nest in the source: symbols first, then arrays, each by ascending id.
pub fn arguments(program: &Program, binding: &Binding, nest: &Nest) -> Vec<Argument> {
    let accesses = nest.accesses();
    let written: BTreeSet<ArrayId> = accesses.iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
    let used: Vec<&oxeye_ir::Array> =
        binding.arrays_of(program, nest).into_iter().filter_map(|id| program.arrays.get(&id)).collect();
    let arrays = used.iter().copied().filter(|a| is_outer(a.storage));
    let symbols = binding.symbols_of(program, &[nest]);
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
            begin: None,
            fields: None,
            expression: None,
            rows: None,
        })
        .collect();
    let mut cx = Context::new(program, binding, &BTreeSet::new(), &[]);
    let mut structures: BTreeMap<String, usize> = BTreeMap::new();
    for array in arrays {
        let view = binding.views.get(&array.id);
        if let Some(view) = view.filter(|v| v.is_interleaved()) {
            let (base, bytes) = (view.base(), structure_bytes(&mut cx, nest, array, view));
            let position = *structures.entry(base.clone()).or_insert(found.len());
            if position == found.len() {
                found.push(Argument {
                    name: base,
                    element: array.element,
                    what: ArgumentOf::Array(array.id),
                    is_buffer: true,
                    written: false,
                    is_scratch: false,
                    bytes: Some("0".to_owned()),
                    begin: None,
                    fields: Some(Fields { bytes: 0, runs: Vec::new() }),
                    expression: None,
                    rows: None,
                });
            }
            let argument = &mut found[position];
            argument.written |= written.contains(&array.id);
            argument.bytes = match (argument.bytes.take(), bytes) {
                (Some(a), Some(b)) if a == "0" || a == b => Some(b),
                (Some(a), Some(b)) => Some(format!("OXEYE_MAX({a}, {b})")),
                _ => None,
            };
            if let (Some(fields), Some(record)) = (&mut argument.fields, &view.record) {
                fields.bytes = record.bytes;
                fields.runs.extend(record.runs.iter().map(|(offset, n)| (*offset, *n, array.element)));
            }
            continue;
        }
        let is_buffer = !array.shape.is_empty();
        let is_local = match array.storage {
            Storage::Global => false,
            Storage::Param => !is_buffer,
            _ => true,
        };
        let live = !is_local || nest.live_out.contains(&array.id);
        let bytes = if let Some(view) = view.filter(|v| v.is_embedded(array)) {
            Some(format!("(long long)sizeof({})", view.base()))
        } else if is_buffer {
            declared_bytes(&mut cx, array).or_else(|| {
                let end = cx.byte_offset(nest, array, true, Reach::Exactly)?;
                Some(format!("(long long)OXEYE_MAX(0, {end})"))
            })
        } else {
            Some(array.element.bytes().to_string())
        };
        let is_pointer = is_buffer && view.is_none() && array.shape.first() == Some(&None);
        let reach = |cx: &mut Context, asked| cx.byte_offset(nest, array, false, asked);
        let begin = match is_pointer && bytes.is_some() {
            true => reach(&mut cx, Reach::Exactly).or_else(|| reach(&mut cx, Reach::AtMost)),
            false => None,
        };
        found.push(Argument {
            name: array.name.clone(),
            element: array.element,
            what: ArgumentOf::Array(array.id),
            is_buffer,
            written: written.contains(&array.id) && live,
            is_scratch: written.contains(&array.id) && !live,
            bytes,
            begin: begin.filter(|begin| begin != "0"),
            fields: None,
            expression: None,
            rows: None,
        });
    }
    for argument in &mut found {
        rows_behind_pointers(program, binding, nest, argument);
    }
    found
}

/// The declaration of a parameter for an array.
pub(crate) fn parameter(cx: &Context, array: &Array, restrict: bool) -> String {
    let qualifier = if restrict { "__restrict " } else { "" };
    let ty = plain_type(array);
    let name = &array.name;
    let n_leading = array.form.n_leading(array.shape.len());
    if n_leading == array.shape.len() {
        return format!("{ty} *{qualifier}{name}");
    }
    let rows: String = array
        .shape
        .iter()
        .skip(n_leading)
        .map(|e| format!("[{}]", e.as_ref().map_or("1".to_owned(), |e| cx.expr(e).text)))
        .collect();
    format!("{ty} (*{qualifier}{name}){rows}")
}

/// The runtime of a capture finds out how rows behind pointers lie, in a variable of this name for each array.
pub(crate) fn rows_variable(array: ArrayId) -> String {
    format!("oxeye_rows_{}", array.0)
}

/// Rows behind pointers are one buffer.
fn rows_behind_pointers(program: &Program, binding: &Binding, nest: &Nest, argument: &mut Argument) {
    let (array, extent) = match argument.what {
        ArgumentOf::Array(id) => (id, None),
        ArgumentOf::Symbol(id) => match binding.row_extent(program, id) {
            Some((array, k)) => (array, Some(k)),
            None => return,
        },
    };
    if binding.row_test(nest.id, array).is_none() {
        return;
    }
    match extent {
        Some(k) => argument.expression = Some(format!("{}.extents[{k}]", rows_variable(array))),
        None => {
            argument.rows = Some(array);
            argument.bytes = None;
            argument.begin = None;
        }
    }
}

/// The size of an array of structures, if its extent is declared or follows from the accesses.
fn structure_bytes(cx: &mut Context, nest: &Nest, array: &oxeye_ir::Array, view: &View) -> Option<String> {
    if view.is_embedded(array) {
        return Some(format!("(long long)sizeof({})", view.base()));
    }
    let end = cx.byte_offset(nest, array, true, Reach::Exactly)?;
    Some(format!("(long long)OXEYE_MAX(0, {end})"))
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
