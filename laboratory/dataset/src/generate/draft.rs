//! Shared by the families: a program under construction, and the spelling it is written in.

use crate::nest::Fill;
use oxeye_ir::builder::{Formula, NestBuilder, ProgramBuilder, Tensor, call};
use oxeye_ir::{Expr, MathFn, Program, ScalarType};
use std::collections::BTreeMap;

/// How a computation is spelled; every value of every field gives the same results up to the order of sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// The order of loops that may be in any order; 0 is the one drawn with the computation.
    pub(crate) order: usize,
    /// Whether statements that could share loops have their own (or the other way round, if the computation was drawn
    /// so).
    pub(crate) distributed: bool,
    /// Whether operands of sums and products are in reverse order.
    pub(crate) backwards: bool,
    /// The set of names.
    pub(crate) names: usize,
    /// Added to iterators and subtracted where they are used.
    pub(crate) shift: i64,
}

impl Spelling {
    /// In words.
    pub(crate) fn describe(&self) -> String {
        let mut words = Vec::new();
        if self.order > 0 {
            words.push(format!("order {}", self.order));
        }
        if self.distributed {
            words.push("distribution flipped".into());
        }
        if self.backwards {
            words.push("operands backwards".into());
        }
        if self.names > 0 {
            words.push(format!("names {}", self.names));
        }
        if self.shift != 0 {
            words.push(format!("iterators shifted by {}", self.shift));
        }
        if words.is_empty() { "as drawn".into() } else { words.join(", ") }
    }
}

/// How a symbol gets its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    /// Grows with the problem, in this proportion to the other sizes, and has a least value.
    Scaled { aspect: f64, least: i64 },
    /// Has this value.
    Fixed(i64),
}

/// A program under construction.
pub(crate) struct Draft<'s> {
    pub(crate) builder: ProgramBuilder,
    pub(crate) spelling: &'s Spelling,
    /// Type of the floating-point arrays.
    pub(crate) float: ScalarType,
    pub(crate) sizes: Vec<(String, Size)>,
    pub(crate) fills: BTreeMap<String, Fill>,
    /// Factor by which a statement takes longer than its operations, because each waits for the one before.
    pub(crate) cost_factor: f64,
    n_arrays: usize,
}

/// A finished program with facts about its symbols and arrays.
pub(crate) struct Written {
    pub(crate) program: Program,
    pub(crate) sizes: Vec<(String, Size)>,
    pub(crate) fills: BTreeMap<String, Fill>,
    pub(crate) cost_factor: f64,
}

/// A bound of a loop.
#[derive(Clone, Debug)]
pub(crate) enum Edge {
    /// A value known outside all loops.
    At(Formula),
    /// The iterator of another dimension, plus a constant.
    Of(usize, i64),
}

/// A loop: bounds, the upper one exclusive.
#[derive(Clone, Debug)]
pub(crate) struct Dim {
    pub(crate) from: Edge,
    pub(crate) to: Edge,
}

/// A loop from zero.
pub(crate) fn dim(to: impl Into<Formula>) -> Dim {
    range(0, to)
}

/// A loop from `from`.
pub(crate) fn range(from: impl Into<Formula>, to: impl Into<Formula>) -> Dim {
    Dim { from: Edge::At(from.into()), to: Edge::At(to.into()) }
}

const SYMBOLS: [[&str; 6]; 3] = [
    ["n", "m", "p", "q", "r", "s"],
    ["n1", "n2", "n3", "n4", "n5", "n6"],
    ["nx", "ny", "nz", "nt", "nu", "nv"],
];
const ARRAYS: [[&str; 12]; 3] = [
    ["A", "B", "C", "D", "E", "F", "G", "H", "U", "V", "W", "X"],
    ["src", "dst", "lhs", "rhs", "acc", "aux", "out", "fld", "wgt", "cof", "res", "buf"],
    ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11"],
];
const ITERATORS: [[&str; 6]; 3] = [
    ["i", "j", "k", "l", "g", "h"],
    ["row", "col", "dep", "lane", "blk", "sub"],
    ["c1", "c2", "c3", "c4", "c5", "c6"],
];

