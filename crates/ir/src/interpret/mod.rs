//! Executes nests with C's semantics: the oracle of property tests, not meant to be fast.

mod error;
mod memory;
mod value;

use crate::types::{affine_type, expr_type};
use crate::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, Execution, Expr, Loop, LoopId, Nest, Node, Program,
    Region, ScalarType, Stmt, Storage, Var,
};
pub use error::InterpretError;
pub use memory::{Buffer, Memory};
use oxeye_random::SplitMix64;
use std::collections::BTreeMap;
pub use value::Value;
use value::{Typed, call};

/// The order in which the iterations of a concurrent loop are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// In sequential order.
    #[default]
    Forward,
    /// In reverse order.
    Reversed,
    /// In random order from this seed, a new one each time the loop is entered.
    Shuffled(u64),
}

/// Execution options.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Limit on statement instances plus loop iterations.
    pub max_steps: u64,
    /// Order of `Parallel` loops.
    pub parallel: Order,
    /// Order of `Vector` loops.
    pub vector: Order,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_steps: 100_000_000, parallel: Order::Forward, vector: Order::Forward }
    }
}

/// Executes one nest on `memory`. Temporaries (`Temp`, `Body`) start uninitialised each time their scope is entered and
/// are not added to `memory`.
///
/// # Errors
/// On undefined behaviour in C (except signed overflow, which wraps), if the memory lacks something, or at the step
/// limit. `memory` then has the state reached so far.
pub fn run_nest(
    program: &Program,
    nest: &Nest,
    memory: &mut Memory,
    options: Options,
) -> Result<(), InterpretError> {
    let mut machine = Machine::new(program, memory, options);
    machine.nest(nest)
}

/// Executes the control structure of a program, with the nests in the order of their dataflow graphs.
///
/// # Errors
/// As [`run_nest`], and for regions that were not read: opaque code, loops without a range, branches without a
/// condition.
pub fn run_program(program: &Program, memory: &mut Memory, options: Options) -> Result<(), InterpretError> {
    let mut machine = Machine::new(program, memory, options);
    machine.region(&program.body)
}

struct Machine<'a> {
    program: &'a Program,
    memory: &'a mut Memory,
    options: Options,
    n_steps: u64,
    /// Changes with every shuffle.
    n_shuffles: u64,
    /// Iterators in scope.
    iterators: Vec<(LoopId, ScalarType, i64)>,
    /// Temporaries in scope.
    temporaries: BTreeMap<ArrayId, Buffer>,
    /// Arrays declared inside a loop of the nest being executed.
    scoped: BTreeMap<LoopId, Vec<ArrayId>>,
    /// What is being executed, for messages.
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    Stmt(crate::StmtId),
    Header(LoopId),
    Guard,
    Region,
}

type Result<T, E = InterpretError> = std::result::Result<T, E>;

impl<'a> Machine<'a> {
    fn new(program: &'a Program, memory: &'a mut Memory, options: Options) -> Self {
        Self {
            program,
            memory,
            options,
            n_steps: 0,
            n_shuffles: 0,
            iterators: Vec::new(),
            temporaries: BTreeMap::new(),
            scoped: BTreeMap::new(),
            place: Place::Region,
        }
    }

    fn step(&mut self) -> Result<()> {
        self.n_steps += 1;
        if self.n_steps > self.options.max_steps {
            return Err(InterpretError::StepLimit(self.options.max_steps));
        }
        Ok(())
    }

    fn region(&mut self, region: &Region) -> Result<()> {
        self.place = Place::Region;
        match region {
            Region::Sequence(regions) => regions.iter().try_for_each(|r| self.region(r)),
            Region::Dataflow(graph) => {
                graph.nests().iter().try_for_each(|id| match self.program.nests.get(id) {
                    Some(nest) => self.nest(nest),
                    None => Err(InterpretError::Region(format!("{id}, which is not declared"))),
                })
            }
            Region::Loop(l) => {
                let Some((from, to)) = &l.range else {
                    return Err(InterpretError::Region("a loop whose range is not known".into()));
                };
                let (from, to) = (self.integer(from)?, self.integer(to)?);
                for value in from..to {
                    self.step()?;
                    if let Some(iterator) = l.iterator {
                        self.memory.symbols.insert(iterator, value);
                    }
                    self.region(&l.body)?;
                }
                Ok(())
            }
            Region::Branch { condition, then, otherwise } => {
                let Some(condition) = condition else {
                    return Err(InterpretError::Region("a branch whose condition is not known".into()));
                };
                if self.eval(condition)?.is_true() { self.region(then) } else { self.region(otherwise) }
            }
            Region::Swap(a, b) => {
                self.swap(*a, *b);
                Ok(())
            }
            Region::Opaque(opaque) => Err(InterpretError::Region(format!("opaque code ({})", opaque.reason))),
        }
    }

