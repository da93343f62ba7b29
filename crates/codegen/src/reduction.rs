//! Loops that accumulate concurrently.

use crate::CodegenError;
use crate::context::{Context, is_identifier, is_outer};
use crate::expand::{Item, all_accesses};
use crate::memory::{HeapBuffer, Memory};
use crate::print::{element_type, prec};
use crate::targets::{Target, target};
use crate::team::refused;
use oxeye_ir::{
    Access, Affine, Array, ArrayId, BoundTerm, Expr, Form, Loop, LoopId, Reduction, ScalarType, Update,
};
use std::collections::BTreeSet;

/// The text around a loop that accumulates.
#[derive(Debug, Default)]
pub(crate) struct ReductionText {
    /// Declarations before the loop.
    pub(crate) before: Vec<String>,
    /// When the loop touches what `before` reads and `after` sets; otherwise it does nothing at all.
    pub(crate) conditions: Vec<String>,
    /// `reduction` clauses.
    pub(crate) clause: String,
    /// Statements after the loop.
    pub(crate) after: Vec<String>,
    /// Elements that are variables inside the loop.
    pub(crate) aliases: Vec<(Access, String)>,
    /// Arrays of which every thread has a part on the heap.
    pub(crate) parts: Vec<Part>,
}

/// An array of which every thread has its own copy during a parallel loop.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) array: ArrayId,
    /// The name of the copy.
    pub(crate) name: String,
    /// Its declaration, in every thread.
    pub(crate) declarations: Vec<String>,
    /// Its initialization, in every thread.
    pub(crate) start: Vec<String>,
    /// Adds up the copies after all threads are done.
    pub(crate) combine: Vec<String>,
}

