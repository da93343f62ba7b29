//! What moves pointers behind a nest: those that walk, and those that have changed places.

use super::Renderer;
use crate::print::prec;
use oxeye_ir::{Nest, Rotation};

impl Renderer<'_> {
    /// Pointers that are not in their places at the end, and those that lead further.
    pub(super) fn moves(&mut self, nest: &Nest) {
        for advance in self.cx.binding.advances(nest.id) {
            let by = self.cx.expr(&advance.by).text;
            self.line(format!("{} += {by};", self.cx.name(advance.array)));
        }
        for rotation in &nest.rotations {
            if let Some(times) = rotation.times.as_constant() {
                self.rotated(rotation, rotation.left(times), "{");
                continue;
            }
            let times = self.cx.expr(&rotation.times.clone().into()).at(prec::MUL);
            match rotation.pointers.len() {
                2 => self.rotated(rotation, 1, &format!("if ({times} > 0 && {times} % 2 != 0) {{")),
                n => {
                    for by in 1..n {
                        let word = if by == 1 { "if" } else { "else if" };
                        self.rotated(
                            rotation,
                            by,
                            &format!("{word} ({times} > 0 && {times} % {n} == {by}) {{"),
                        );
                    }
                }
            }
        }
    }

    /// Pointers that have moved on by so many places, in a block with this head.
    fn rotated(&mut self, rotation: &Rotation, by: usize, head: &str) {
        let names: Vec<String> = rotation.pointers.iter().map(|id| self.cx.name(*id).to_owned()).collect();
        if by == 0 {
            return;
        }
        let (saved, rest) = names.split_at(by);
        self.line(head);
        self.depth += 1;
        let saved: Vec<(String, &String)> =
            saved.iter().map(|name| (self.cx.fresh("swapped"), name)).collect();
        for (saved, name) in &saved {
            self.declare([format!("void *{saved} = {name};")]);
        }
        let values = rest.iter().chain(saved.iter().map(|(saved, _)| saved));
        for (name, value) in names.iter().zip(values) {
            self.line(format!("{name} = {value};"));
        }
        self.depth -= 1;
        self.line("}");
    }
}