impl<'s> Draft<'s> {
    pub(crate) fn new(spelling: &'s Spelling, float: ScalarType) -> Self {
        Self {
            builder: ProgramBuilder::new("kernel"),
            spelling,
            float,
            sizes: Vec::new(),
            fills: BTreeMap::new(),
            cost_factor: 1.0,
            n_arrays: 0,
        }
    }

    /// A new size. At most six.
    pub(crate) fn size(&mut self, aspect: f64, least: i64) -> Formula {
        self.symbol(Size::Scaled { aspect, least })
    }

    /// A new size with a value of its own, such as a number of time steps.
    pub(crate) fn fixed(&mut self, value: i64) -> Formula {
        self.symbol(Size::Fixed(value))
    }

    fn symbol(&mut self, size: Size) -> Formula {
        let name = SYMBOLS[self.spelling.names % SYMBOLS.len()][self.sizes.len() % 6];
        self.sizes.push((name.to_owned(), size));
        let symbol = self.builder.symbol(name);
        self.builder.assume_ge(symbol, 1);
        symbol.into()
    }

    /// The name of a size.
    pub(crate) fn size_name(&self, position: usize) -> String {
        self.sizes[position].0.clone()
    }

    /// A new floating-point array. At most twelve.
    pub(crate) fn array(&mut self, shape: Vec<Formula>) -> Tensor {
        let float = self.float;
        self.typed_array(shape, float, Fill::Uniform)
    }

    /// A new array.
    pub(crate) fn typed_array(&mut self, shape: Vec<Formula>, ty: ScalarType, fill: Fill) -> Tensor {
        let name = ARRAYS[self.spelling.names % ARRAYS.len()][self.n_arrays % 12];
        self.n_arrays += 1;
        if fill != Fill::Uniform {
            self.fills.insert(name.to_owned(), fill);
        }
        self.builder.array(name, ty, shape)
    }

    /// A new scalar parameter.
    pub(crate) fn scalar(&mut self) -> Tensor {
        let name = ARRAYS[self.spelling.names % ARRAYS.len()][self.n_arrays % 12];
        self.n_arrays += 1;
        let float = self.float;
        self.builder.scalar(name, float)
    }

    /// How to write expressions and loops; a copy, so that it can be used while a nest is built.
    pub(crate) fn pen(&self) -> Pen {
        Pen { spelling: self.spelling.clone(), float: self.float }
    }

