//! Vector loops as text.

use super::Renderer;
use crate::CodegenError;
use crate::context::LaneScope;
use crate::expand::{Item, VectorItem, for_each_stmt};
use crate::stride::is_invariant;
use crate::types::{loop_type, vector_type};
use crate::vector::Accumulator;
use oxeye_ir::{Affine, ArrayId, Bound, Execution, Loop, LoopId};

impl Renderer<'_> {
    pub(super) fn vector(&mut self, v: &VectorItem) -> Result<(), CodegenError> {
        let mut accumulators: Vec<Accumulator> = Vec::new();
        let mut targets = Vec::new();
        for_each_stmt(&v.body, &mut |s| {
            let is_reduction = v.reductions.iter().any(|r| r.array == s.target.array);
            let fixed = s.target.indices.iter().all(|e| is_invariant(e, v.header.id, &v.varying));
            if is_reduction && fixed && !accumulators.iter().any(|a| a.stands_for(s)) {
                targets.push(s.target.clone());
                accumulators.push(Accumulator {
                    target: s.target.clone(),
                    update: s.update,
                    name: String::new(),
                    element: self.cx.program.array(s.target.array).element,
                });
            }
        });
        for a in &mut accumulators {
            let name = format!("{}_lanes", self.cx.name(a.target.array));
            a.name = self.cx.fresh(&name);
        }
        let runtime = v.bases.is_none();
        let wrapped = runtime || !accumulators.is_empty();
        if wrapped {
            self.line("{");
            self.depth += 1;
        }
        let texts: Vec<String> = targets.iter().map(|t| self.cx.access(t)).collect();
        for (a, target) in accumulators.iter().zip(&texts) {
            self.declare([a.declaration(v.lanes, target)]);
        }
        let combine = |r: &mut Self| {
            for (a, target) in accumulators.iter().zip(&texts) {
                r.lines(a.combination(v.lanes, target));
            }
        };
        match &v.bases {
            Some(bases) => {
                for base in bases {
                    self.chunk(v, base.clone(), &accumulators)?;
                }
                combine(self);
                if let Some(from) = &v.tail {
                    let header = Loop {
                        lower: Bound::from(from.clone()),
                        execution: Execution::Sequential,
                        ..v.header.clone()
                    };
                    self.a_loop(&header, &v.body)?;
                }
            }
            None => {
                let ty = loop_type(&v.header);
                let c_type = ty.c_name();
                let end = self.cx.bound(&v.header.upper, false, 0);
                let mut hoisted = Vec::new();
                let end = self.cx.hoist(&v.header, "end", end, &mut hoisted);
                let start = self.cx.bound(&v.header.lower, true, 0).text.text;
                self.declare(hoisted);
                let name = self.cx.enter_loop(v.header.id, &v.header.name, ty);
                self.declare([format!("{c_type} {name} = {start};")]);
                let lanes = v.lanes;
                let step = lanes - 1;
                self.braced(format!("for (; {name} + {step} < {end}; {name} += {lanes})"), |r| {
                    r.chunk(v, Affine::var(v.header.id), &accumulators)
                })?;
                combine(self);
                self.braced(format!("for (; {name} < {end}; {name}++)"), |r| {
                    r.loop_body(&v.header, &v.body)
                })?;
                self.cx.leave_loop(v.header.id);
            }
        }
        for a in &accumulators {
            self.cx.taken.remove(&a.name);
        }
        if wrapped {
            self.depth -= 1;
            self.line("}");
        }
        Ok(())
    }

    /// The body for one vector.
    fn chunk(
        &mut self,
        v: &VectorItem,
        base: Affine,
        accumulators: &[Accumulator],
    ) -> Result<(), CodegenError> {
        let scope = LaneScope { of: v.header.id, lanes: v.lanes, base, varying: v.varying.clone() };
        self.cx.lane_scope = Some(scope);
        let own: Vec<ArrayId> = self.places_at(v.header.id);
        let braces = !own.is_empty() && v.bases.is_some();
        if braces {
            self.line("{");
            self.depth += 1;
        }
        let result = self.lane_items(v, Some(v.header.id), &v.body, accumulators);
        if braces {
            self.depth -= 1;
            self.line("}");
        }
        self.cx.lane_scope = None;
        result
    }

    fn places_at(&self, at: LoopId) -> Vec<ArrayId> {
        self.places.iter().filter(|(_, p)| **p == Some(at)).map(|(a, _)| *a).collect()
    }

    /// Items for all lanes at once.
    fn lane_items(
        &mut self,
        v: &VectorItem,
        place: Option<LoopId>,
        items: &[Item],
        accumulators: &[Accumulator],
    ) -> Result<(), CodegenError> {
        if let Some(place) = place {
            for id in self.places_at(place) {
                let ty = vector_type(self.cx.program.array(id).element, v.lanes);
                self.declare([format!("{ty} {};", self.cx.name(id))]);
            }
        }
        for item in items {
            match item {
                Item::Stmt(s) => {
                    let line = self.cx.vector_stmt(s, accumulators);
                    self.line(line);
                    let target = self.cx.vector_access(&s.target);
                    let is_in_place = !accumulators.iter().any(|a| a.stands_for(s));
                    let check = self.cx.number_check(&s.target, &target).filter(|_| is_in_place);
                    self.lines(check);
                }
                Item::Scope { of, body } => {
                    self.line("{");
                    self.depth += 1;
                    self.lane_items(v, Some(*of), body, accumulators)?;
                    self.depth -= 1;
                    self.line("}");
                }
                Item::If { condition, then, otherwise } => {
                    let condition = self.cx.expr(condition).text;
                    self.braced(format!("if ({condition})"), |r| r.lane_items(v, None, then, accumulators))?;
                    if !otherwise.is_empty() {
                        self.braced("else".to_owned(), |r| r.lane_items(v, None, otherwise, accumulators))?;
                    }
                }
                Item::Loop { header, body } => {
                    self.counting(header, |r, text| {
                        r.braced(text, |r| r.lane_items(v, Some(header.id), body, accumulators))
                    })?;
                }
                Item::Vector(_) => {
                    return Err(CodegenError::Malformed {
                        what: "a vector loop inside a vector loop".into(),
                    });
                }
            }
        }
        Ok(())
    }
}
