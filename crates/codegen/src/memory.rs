//! Storage of temporaries: in variables, on the stack, or on the heap.

use crate::CodegenError;
use crate::context::Context;
use crate::expand::{Item, Places, constant_shape};
use crate::options::RenderOptions;
use crate::print::{element_type, prec};
use crate::targets::arrays_with_parts;
use oxeye_binding::Reach;
use oxeye_ir::{Array, ArrayId, Execution, Expr, Loop, LoopId, NestId, Reduction};
use std::collections::{BTreeMap, BTreeSet};

/// The most bytes of temporaries on the stack: threads have a few megabytes, by default.
const MAX_STACK_BYTES: i64 = 256 * 1024;
/// The most bytes of all threads' parts of an array whose length nothing tells.
const MAX_PART_BYTES: &str = "1L << 30";
/// Alignment of heap buffers, and their granularity per thread.
const HEAP_ALIGN: i64 = 64;

/// A temporary on the heap, allocated once per nest.
#[derive(Clone, Debug)]
pub(crate) struct HeapBuffer {
    pub(crate) memory: String,
    pub(crate) bytes: String,
    /// Every thread has its own part.
    pub(crate) per_thread: bool,
    /// The first and the last element that it has, if they are not those of the array.
    pub(crate) reach: Option<Reach>,
}

/// The temporaries that need memory, by place of declaration.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) heap: BTreeMap<ArrayId, HeapBuffer>,
    /// Copies of arrays into which threads accumulate.
    pub(crate) parts: BTreeMap<ArrayId, HeapBuffer>,
}

/// Calls `f` on the outermost parallel loops.
fn for_each_parallel<'a>(items: &'a [Item], f: &mut dyn FnMut(&'a Loop, &'a [Item], &'a [Reduction])) {
    for item in items {
        match item {
            Item::Stmt(_) | Item::Vector(_) => {}
            Item::Loop { header, body } => match &header.execution {
                Execution::Parallel { reductions, .. } => f(header, body, reductions),
                _ => for_each_parallel(body, f),
            },
            Item::Scope { body, .. } => for_each_parallel(body, f),
            Item::If { then, otherwise, .. } => {
                for_each_parallel(then, f);
                for_each_parallel(otherwise, f);
            }
        }
    }
}

/// Loops inside a parallel loop, and parallel loops themselves.
fn inside_parallel(items: &[Item], inside: bool, threads: u32, found: &mut BTreeSet<LoopId>) {
    for item in items {
        match item {
            Item::Stmt(_) => {}
            Item::Loop { header, body } => {
                let inside =
                    inside || (threads > 1 && matches!(header.execution, Execution::Parallel { .. }));
                if inside {
                    found.insert(header.id);
                }
                inside_parallel(body, inside, threads, found);
            }
            Item::Scope { of, body } => {
                if inside {
                    found.insert(*of);
                }
                inside_parallel(body, inside, threads, found);
            }
            Item::Vector(v) => {
                if inside {
                    found.insert(v.header.id);
                }
                inside_parallel(&v.body, inside, threads, found);
            }
            Item::If { then, otherwise, .. } => {
                inside_parallel(then, inside, threads, found);
                inside_parallel(otherwise, inside, threads, found);
            }
        }
    }
}

impl Memory {
    /// Decides the storage of the placed arrays that are not in registers.
    pub(crate) fn plan(
        cx: &mut Context,
        nest: NestId,
        (items, places): (&[Item], &Places),
        options: &RenderOptions,
    ) -> Result<Self, CodegenError> {
        let mut parallel = BTreeSet::new();
        inside_parallel(items, false, options.threads, &mut parallel);
        let mut memory = Self::default();
        let mut on_stack = 0;
        for (id, place) in places {
            if cx.registers.contains_key(id) {
                continue;
            }
            let array = cx.program.array(*id);
            let bytes = constant_shape(array).and_then(|shape| {
                let size = i64::try_from(array.element.bytes()).ok()?;
                shape.iter().try_fold(size, |p, n| p.checked_mul((*n).max(0)))
            });
            if let Some(bytes) = bytes.filter(|bytes| *bytes <= MAX_STACK_BYTES - on_stack) {
                on_stack += bytes;
                continue;
            }
            let symbolic = array.shape.iter().all(|e| {
                e.as_ref().is_some_and(|e| {
                    let mut ok = e.reads().is_empty();
                    e.visit(&mut |e| ok &= !matches!(e, Expr::Affine(a) if a.loops().next().is_some()));
                    ok
                })
            });
            if !symbolic {
                return Err(CodegenError::Temporary { array: array.name.clone() });
            }
            let name = cx.name(*id).to_owned();
            let buffer = HeapBuffer {
                memory: cx.fresh(&format!("{name}_memory")),
                bytes: cx.fresh(&format!("{name}_bytes")),
                per_thread: place.is_some_and(|l| parallel.contains(&l)),
                reach: None,
            };
            memory.heap.insert(*id, buffer);
        }
        if options.threads > 1 {
            let mut arrays = BTreeSet::new();
            for_each_parallel(items, &mut |header, body, reductions| {
                arrays.extend(arrays_with_parts(cx, header, body, reductions));
            });
            for id in arrays {
                let array = cx.program.array(id);
                let name = cx.plain_name(array);
                let reach = match array.shape.first() {
                    Some(None) => {
                        let found = cx.binding.reach(nest, id).filter(|_| !cx.in_team);
                        Some(*found.ok_or(CodegenError::Reduction { array: name.clone() })?)
                    }
                    _ => None,
                };
                let memory_name = cx.fresh(&format!("{name}_memory"));
                let bytes = cx.fresh(&format!("{name}_bytes"));
                memory.parts.insert(id, HeapBuffer { memory: memory_name, bytes, per_thread: true, reach });
            }
        }
        Ok(memory)
    }

