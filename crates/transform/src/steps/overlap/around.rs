//! The loops around those that take part: they stay, and their iterators are like symbols to what is inside.

use oxeye_analysis::known_bound_constraints;
use oxeye_ir::{Affine, Loop, LoopId, Nest, Node, Program, Storage, SymId, Var};

/// The loops around neighbouring nodes of a nest, outermost first, with a symbol for the iterator of each.
pub(super) struct Around(Vec<(LoopId, SymId)>);

impl Around {
    /// Those around a loop, with the program in which their iterators are symbols, and the nodes among which the loop stands.
    pub(super) fn of(program: &Program, nest: &Nest, id: LoopId) -> Option<(Self, Program, Vec<Node>)> {
        let mut found = None;
        nest.visit(&mut |path, node| {
            if matches!(node, Node::Loop(l) if l.id == id) {
                found = Some(path.to_vec());
            }
        });
        let loops: Vec<&Loop> = found?;
        let mut nodes = loops.last().map_or(&nest.roots, |l| &l.body).clone();
        if !nodes.iter().any(|node| matches!(node, Node::Loop(l) if l.id == id)) {
            return None;
        }
        let mut program = program.clone();
        let symbols = loops.iter().map(|l| (l.id, program.add_symbol(&l.name, l.ty))).collect();
        let around = Self(symbols);
        for (l, (_, symbol)) in loops.iter().zip(&around.0) {
            let mut header = vec![Node::Loop(Loop { body: Vec::new(), ..(*l).clone() })];
            around.enter(&mut header);
            if let [Node::Loop(header)] = header.as_slice() {
                let known = known_bound_constraints(&Affine::var(*symbol), &header.lower, &header.upper);
                program.assumptions.extend(known);
            }
        }
        // What is declared in these loops is there for all that is inside.
        for array in program.arrays.values_mut() {
            match array.storage {
                Storage::Body(l) | Storage::Temp(Some(l)) if around.0.iter().any(|(id, _)| *id == l) => {
                    array.storage = Storage::Local;
                }
                _ => {}
            }
        }
        around.enter(&mut nodes);
        Some((around, program, nodes))
    }

    /// The loops.
    pub(super) fn loops(&self) -> impl Iterator<Item = LoopId> {
        self.0.iter().map(|(id, _)| *id)
    }

    /// Puts symbols in the place of iterators.
    fn enter(&self, nodes: &mut [Node]) {
        let symbol =
            |var: Var| self.0.iter().find(|(id, _)| var == (*id).into()).map(|(_, s)| Affine::var(*s));
        nodes.iter_mut().for_each(|node| node.substitute(&symbol));
    }

    /// Puts iterators in the place of symbols.
    pub(super) fn leave(&self, nodes: &mut [Node]) {
        let iterator =
            |var: Var| self.0.iter().find(|(_, s)| var == (*s).into()).map(|(id, _)| Affine::var(*id));
        nodes.iter_mut().for_each(|node| node.substitute(&iterator));
    }

    /// The nodes inside.
    pub(super) fn inside<'n>(&self, nest: &'n mut Nest) -> Option<&'n mut Vec<Node>> {
        self.0.iter().try_fold(&mut nest.roots, |nodes, (id, _)| {
            nodes.iter_mut().find_map(|node| match node {
                Node::Loop(l) if l.id == *id => Some(&mut l.body),
                _ => None,
            })
        })
    }
}