impl Context<'_> {
    /// The clauses and surroundings of a concurrent loop that accumulates; `memory` is given for threads. `None` if it
    /// cannot be a vector loop; an error if it cannot be a parallel one.
    pub(crate) fn reductions(
        &mut self,
        header: &Loop,
        body: &[Item],
        reductions: &[Reduction],
        memory: Option<&Memory>,
    ) -> Result<Option<ReductionText>, CodegenError> {
        let mut text = ReductionText::default();
        let mut seen = BTreeSet::new();
        for r in reductions {
            let Some(first) = all_accesses(body).into_iter().find(|a| a.array == r.array).cloned() else {
                continue;
            };
            if !seen.insert(r.array) {
                continue;
            }
            let array = self.program.array(r.array);
            let refused = || CodegenError::Reduction { array: array.name.clone() };
            let (sign, word) = match r.op {
                Update::Add | Update::Sub => ("+", "sum"),
                Update::Mul => ("*", "product"),
                Update::Min => ("min", "min"),
                Update::Max => ("max", "max"),
                Update::Assign | Update::Div => return Err(refused()),
            };
            if !self.open.allow(self.program, r.array, r.op) {
                match memory {
                    Some(_) => return Err(CodegenError::Order { array: array.name.clone() }),
                    None => return Ok(None),
                }
            }
            if array.element.is_narrow() && matches!(r.op, Update::Add | Update::Sub | Update::Mul) {
                match memory {
                    Some(_) => return Err(CodegenError::Narrow { array: array.name.clone() }),
                    None => return Ok(None),
                }
            }
            let of_team = memory.is_some() && self.in_team;
            let active = self.registers.contains_key(&r.array) && !self.spilled.contains(&r.array);
            let operands: Vec<String> = if let Some(names) =
                self.touched_scalars(body, r.array).filter(|_| !of_team)
            {
                names
            } else if active {
                match memory {
                    Some(_) => return Err(refused()),
                    None => return Ok(None),
                }
            } else if let Some((_, name)) = self.copies.elements.iter().find(|(a, _)| *a == first) {
                vec![name.clone()]
            } else {
                let target = target(self.binding, array, header, body);
                if of_team {
                    self.check_shared(array, &target)?;
                }
                match (target, memory) {
                    (Target::Scalar, _) => vec![self.name(r.array).to_owned()],
                    (Target::Elements(elements), _) => {
                        let mut names = Vec::new();
                        for access in elements {
                            if !self.may_copy((header, body), &access, &mut text) {
                                return match memory {
                                    Some(_) => Err(CodegenError::Conditional { array: array.name.clone() }),
                                    None => Ok(None),
                                };
                            }
                            let name = self.fresh(&format!("{}_{word}", self.name(r.array)));
                            let element = self.access(&access);
                            text.before.push(format!("{} {name} = {element};", element_type(array)));
                            text.after.push(format!("{element} = {name};"));
                            text.aliases.push((access, name.clone()));
                            names.push(name);
                        }
                        names
                    }
                    (Target::Section, Some(_)) => vec![self.section(array)],
                    (Target::Parts, Some(memory)) => {
                        text.parts.push(self.part(array, r.op, memory).ok_or_else(refused)?);
                        vec![]
                    }
                    (_, Some(_)) => return Err(refused()),
                    (_, None) => return Ok(None),
                }
            };
            if !operands.is_empty() {
                // Clauses take variables: neither elements behind pointers nor members, and no sections of such.
                let has_names = operands.iter().all(|o| o.split('[').next().is_some_and(is_identifier));
                match memory {
                    Some(_) if !has_names => return Err(refused()),
                    None if !has_names => return Ok(None),
                    _ => text.clause += &format!(" reduction({sign}:{})", operands.join(", ")),
                }
            }
        }
        Ok(Some(text))
    }

    /// Whether the loop touches an element for certain once it does anything, or the element is the nest's own: otherwise it may
    /// not be there, or be another thread's. When that is, becomes part of the conditions.
    fn may_copy(&self, (header, body): (&Loop, &[Item]), access: &Access, text: &mut ReductionText) -> bool {
        if !is_outer(self.program.array(access.array).storage) {
            return true;
        }
        let Some(conditions) = self.surely_touched((header, body), access, &[]) else { return false };
        text.conditions.extend(conditions);
        text.conditions.dedup();
        true
    }

    /// What must hold for a loop to do anything, as C conditions, if it then touches this element for certain; `None` if it may
    /// run without touching it, or that depends on a counter of the loop itself or of one `around` it.
    fn surely_touched(
        &self,
        (header, body): (&Loop, &[Item]),
        access: &Access,
        around: &[LoopId],
    ) -> Option<Vec<String>> {
        let is_alone = body.len() == 1;
        let counters: Vec<LoopId> = around.iter().copied().chain([header.id]).collect();
        let is_plain = |term: &BoundTerm| match term {
            BoundTerm::Affine { expr, .. } => !counters.iter().any(|counter| expr.uses(*counter)),
            BoundTerm::Data(_) | BoundTerm::Open => false,
        };
        body.iter().find_map(|item| {
            let (inner, body) = match item {
                Item::Stmt(s) => return (s.target == *access).then(|| self.is_entered(header)),
                Item::Scope { body, .. } => {
                    let found = self.surely_touched((header, body), access, around)?;
                    return (is_alone || found == self.is_entered(header)).then_some(found);
                }
                Item::Loop { header, body } => (header, body),
                Item::Vector(v) => (&v.header, &v.body),
                Item::If { .. } => return None,
            };
            let is_fixed = inner.lower.0.iter().chain(&inner.upper.0).all(is_plain);
            let found = self.surely_touched((inner, body), access, &counters).filter(|_| is_fixed)?;
            let mut conditions = self.is_entered(header);
            let is_whole = is_alone || found.is_empty();
            conditions.extend(found);
            is_whole.then_some(conditions)
        })
    }

    /// That a loop has an iteration, if that is not certain.
    fn is_entered(&self, header: &Loop) -> Vec<String> {
        let ends = (header.lower.as_affine(), header.upper.as_affine());
        if let (Some(lower), Some(upper)) = ends
            && (upper.clone() - lower.clone()).as_constant().is_some_and(|n| n > 0)
        {
            return Vec::new();
        }
        let lower = self.bound(&header.lower, true, 0).text.at(prec::ADD);
        let upper = self.bound(&header.upper, false, 0).text.at(prec::ADD);
        vec![format!("{lower} < {upper}")]
    }

    /// A team can only accumulate into variables that its threads share.
    fn check_shared(&self, array: &Array, target: &Target) -> Result<(), CodegenError> {
        let is_variable = is_outer(array.storage)
            && !self.shared.contains(&array.id)
            && !self.binding.views.contains_key(&array.id);
        let has_name = match target {
            Target::Scalar => is_variable,
            Target::Parts => true,
            Target::Section | Target::Elements(_) | Target::Unknown => false,
        };
        match has_name {
            true => Ok(()),
            false => refused(format!("it accumulates into `{}`, which its threads do not share", array.name)),
        }
    }

    /// `A[:n]`, all of an array.
    fn section(&self, array: &Array) -> String {
        let name = self.name(array.id);
        let extents = array.shape.iter().map(|e| e.clone().unwrap_or(Expr::from(1)));
        if array.form == Form::Linear {
            let product: Vec<String> = extents.map(|e| self.expr(&e).at(prec::UNARY)).collect();
            return format!("{name}[:{}]", product.join(" * "));
        }
        format!("{name}{}", extents.map(|e| format!("[:{}]", self.expr(&e).text)).collect::<String>())
    }

    /// A thread's own part of an array, with as many rows as the loop uses.
    fn part(&mut self, array: &Array, op: Update, memory: &Memory) -> Option<Part> {
        let buffer = memory.parts.get(&array.id)?;
        let ty = element_type(array);
        let name = self.fresh(&format!("{}_part", self.plain_name(array)));
        let over = self.over_part(array, buffer)?;
        let original = self.access(&Access { array: array.id, indices: over.indices.clone() });
        let first = match op {
            Update::Mul => "1".to_owned(),
            Update::Min | Update::Max => original.clone(),
            _ => "0".to_owned(),
        };
        let thread = self.fresh("thread");
        let part_of =
            |thread: &str| format!("({ty} *)OXEYE_ALIGN({}, {thread} * {})", buffer.memory, buffer.bytes);
        let value = self.part_element(&format!("({})", part_of(&thread)), array, &over.within);
        let own = self.fresh("own");
        let (condition, add) = match op {
            Update::Min | Update::Max => {
                let sign = if op == Update::Min { "<" } else { ">" };
                (format!("!({original} {sign} {own})"), format!("{original} = {own};"))
            }
            // Elements into which the loop did not accumulate may be in use by others.
            Update::Mul => (format!("{own} != 1"), format!("{original} *= {own};")),
            _ => (format!("{own} != 0"), format!("{original} += {own};")),
        };
        let before = self.before_part(array, buffer)?;
        let pointer = match before.as_str() {
            "" => {
                format!("{ty} *{name} = OXEYE_ALIGN({}, OXEYE_THREAD() * {});", buffer.memory, buffer.bytes)
            }
            before => format!("{ty} *{name} = {} - {before};", part_of("OXEYE_THREAD()")),
        };
        let rest = format!("{thread} < OXEYE_TEAM(); {thread}++");
        let (thread_counter, over_threads) = self.counter("int", &thread, "0", &rest);
        let element = self.part_element(&name, array, &over.indices);
        let start = nested(&over.heads, &[format!("{element} = {first};")]);
        let mut combine = vec!["#pragma omp for schedule(static)".to_owned()];
        let each = [
            format!("{over_threads} {{"),
            format!("    const {ty} {own} = {value};"),
            format!("    if ({condition})"),
            format!("        {add}"),
            "}".to_owned(),
        ];
        combine.extend(nested(&over.heads, &each));
        if self.declares_first {
            let counters = over.counters.iter().chain(&thread_counter).cloned();
            let inside: Vec<String> = counters.chain(combine).map(|line| format!("    {line}")).collect();
            combine = ["{".to_owned()].into_iter().chain(inside).chain(["}".to_owned()]).collect();
        }
        for (id, counter) in &over.iterators {
            self.iterators.remove(id);
            self.taken.remove(counter);
        }
        self.taken.remove(&thread);
        self.taken.remove(&own);
        Some(Part {
            array: array.id,
            declarations: [pointer].into_iter().chain(over.counters).collect(),
            start,
            combine,
            name,
        })
    }

    /// The loops over all elements of a part.
    fn over_part(&mut self, array: &Array, buffer: &HeapBuffer) -> Option<OverPart> {
        let mut over = OverPart::default();
        for (k, extent) in array.shape.iter().enumerate() {
            let (from, end) = match (k, buffer.reach) {
                (0, Some(reach)) => (Affine::var(reach.first), Affine::var(reach.last).offset(1).into()),
                _ => (Affine::constant(0), extent.clone()?),
            };
            let (id, x) = (LoopId(u32::MAX - k as u32), self.fresh("x"));
            let (first, end) = (self.expr(&from.clone().into()).text, self.expr(&end).at(11));
            let (counter, head) = self.counter("long", &x, &first, &format!("{x} < {end}; {x}++"));
            over.counters.extend(counter);
            over.heads.push(head);
            over.indices.push(Affine::var(id).into());
            over.within.push((Affine::var(id) - from).into());
            self.iterators.insert(id, (x.clone(), ScalarType::I64));
            over.iterators.push((id, x));
        }
        Some(over)
    }

    /// How many elements lie between the first of a part and the array's first, if any.
    fn before_part(&mut self, array: &Array, buffer: &HeapBuffer) -> Option<String> {
        let Some(reach) = buffer.reach else { return Some(String::new()) };
        let mut factors = vec![self.expr(&Affine::var(reach.first).into()).at(prec::UNARY)];
        for extent in array.shape.iter().skip(1) {
            factors.push(self.expr(extent.as_ref()?).at(prec::UNARY));
        }
        Some(factors.join(" * "))
    }
}

/// Loops over the elements of a part.
#[derive(Default)]
struct OverPart {
    /// Declarations of their counters, where these stand apart.
    counters: Vec<String>,
    /// From the outermost inwards.
    heads: Vec<String>,
    iterators: Vec<(LoopId, String)>,
    /// The element in the array, and in the part.
    indices: Vec<Expr>,
    within: Vec<Expr>,
}

/// Lines inside of loops.
fn nested(heads: &[String], lines: &[String]) -> Vec<String> {
    heads
        .iter()
        .chain(lines)
        .enumerate()
        .map(|(k, line)| format!("{}{line}", "    ".repeat(k.min(heads.len()))))
        .collect()
}