    fn nest(&mut self, nest: &Nest) -> Result<()> {
        self.temporaries.clear();
        self.scoped.clear();
        for id in nest.arrays() {
            match self.program.arrays.get(&id).map(|a| a.storage) {
                Some(Storage::Body(l) | Storage::Temp(Some(l))) => self.scoped.entry(l).or_default().push(id),
                Some(Storage::Temp(None)) => self.declare(id)?,
                _ => {}
            }
        }
        self.nodes(&nest.roots)?;
        for rotation in &nest.rotations {
            let times = self.integer(&Expr::from(rotation.times.clone()))?;
            for _ in 0..rotation.left(times) {
                rotation.exchanges().for_each(|(a, b)| self.swap(a, b));
            }
        }
        Ok(())
    }

    /// Swaps two pointers.
    fn swap(&mut self, a: ArrayId, b: ArrayId) {
        let (left, right) = (self.memory.buffers.remove(&a), self.memory.buffers.remove(&b));
        self.memory.buffers.extend(right.map(|buffer| (a, buffer)));
        self.memory.buffers.extend(left.map(|buffer| (b, buffer)));
    }

    /// Starts the life of a temporary.
    fn declare(&mut self, id: ArrayId) -> Result<()> {
        let iterators = &self.iterators;
        let iterator = |var: Var| match var {
            Var::Loop(l) => iterators.iter().rev().find(|(id, ..)| *id == l).map(|(.., v)| *v),
            Var::Sym(_) => None,
        };
        let buffer = self.memory.allocate(self.program.array(id), 0, &iterator)?;
        self.temporaries.insert(id, buffer);
        Ok(())
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<()> {
        for node in nodes {
            match node {
                Node::Stmt(s) => self.stmt(s)?,
                Node::Loop(l) => self.for_loop(l)?,
                Node::If { condition, then, otherwise } => {
                    self.place = Place::Guard;
                    let side = if self.eval(condition)?.is_true() { then } else { otherwise };
                    self.nodes(side)?;
                }
            }
        }
        Ok(())
    }

    fn for_loop(&mut self, l: &Loop) -> Result<()> {
        self.place = Place::Header(l.id);
        if l.step == 0 {
            return Err(InterpretError::BadLoop(l.id));
        }
        let lower = self.bound(&l.lower)?.into_iter().max().ok_or(InterpretError::BadLoop(l.id))?;
        if l.upper.is_open() {
            return self.open_loop(l, lower);
        }
        let upper = self.bound(&l.upper)?.into_iter().min().ok_or(InterpretError::BadLoop(l.id))?;
        if lower >= upper {
            return Ok(());
        }
        let first = if l.step > 0 { lower } else { upper - 1 };
        let n = ((i128::from(upper) - i128::from(lower) - 1) / i128::from(l.step).abs()) + 1;
        if n > i128::from(self.options.max_steps - self.n_steps.min(self.options.max_steps)) {
            return Err(InterpretError::StepLimit(self.options.max_steps));
        }
        let n = n as i64;
        let order = match l.execution {
            Execution::Parallel { .. } => self.options.parallel,
            Execution::Vector { .. } => self.options.vector,
            Execution::Sequential | Execution::Unrolled => Order::Forward,
        };
        match order {
            Order::Forward => (0..n).try_for_each(|k| self.iteration(l, first + k * l.step)),
            Order::Reversed => (0..n).rev().try_for_each(|k| self.iteration(l, first + k * l.step)),
            Order::Shuffled(seed) => {
                let mut visits: Vec<i64> = (0..n).collect();
                self.n_shuffles += 1;
                let mut random = SplitMix64::new(seed ^ self.n_shuffles.wrapping_mul(0xd134_2543_de82_ef95));
                for last in (1..visits.len()).rev() {
                    visits.swap(last, random.remainder(last as u64 + 1) as usize);
                }
                visits.into_iter().try_for_each(|k| self.iteration(l, first + k * l.step))
            }
        }
    }

    /// Iterations until the loop is left.
    fn open_loop(&mut self, l: &Loop, lower: i64) -> Result<()> {
        let flag = Expr::Read(l.left_by().ok_or(InterpretError::BadLoop(l.id))?.clone());
        let mut value = lower;
        while !self.eval(&flag)?.is_true() {
            self.iteration(l, value)?;
            value = value.checked_add(l.step).ok_or(InterpretError::BadLoop(l.id))?;
        }
        Ok(())
    }

    fn iteration(&mut self, l: &Loop, value: i64) -> Result<()> {
        self.step()?;
        self.iterators.push((l.id, l.ty, value));
        for id in self.scoped.get(&l.id).cloned().unwrap_or_default() {
            self.declare(id)?;
        }
        self.nodes(&l.body)?;
        self.iterators.pop();
        Ok(())
    }

    fn bound(&mut self, bound: &Bound) -> Result<Vec<i64>> {
        let mut values = Vec::new();
        for term in &bound.0 {
            values.push(match term {
                BoundTerm::Data(e) => self.integer(e)?,
                BoundTerm::Open => i64::MAX,
                BoundTerm::Affine { expr, divisor } => {
                    let numerator = self.affine(expr)?;
                    let divisor = i128::from((*divisor).max(1));
                    let ceiling =
                        numerator.div_euclid(divisor) + i128::from(numerator.rem_euclid(divisor) != 0);
                    i64::try_from(ceiling)
                        .map_err(|_| InterpretError::Undefined("a loop bound beyond 64 bits".into()))?
                }
            });
        }
        Ok(values)
    }

    fn stmt(&mut self, s: &Stmt) -> Result<()> {
        self.step()?;
        self.place = Place::Stmt(s.id);
        let indices = self.indices(&s.target)?;
        let mut value = self.eval(&s.value)?;
        if s.update.reads_target() {
            value = self.load(s.target.array, &indices)?.update(s.update, value)?;
        }
        let element = self.buffer(s.target.array)?.element;
        let value = value.convert(element)?.value;
        let position = self.position(s.target.array, &indices)?;
        let buffer = match self.temporaries.get_mut(&s.target.array) {
            Some(buffer) => Some(buffer),
            None => self.memory.buffers.get_mut(&s.target.array),
        };
        if let Some(slot) = buffer.and_then(|b| b.values.get_mut(position)) {
            *slot = Some(value);
        }
        Ok(())
    }

    fn name(&self, array: ArrayId) -> String {
        self.program.arrays.get(&array).map_or(array.to_string(), |a| a.name.clone())
    }

    fn here(&self) -> String {
        let mut text = match self.place {
            Place::Stmt(s) => s.to_string(),
            Place::Header(l) => format!("the bounds of {l}"),
            Place::Guard => "a guard".to_owned(),
            Place::Region => "the control structure".to_owned(),
        };
        for (position, (id, _, value)) in self.iterators.iter().enumerate() {
            text.push_str(&format!("{}{id} = {value}", if position == 0 { " at " } else { ", " }));
        }
        text
    }

    fn buffer(&self, array: ArrayId) -> Result<&Buffer> {
        self.temporaries
            .get(&array)
            .or_else(|| self.memory.buffers.get(&array))
            .ok_or_else(|| InterpretError::NoArray(self.name(array)))
    }

    fn position(&self, array: ArrayId, indices: &[i64]) -> Result<usize> {
        let buffer = self.buffer(array)?;
        buffer.position(indices).ok_or_else(|| InterpretError::OutOfBounds {
            array: self.name(array),
            indices: indices.to_vec(),
            extents: buffer.extents.clone(),
            place: self.here(),
        })
    }

    fn load(&self, array: ArrayId, indices: &[i64]) -> Result<Typed> {
        let position = self.position(array, indices)?;
        let buffer = self.buffer(array)?;
        match buffer.values[position] {
            Some(value) => Ok(Typed { ty: buffer.element, value }),
            None => Err(InterpretError::Uninitialized {
                array: self.name(array),
                indices: indices.to_vec(),
                place: self.here(),
            }),
        }
    }

    fn indices(&self, access: &Access) -> Result<Vec<i64>> {
        access.indices.iter().map(|e| self.integer(e)).collect()
    }

    fn value_of(&self, var: Var) -> Result<i64> {
        match var {
            Var::Sym(s) => self.memory.symbols.get(&s).copied(),
            Var::Loop(l) => self.iterators.iter().rev().find(|(id, ..)| *id == l).map(|(.., value)| *value),
        }
        .ok_or(InterpretError::NoVariable(var))
    }

    fn type_of(&self, var: Var) -> ScalarType {
        match var {
            Var::Sym(s) => self.program.symbols.get(&s).map(|s| s.ty),
            Var::Loop(l) => self.iterators.iter().rev().find(|(id, ..)| *id == l).map(|(_, ty, _)| *ty),
        }
        .unwrap_or(ScalarType::I32)
    }

    fn affine(&self, affine: &Affine) -> Result<i128> {
        affine.terms().try_fold(i128::from(affine.constant_part()), |sum, (var, c)| {
            Ok(sum + i128::from(c) * i128::from(self.value_of(var)?))
        })
    }

    fn integer(&self, expr: &Expr) -> Result<i64> {
        let value = match expr {
            Expr::Affine(a) => self.affine(a)?,
            _ => match self.eval(expr)?.to_int() {
                Some(value) => value,
                None => return Err(InterpretError::Undefined("a floating value as index or bound".into())),
            },
        };
        i64::try_from(value).map_err(|_| InterpretError::Undefined("an index or bound beyond 64 bits".into()))
    }

    fn eval(&self, expr: &Expr) -> Result<Typed> {
        match expr {
            Expr::Affine(a) => Ok(Typed::int(self.affine(a)?, affine_type(a, &|v| self.type_of(v)))),
            Expr::Float { text, ty } => match float_value(text, *ty) {
                Some(value) => Ok(value),
                None => Err(InterpretError::Undefined(format!("the floating literal {text}"))),
            },
            Expr::Read(access) => self.load(access.array, &self.indices(access)?),
            Expr::Unary(op, e) => self.eval(e)?.unary(*op),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), l, r) => {
                let left = self.eval(l)?.is_true();
                let decided = left == (*op == BinaryOp::Or);
                let result = if decided { left } else { self.eval(r)?.is_true() };
                Ok(Typed::int(i128::from(result), ScalarType::I32))
            }
            Expr::Binary(op, l, r) => Typed::binary(*op, self.eval(l)?, self.eval(r)?),
            Expr::Call { function, single, args } => {
                let args: Vec<_> = args.iter().map(|e| self.eval(e)).collect::<Result<_>>()?;
                call(*function, *single, &args)
            }
            Expr::Select { condition, then, otherwise } => {
                let side = if self.eval(condition)?.is_true() { then } else { otherwise };
                self.eval(side)?.convert(expr_type(expr, self.program, &|v| self.type_of(v)))
            }
            Expr::Cast(ty, e) => self.eval(e)?.convert(*ty),
        }
    }
}

