//! From the document to the program.

use super::arrays;
use super::names::Env;
use super::outline;
use super::regions;
use super::state::{Frame, Lowering, Unit};
use crate::document::Sdfg;
use crate::error::SdfgError;
use crate::structure::{self, structure};
use oxeye_ir::{ArrayId, Expr, Nest, NestId, Region, Storage, Var};
use std::collections::{BTreeMap, BTreeSet};

/// Reads an SDFG.
///
/// # Errors
/// If the document is damaged. What is only not understood becomes a diagnostic.
pub fn read_sdfg(sdfg: &Sdfg) -> Result<Unit, SdfgError> {
    let graph = sdfg.graph()?;
    let mut lowering = Lowering::new(&graph.name);
    let controls = structure(&graph.control, &[], 0);
    let changed = structure::assigned(&controls);
    let mut env = Env::default();
    let mut given = BTreeSet::new();
    for (name, ty) in graph.symbols.iter().filter(|(name, _)| !changed.contains(*name)) {
        let id = lowering.add_symbol(name, ty);
        lowering.free.insert(lowering.program.symbols[&id].name.clone());
        given.insert(id);
        env.symbols.insert(name.clone(), Expr::from(id));
    }
    // Sizes may be symbols that get their values while the program runs.
    let iterators = arrays::iterators(&controls);
    let late: BTreeSet<String> = changed.into_iter().filter(|name| !iterators.contains_key(name)).collect();
    for name in &late {
        let ty = graph.symbols.get(name).map_or("int64", String::as_str);
        let id = lowering.add_symbol(name, ty);
        env.symbols.insert(name.clone(), Expr::from(id));
    }
    lowering.declare(&graph, &mut env, &iterators, None);
    env.forget(&late);
    let own = graph.arrays.iter().filter(|(_, descriptor)| !descriptor.kind.contains("View"));
    let containers: Vec<(ArrayId, String)> =
        own.filter_map(|(name, _)| Some((env.data.get(name)?.array, name.clone()))).collect();
    lowering.assume_sizes(&graph, &env);
    let frame = Frame::new(&graph, Vec::new(), &env);
    let regions = lowering.regions(&frame, &controls, &mut env, 0);
    lowering.program.body = regions::single(regions);
    let folded = lowering.fold();
    lowering.finish();
    let Lowering { program, places, diagnostics, definitions, relaid, inner, assigned, outline, .. } =
        lowering;
    let containers = containers.into_iter().filter(|(id, _)| program.arrays.contains_key(id)).collect();
    given.retain(|id| program.symbols.contains_key(id));
    Ok(Unit {
        program,
        places,
        diagnostics,
        definitions,
        relaid,
        assigned,
        outline,
        containers,
        inner,
        given,
        folded,
    })
}

impl Lowering {
    /// Leaves out what nothing uses, and says what is read after each nest.
    fn finish(&mut self) {
        let mut users: BTreeMap<ArrayId, BTreeSet<Option<NestId>>> = BTreeMap::new();
        let mut all_used = false;
        for (id, nest) in &self.program.nests {
            nest.arrays().into_iter().for_each(|a| {
                users.entry(a).or_default().insert(Some(*id));
            });
        }
        let mut in_loops = BTreeSet::new();
        self.program.body.visit(&mut |region| {
            let mut used: Vec<ArrayId> = Vec::new();
            match region {
                Region::Branch { condition, .. } => {
                    used.extend(condition.iter().flat_map(Expr::reads).map(|a| a.array));
                }
                Region::Loop(l) => {
                    used.extend(
                        l.range
                            .iter()
                            .flat_map(|(a, b)| a.reads().into_iter().chain(b.reads()))
                            .map(|a| a.array),
                    );
                    region.visit(&mut |inner| {
                        if let Region::Dataflow(graph) = inner {
                            in_loops.extend(graph.nests().iter().copied());
                        }
                    });
                }
                Region::Opaque(opaque) => {
                    for list in [&opaque.reads, &opaque.writes] {
                        all_used |= list.is_none();
                        used.extend(list.iter().flatten());
                    }
                }
                _ => {}
            }
            used.into_iter().for_each(|a| {
                users.entry(a).or_default().insert(None);
            });
        });
        self.leave_out_symbols();
        let program = &mut self.program;
        program.arrays.retain(|id, array| match array.storage {
            Storage::Param => true,
            Storage::Local => all_used || users.contains_key(id),
            _ => users.contains_key(id),
        });
        let arrays = &program.arrays;
        self.relaid.retain(|id| arrays.contains_key(id));
        for (id, nest) in &mut program.nests {
            let mut live: Vec<ArrayId> = nest
                .accesses()
                .into_iter()
                .filter(|(access, is_write)| {
                    let is_local = arrays.get(&access.array).is_some_and(|a| a.storage == Storage::Local);
                    let n_users = users.get(&access.array).map_or(0, BTreeSet::len);
                    *is_write && is_local && (all_used || n_users > 1 || in_loops.contains(id))
                })
                .map(|(access, _)| access.array)
                .collect();
            live.sort_unstable();
            live.dedup();
            nest.live_out = live;
        }
    }

    /// Leaves out symbols that were only made to be asked for.
    fn leave_out_symbols(&mut self) {
        let program = &mut self.program;
        let mut used: BTreeSet<Var> = program.nests.values().flat_map(Nest::vars).collect();
        let mut add = |expr: &Expr| {
            expr.visit(&mut |e| {
                if let Expr::Affine(a) = e {
                    used.extend(a.terms().map(|(var, _)| var));
                }
            });
        };
        program.arrays.values().flat_map(|a| a.shape.iter().flatten()).for_each(&mut add);
        self.definitions.values().for_each(&mut add);
        outline::visit(&self.outline, &mut add);
        let mut iterators = BTreeSet::new();
        program.body.visit(&mut |region| match region {
            Region::Branch { condition, .. } => condition.iter().for_each(&mut add),
            Region::Loop(l) => {
                iterators.extend(l.iterator);
                l.range.iter().flat_map(|(from, to)| [from, to]).for_each(&mut add);
            }
            _ => {}
        });
        program.symbols.retain(|id, symbol| {
            let is_own = self.free.contains(&symbol.name);
            is_own || iterators.contains(id) || used.contains(&Var::Sym(*id))
        });
        let symbols = &program.symbols;
        self.definitions.retain(|id, _| symbols.contains_key(id));
    }
}