    /// Adds the nest.
    pub(crate) fn nest(&mut self, build: impl FnOnce(&mut NestBuilder<'_>)) {
        self.builder.nest(build);
    }

    /// The program, or the message of the verifier.
    pub(crate) fn finish(self) -> Result<Written, String> {
        let program = self
            .builder
            .finish()
            .map_err(|v| v.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        Ok(Written { program, sizes: self.sizes, fills: self.fills, cost_factor: self.cost_factor })
    }
}

/// Writes loops and expressions in one spelling.
#[derive(Clone, Debug)]
pub(crate) struct Pen {
    pub(crate) spelling: Spelling,
    float: ScalarType,
}

impl Pen {
    /// A literal of the draft's type.
    pub(crate) fn lit(&self, value: f64) -> Formula {
        if self.float == ScalarType::F32 { Formula::from(value as f32) } else { Formula::from(value) }
    }

    /// A call in the draft's type.
    pub(crate) fn call(&self, function: MathFn, argument: impl Into<Formula>) -> Formula {
        if self.float == ScalarType::F32 {
            let args = vec![Expr::from(argument.into())];
            return Formula::from(Expr::Call { function, single: true, args });
        }
        call(function, [argument.into()])
    }

    /// The sum of at least one term.
    pub(crate) fn sum(&self, terms: Vec<Formula>) -> Formula {
        self.fold(terms, |a, b| a + b)
    }

    /// The product of at least one factor.
    pub(crate) fn product(&self, factors: Vec<Formula>) -> Formula {
        self.fold(factors, |a, b| a * b)
    }

    fn fold(&self, mut parts: Vec<Formula>, combine: fn(Formula, Formula) -> Formula) -> Formula {
        if self.spelling.backwards {
            parts.reverse();
        }
        parts.into_iter().reduce(combine).unwrap_or_else(|| self.lit(0.0))
    }

    /// Whether statements that could share loops have their own.
    pub(crate) fn distributed(&self, as_drawn: bool) -> bool {
        as_drawn != self.spelling.distributed
    }

    /// The order of the loops: the drawn one, permuted by the spelling, such that no loop comes before one that its
    /// bounds depend on.
    pub(crate) fn order(&self, dims: &[Dim], drawn: &[usize]) -> Vec<usize> {
        let mut orders = Vec::new();
        permutations(drawn, &mut Vec::new(), &mut orders);
        let position = |order: &[usize], d: usize| order.iter().position(|x| *x == d);
        let is_sound = |order: &Vec<usize>| {
            order.iter().all(|d| {
                [&dims[*d].from, &dims[*d].to].into_iter().all(|edge| match edge {
                    Edge::At(_) => true,
                    Edge::Of(outer, _) => position(order, *outer) < position(order, *d),
                })
            })
        };
        orders.retain(is_sound);
        orders[self.spelling.order % orders.len()].clone()
    }

    /// Loops over `dims` in `order`, perfectly nested; `body` gets the iterators by dimension. Names are by dimension,
    /// from `first_name` on.
    pub(crate) fn loops(
        &self,
        nest: &mut NestBuilder<'_>,
        dims: &[Dim],
        order: &[usize],
        first_name: usize,
        body: &mut dyn FnMut(&mut NestBuilder<'_>, &[Formula]),
    ) {
        let iterators: Vec<Formula> = dims.iter().map(|_| Formula::from(0)).collect();
        self.continued(nest, dims, order, first_name, &iterators, body);
    }

    /// Further loops inside others whose iterators are given.
    pub(crate) fn continued(
        &self,
        nest: &mut NestBuilder<'_>,
        dims: &[Dim],
        order: &[usize],
        first_name: usize,
        iterators: &[Formula],
        body: &mut dyn FnMut(&mut NestBuilder<'_>, &[Formula]),
    ) {
        self.level(nest, dims, order, first_name, &mut iterators.to_vec(), body);
    }

    fn level(
        &self,
        nest: &mut NestBuilder<'_>,
        dims: &[Dim],
        order: &[usize],
        first_name: usize,
        iterators: &mut Vec<Formula>,
        body: &mut dyn FnMut(&mut NestBuilder<'_>, &[Formula]),
    ) {
        let Some((d, inner)) = order.split_first() else { return body(nest, iterators) };
        let shift = self.spelling.shift;
        let name = self.iterator(first_name + d);
        let bound = |edge: &Edge| match edge {
            Edge::At(value) => value + shift,
            Edge::Of(outer, offset) => &iterators[*outer] + (offset + shift),
        };
        let (from, to) = (bound(&dims[*d].from), bound(&dims[*d].to));
        nest.for_(name, from, to, |nest, i| {
            iterators[*d] = i - shift;
            self.level(nest, dims, inner, first_name, iterators, body);
        });
    }

    /// The name of an iterator.
    pub(crate) fn iterator(&self, position: usize) -> &'static str {
        ITERATORS[self.spelling.names % ITERATORS.len()][position % 6]
    }
}

fn permutations(rest: &[usize], taken: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if rest.is_empty() {
        found.push(taken.clone());
    }
    for (position, item) in rest.iter().enumerate() {
        let mut others = rest.to_vec();
        others.remove(position);
        taken.push(*item);
        permutations(&others, taken, found);
        taken.pop();
    }
}