/// The value of a C floating literal, including hexadecimal ones.
fn float_value(text: &str, ty: ScalarType) -> Option<Typed> {
    let body = text.trim_end_matches(['f', 'F']);
    let lower = text.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        let (mantissa, exponent) = hex.trim_end_matches('f').split_once('p')?;
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digit = |value: f64, c: char| Some(value * 16.0 + f64::from(c.to_digit(16)?));
        let value = whole.chars().chain(part.chars()).try_fold(0.0, digit)?;
        let exponent = exponent.parse::<i32>().ok()? - 4 * i32::try_from(part.len()).ok()?;
        return Some(Typed::float(value * 2f64.powi(exponent), ty));
    }
    // A `float` literal is rounded once, from its decimal digits.
    match ty {
        ScalarType::F32 => Some(Typed { ty, value: Value::F32(body.parse().ok()?) }),
        _ => Some(Typed { ty, value: Value::F64(body.parse().ok()?) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymId;

    fn run(text: &str, n: i64, options: Options) -> (Program, Result<Memory>) {
        let program = Program::parse(text).unwrap();
        let mut memory = Memory::random(&program, [(SymId(0), n)], 0, 1).unwrap();
        let result = run_program(&program, &mut memory, options).map(|()| memory);
        (program, result)
    }

    fn floats(memory: &Memory, array: u32) -> Vec<f64> {
        memory.buffers[&ArrayId(array)].values.iter().map(|v| v.unwrap().to_f64()).collect()
    }

    #[test]
    fn sweeps_with_rotation() {
        let (_, memory) = run(
            "program p {
               symbol P0 n: i32
               symbol P1 t: i32
               array A0 x: f64[n] param
               array A1 y: f64[n] param
               sequence {
                 dataflow { N0 }
                 loop t in 0 .. 2 { sequence { dataflow { N1 } swap x y } }
               }
               nest N0 in p { for L0 i: i32 in 0 .. n { S0: x[i] = i * i S1: y[i] = 0.0 } }
               nest N1 in p {
                 for L0 i: i32 in 1 .. n - 1 step -1 { S0: y[i] = (x[i - 1] + x[i + 1]) / 2 + t }
               }
             }",
            5,
            Options::default(),
        );
        let memory = memory.unwrap();
        // t = 0: y = [0, 2, 5, 10, 0], swapped; t = 1: y = [0, 3.5, 7, 3.5, 16], swapped.
        assert_eq!(floats(&memory, 0), [0.0, 3.5, 7.0, 3.5, 16.0]);
        assert_eq!(floats(&memory, 1), [0.0, 2.0, 5.0, 10.0, 0.0]);
    }

    #[test]
    fn pointers_are_swapped_after_an_odd_number_of_iterations() {
        let text = |times: &str| {
            format!(
                "program p {{ symbol P0 n: i32 array A0 x: f64[n] param array A1 y: f64[n] param dataflow {{ N0 N1 }}
                 nest N0 in p swap(x, y, {times}) {{ for L0 i: i32 in 0 .. n {{ S0: x[i] = 1.0 S1: y[i] = 2.0 }} }}
                 nest N1 in p {{ for L0 i: i32 in 0 .. n {{ S0: x[i] += 4.0 }} }} }}"
            )
        };
        for (times, x, y) in [("n", 6.0, 1.0), ("n - 1", 5.0, 2.0), ("-n", 5.0, 2.0), ("0", 5.0, 2.0)] {
            let memory = run(&text(times), 3, Options::default()).1.unwrap();
            // The buffers have been swapped, and each has the name of the pointer that leads to it now.
            assert_eq!((floats(&memory, 0)[0], floats(&memory, 1)[0]), (x, y), "{times}");
        }
    }

    #[test]
    fn three_pointers_take_turns() {
        let text = |times: i64| {
            format!(
                "program p {{ symbol P0 n: i32 array A0 x: f64[n] param array A1 y: f64[n] param
                 array A2 z: f64[n] param dataflow {{ N0 N1 }}
                 nest N0 in p rotate(n + {times}, x, y, z) {{ for L0 i: i32 in 0 .. n {{ S0: x[i] = 1.0 S1: y[i] = 2.0
                 S2: z[i] = 3.0 }} }}
                 nest N1 in p {{ for L0 i: i32 in 0 .. n {{ S0: x[i] += 4.0 }} }} }}"
            )
        };
        // x leads where the next one did, as often as it turned.
        for (times, expected) in [
            (-3, [5.0, 2.0, 3.0]),
            (-2, [6.0, 3.0, 1.0]),
            (-1, [7.0, 1.0, 2.0]),
            (0, [5.0, 2.0, 3.0]),
            (1, [6.0, 3.0, 1.0]),
            (-9, [5.0, 2.0, 3.0]),
        ] {
            let memory = run(&text(times), 3, Options::default()).1.unwrap();
            let first = |k| floats(&memory, k)[0];
            assert_eq!([first(0), first(1), first(2)], expected, "{times}");
        }
    }

    #[test]
    fn order_and_errors() {
        let scan = "program p {
               symbol P0 n: i32
               array A0 x: f64[n] param
               array A1 s: f64 temp(L0)
               dataflow { N0 }
               nest N0 in p { for L0 i: i32 in 1 .. n parallel { S0: s = x[i - 1] S1: x[i] = s + 1.0 } }
             }";
        let forward = run(scan, 6, Options::default()).1.unwrap();
        let reversed = run(scan, 6, Options { parallel: Order::Reversed, ..Options::default() }).1.unwrap();
        let shuffled =
            run(scan, 6, Options { parallel: Order::Shuffled(3), ..Options::default() }).1.unwrap();
        let program = Program::parse(scan).unwrap();
        assert_eq!(forward.difference(&forward, &program, 0.0), None);
        assert!(forward.difference(&reversed, &program, 1e-9).is_some());
        assert!(forward.difference(&shuffled, &program, 1e-9).is_some());

        let outside = scan.replace("x[i - 1]", "x[i + 1]");
        assert_eq!(
            run(&outside, 3, Options::default()).1.unwrap_err().to_string(),
            "x[3] is outside the array, whose extents are [3], in S0 at L0 = 2"
        );
        let unset = scan.replace("s = x[i - 1]", "s += 1.0");
        assert_eq!(
            run(&unset, 3, Options::default()).1.unwrap_err().to_string(),
            "s[] is read before it is written, in S0 at L0 = 1"
        );
        assert_eq!(
            run(scan, 50, Options { max_steps: 20, ..Options::default() }).1.unwrap_err(),
            InterpretError::StepLimit(20)
        );
    }

    #[test]
    fn literals() {
        let value = |text: &str, ty| float_value(text, ty).unwrap().value;
        assert_eq!(value("0x1.8p3", ScalarType::F64), Value::F64(12.0));
        assert_eq!(value("1.e-3", ScalarType::F64), Value::F64(1e-3));
        assert_eq!(value(".5f", ScalarType::F32), Value::F32(0.5));
    }
}
