//! Small temporaries as named variables.
//!
//! A temporary whose elements are all addressed by constants, once loops are written out, becomes one variable per
//! element, or per vector where vector loops run along its last dimension. Where other parts of the nest address it by
//! iterators, the variables are copied to and from a real array around those parts.

use crate::context::{Context, Registers};
use crate::expand::{Item, Places, constant_shape, header_accesses, stmt_accesses};
use crate::stride::{Stride, stride};
use crate::types::vector_macro;
use oxeye_ir::{Access, Affine, ArrayId, LoopId, Var};
use std::collections::BTreeSet;

/// Most variables into which an array is split.
const MAX_REGISTERS: i64 = 64;

/// How a part of the nest touches an array.
#[derive(Clone, Debug, PartialEq)]
enum Touch {
    /// One element at constant indices.
    Element(Vec<i64>),
    /// A vector at constant indices.
    Vector(u32, Vec<i64>),
    /// An element at run-time indices.
    Memory,
}

#[derive(Clone, Copy)]
struct Chunk<'a> {
    of: LoopId,
    lanes: u32,
    base: Option<&'a Affine>,
}

fn touch(access: &Access, chunk: Option<Chunk>) -> Touch {
    let Some(indices) = access.affine_indices() else { return Touch::Memory };
    let value = |a: &Affine| match chunk {
        Some(Chunk { of, base: Some(base), .. }) => {
            a.substitute(&|v| (v == Var::Loop(of)).then(|| base.clone())).as_constant()
        }
        _ => a.as_constant(),
    };
    let constants: Option<Vec<i64>> = indices.iter().map(|a| value(a)).collect();
    let Some(constants) = constants else { return Touch::Memory };
    let Some(chunk) = chunk else { return Touch::Element(constants) };
    match stride(access, chunk.of, &BTreeSet::new()) {
        Some(Stride::Zero) => Touch::Element(constants),
        Some(Stride::One) if constants.last().is_some_and(|c| c % i64::from(chunk.lanes) == 0) => {
            Touch::Vector(chunk.lanes, constants)
        }
        _ => Touch::Memory,
    }
}

/// Calls `f` on every touch of `array` under the items, and whether it writes.
fn visit<'a>(items: &'a [Item], array: ArrayId, chunk: Option<Chunk<'a>>, f: &mut dyn FnMut(Touch, bool)) {
    for item in items {
        visit_item(item, array, chunk, f);
    }
}

fn visit_item<'a>(item: &'a Item, array: ArrayId, chunk: Option<Chunk<'a>>, f: &mut dyn FnMut(Touch, bool)) {
    let reads = |accesses: Vec<&Access>, f: &mut dyn FnMut(Touch, bool)| {
        for access in accesses.into_iter().filter(|a| a.array == array) {
            f(touch(access, chunk), false);
        }
    };
    match item {
        Item::Stmt(s) => {
            if s.target.array == array {
                f(touch(&s.target, chunk), true);
            }
            reads(stmt_accesses(s).split_off(1), f);
        }
        Item::Loop { header, body } => {
            reads(header_accesses(header), f);
            visit(body, array, chunk, f);
        }
        Item::Scope { body, .. } => visit(body, array, chunk, f),
        Item::If { condition, then, otherwise } => {
            reads(condition.reads(), f);
            visit(then, array, chunk, f);
            visit(otherwise, array, chunk, f);
        }
        Item::Vector(v) => {
            reads(header_accesses(&v.header), f);
            let chunk = |base| Some(Chunk { of: v.header.id, lanes: v.lanes, base });
            match &v.bases {
                Some(bases) => bases.iter().for_each(|b| visit(&v.body, array, chunk(Some(b)), f)),
                None => visit(&v.body, array, chunk(None), f),
            }
            if v.bases.is_none() || v.tail.is_some() {
                visit(&v.body, array, None, f);
            }
        }
    }
}

/// Whether the item touches the array at constant indices, and at run-time indices.
fn kinds(item: &Item, array: ArrayId) -> (bool, bool) {
    let (mut constant, mut memory) = (false, false);
    visit_item(item, array, None, &mut |touch, _| match touch {
        Touch::Memory => memory = true,
        _ => constant = true,
    });
    (constant, memory)
}

/// Whether some loop under the items touches the array only at constant indices.
fn has_register_loop(items: &[Item], array: ArrayId) -> bool {
    items.iter().any(|item| match item {
        Item::Stmt(_) | Item::Vector(_) => false,
        Item::Loop { body, .. } => kinds(item, array) == (true, false) || has_register_loop(body, array),
        Item::Scope { body, .. } => has_register_loop(body, array),
        Item::If { then, otherwise, .. } => {
            has_register_loop(then, array) || has_register_loop(otherwise, array)
        }
    })
}

/// Whether the array must be in memory for the item as a whole.
pub(crate) fn needs_memory(item: &Item, array: ArrayId) -> bool {
    match item {
        Item::Stmt(_) | Item::Vector(_) => kinds(item, array).1,
        Item::Loop { body, .. } => kinds(item, array).1 && !has_register_loop(body, array),
        Item::Scope { .. } => false,
        Item::If { condition, .. } => {
            condition.reads().into_iter().any(|a| a.array == array && touch(a, None) == Touch::Memory)
        }
    }
}