    fn buffers(&self) -> impl Iterator<Item = (&ArrayId, &HeapBuffer)> {
        self.heap.iter().chain(&self.parts)
    }

    /// Whether nothing is on the heap.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty() && self.parts.is_empty()
    }

    /// Declarations of sizes and buffers; allocates only if `condition` holds. For a team, which needs them once, the
    /// allocating assignments are returned separately.
    pub(crate) fn allocations(
        &self,
        cx: &mut Context,
        condition: Option<&str>,
    ) -> (Vec<String>, Vec<String>) {
        let (mut lines, mut assignments) = (Vec::new(), Vec::new());
        for (id, buffer) in self.buffers() {
            let array = cx.program.array(*id);
            let was_wide = std::mem::replace(&mut cx.wide, true);
            let within = buffer.reach.map(|reach| Expr::from(reach.n_elements()));
            let extents = array.shape.iter().flatten().chain(&within);
            let product: String = extents.map(|e| format!(" * {}", cx.expr(e).at(prec::UNARY))).collect();
            cx.wide = was_wide;
            let HeapBuffer { memory, bytes, per_thread, .. } = buffer;
            let size = array.element.bytes();
            lines.push(format!(
                "const long {bytes} = ({size}L{product} + {}) / {HEAP_ALIGN} * {HEAP_ALIGN};",
                HEAP_ALIGN - 1
            ));
            let threads = if cx.in_team { "OXEYE_TEAM()" } else { "OXEYE_THREADS()" };
            let total = if *per_thread { format!("{threads} * {bytes}") } else { bytes.clone() };
            let allocate = format!("OXEYE_ALLOCATE({total} + {HEAP_ALIGN})");
            // Only the run knows how far it is used: memory is not to run out.
            let is_little = buffer.reach.map(|_| format!("{total} <= {MAX_PART_BYTES}"));
            let conditions: Vec<&str> = condition.into_iter().chain(is_little.as_deref()).collect();
            let value = match conditions.as_slice() {
                [] => allocate,
                all => format!("{} ? {allocate} : 0", all.join(" && ")),
            };
            if cx.in_team {
                lines.push(format!("void *{memory} = 0;"));
                assignments.push(format!("{memory} = {value};"));
            } else {
                lines.push(format!("void *{memory} = {value};"));
            }
        }
        (lines, assignments)
    }

    /// The variables that point to the buffers.
    pub(crate) fn names(&self) -> Vec<String> {
        self.buffers().map(|(_, b)| b.memory.clone()).collect()
    }

    /// The condition that all buffers were allocated.
    pub(crate) fn success(&self) -> String {
        self.names().join(" && ")
    }

    /// Frees them all.
    pub(crate) fn frees(&self) -> Vec<String> {
        self.buffers().map(|(_, b)| format!("OXEYE_FREE({});", b.memory)).collect()
    }

    /// Declarations at the top of a loop's body (`None`: of the whole block).
    pub(crate) fn declarations(&self, cx: &Context, places: &Places, at: Option<LoopId>) -> Vec<String> {
        let mut lines = Vec::new();
        for (id, place) in places {
            let array = cx.program.array(*id);
            match self.heap.get(id) {
                Some(buffer) => {
                    // Shared buffers are declared at the start of the block.
                    let here = if buffer.per_thread { *place == at } else { at.is_none() };
                    if here {
                        lines.push(pointer(cx, array, buffer));
                    }
                }
                None if *place != at || cx.shared.contains(id) || cx.declared.contains(id) => {}
                None => match cx.registers.get(id) {
                    Some(registers) => lines.extend(registers.declarations()),
                    None => lines.push(stack(cx, array)),
                },
            }
        }
        lines
    }
}

/// A temporary on the stack.
pub(crate) fn stack(cx: &Context, array: &Array) -> String {
    let align = if array.shape.is_empty() || array.align == 0 {
        String::new()
    } else {
        format!(" __attribute__((aligned({})))", array.align)
    };
    format!("{}{align};", cx.declaration(array))
}

fn pointer(cx: &Context, array: &Array, buffer: &HeapBuffer) -> String {
    let name = cx.name(array.id);
    let ty = element_type(array);
    let start = if buffer.per_thread {
        format!("OXEYE_ALIGN({}, OXEYE_THREAD() * {})", buffer.memory, buffer.bytes)
    } else {
        format!("OXEYE_ALIGN({}, 0)", buffer.memory)
    };
    let n_leading = array.form.n_leading(array.shape.len());
    if n_leading == array.shape.len() {
        return format!("{ty} *{name} = {start};");
    }
    let rows: String = array
        .shape
        .iter()
        .skip(n_leading)
        .map(|e| format!("[{}]", e.as_ref().map_or("1".to_owned(), |e| cx.expr(e).text)))
        .collect();
    format!("{ty} (*{name}){rows} = {start};")
}