/// Whether the items write the array.
pub(crate) fn writes(items: &[Item], array: ArrayId) -> bool {
    let mut found = false;
    visit(items, array, None, &mut |_, write| found |= write);
    found
}

/// Decides which arrays become variables, and names them.
pub(crate) fn promote(cx: &mut Context, items: &[Item], places: &Places) {
    let arrays: Vec<ArrayId> = places.keys().copied().collect();
    for id in arrays {
        if let Some(registers) = plan(cx, items, id) {
            cx.registers.insert(id, registers);
        }
    }
}

fn plan(cx: &mut Context, items: &[Item], id: ArrayId) -> Option<Registers> {
    let array = cx.program.arrays.get(&id)?;
    let element = array.element;
    let shape = constant_shape(array)?;
    let (last, outer) = shape.split_last()?;
    let n_elements = shape.iter().try_fold(1i64, |p, n| p.checked_mul(*n).filter(|_| *n > 0))?;
    let mut touches = Vec::new();
    let mut spills = false;
    visit(items, id, None, &mut |touch, _| match touch {
        Touch::Memory => spills = true,
        touch => {
            if !touches.contains(&touch) {
                touches.push(touch);
            }
        }
    });
    if touches.is_empty() || (spills && !has_register_loop(items, id)) {
        return None;
    }
    let mut lanes = None;
    for touch in &touches {
        if let Touch::Vector(w, _) = touch {
            if lanes.is_some_and(|l| l != *w) {
                return None;
            }
            lanes = Some(*w);
        }
    }
    let width = lanes.map_or(1, i64::from);
    if last % width != 0 {
        return None;
    }
    let mut wanted = BTreeSet::new();
    for touch in touches {
        let (Touch::Element(mut index) | Touch::Vector(_, mut index)) = touch else { continue };
        let inside = index.len() == shape.len() && index.iter().zip(&shape).all(|(i, n)| (0..*n).contains(i));
        if !inside {
            return None;
        }
        if let Some(i) = index.last_mut() {
            *i /= width;
        }
        wanted.insert(index);
    }
    if spills {
        if n_elements / width > MAX_REGISTERS {
            return None;
        }
        let mut all = vec![Vec::new()];
        for extent in outer.iter().copied().chain([last / width]) {
            all = all
                .into_iter()
                .flat_map(|index: Vec<i64>| {
                    (0..extent).map(move |i| index.iter().copied().chain([i]).collect::<Vec<i64>>())
                })
                .collect();
        }
        wanted.extend(all);
    }
    if wanted.len() as i64 > MAX_REGISTERS {
        return None;
    }
    let base = cx.name(id).to_owned();
    let variables = wanted
        .into_iter()
        .map(|index| {
            let suffix: String = index.iter().map(|i| format!("_{i}")).collect();
            let name = cx.fresh(&format!("{base}{suffix}"));
            (index, name)
        })
        .collect();
    Some(Registers { element, lanes, variables, spills })
}

impl Context<'_> {
    fn active_registers(&self, id: ArrayId) -> Option<&Registers> {
        self.registers.get(&id).filter(|_| !self.spilled.contains(&id))
    }

    /// The variable, or lane of one, that holds this element.
    pub(crate) fn register_element(&self, access: &Access) -> Option<String> {
        let registers = self.active_registers(access.array)?;
        let mut index = self.constant_indices(access)?;
        let last = index.last_mut()?;
        let lane = *last % registers.width();
        *last /= registers.width();
        let name = registers.variables.get(&index)?;
        Some(if registers.lanes.is_some() { format!("{name}[{lane}]") } else { name.clone() })
    }

    /// The variable that holds the vector starting at this element.
    pub(crate) fn register_vector(&self, access: &Access) -> Option<String> {
        let registers = self.active_registers(access.array)?;
        let mut index = self.constant_indices(access)?;
        let last = index.last_mut()?;
        if *last % registers.width() != 0 {
            return None;
        }
        *last /= registers.width();
        registers.variables.get(&index).cloned()
    }

    /// The variables of `id` that the items touch, if all of them are scalars.
    pub(crate) fn touched_scalars(&self, items: &[Item], id: ArrayId) -> Option<Vec<String>> {
        let registers = self.active_registers(id).filter(|r| r.lanes.is_none())?;
        let mut names = BTreeSet::new();
        visit(items, id, None, &mut |touch, _| {
            if let Touch::Element(index) = touch {
                names.extend(registers.variables.get(&index).cloned());
            }
        });
        Some(names.into_iter().collect())
    }

    /// Assignments between the variables and the array of the same name in memory.
    pub(crate) fn register_copies(&self, id: ArrayId, to_memory: bool) -> Vec<String> {
        let Some(registers) = self.registers.get(&id) else { return Vec::new() };
        let name = self.name(id);
        let copy = |(index, variable): (&Vec<i64>, &String)| {
            let mut index = index.clone();
            if let Some(last) = index.last_mut() {
                *last *= registers.width();
            }
            let indices: String = index.iter().map(|i| format!("[{i}]")).collect();
            let memory = match registers.lanes {
                Some(w) => format!("{}({name}{indices})", vector_macro(registers.element, w)),
                None => format!("{name}{indices}"),
            };
            if to_memory { format!("{memory} = {variable};") } else { format!("{variable} = {memory};") }
        };
        registers.variables.iter().map(copy).collect()
    }
}
