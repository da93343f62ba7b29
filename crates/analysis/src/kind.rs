//! What a nest computes, in the terms of the field.

use oxeye_ir::{
    Access, Affine, BinaryOp, BoundTerm, Expr, Loop, LoopId, Nest, Node, Stmt, UnaryOp, Update, Var,
};
use std::collections::BTreeSet;

/// The kind of computation in a nest's innermost statements, recognized by their accesses alone, not by names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NestKind {
    /// `C[i][j] += A[i][k] * B[k][j]`: a sum of products, where each factor has a loop of the result that the other has
    /// not.
    MatrixProduct,
    /// `y[i] += A[i][k] * x[k]`: a sum of products, where one factor has no loop of the result.
    MatrixVectorProduct,
    /// `x[i] -= L[i][k] * x[k]` with `k < i`: a factor was computed by an earlier iteration.
    TriangularSolve,
    /// `A[i][j] -= A[i][k] * A[k][j]`: both factors are parts of the result.
    Factorization,
    /// `C[i] += A[i + k] * w[k]`: a sum of products with a window that moves along with the result.
    Convolution,
    /// `B[i] = A[i - 1] + A[i + 1]`: neighbours at constant distances.
    Stencil,
    /// `A[i] = f(A[i - 1])`: elements at constant distances that the statement itself computed.
    Recurrence,
    /// `s[i] += A[i][k]`: many elements combined into one.
    Reduction,
    /// `B[i][j] = A[j][i]`.
    Transposition,
    /// `B[i] = A[i]`.
    Copy,
    /// `A[i] = c`: nothing is read.
    Initialization,
    /// `C[i] = f(A[i], B[i])`.
    Elementwise,
    /// Which elements are accessed, or how many, is read from memory.
    Indirect,
    /// None of these, or several of them.
    Other,
}

impl NestKind {
    /// The kind of a nest, by its innermost statements.
    pub fn of(nest: &Nest) -> NestKind {
        let mut kinds: Vec<(usize, NestKind)> = Vec::new();
        nest.visit(&mut |loops, node| {
            if let Node::Stmt(stmt) = node {
                kinds.push((loops.len(), Statement { loops, stmt }.kind()));
            }
        });
        let deepest = kinds.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
        let innermost: Vec<NestKind> =
            kinds.into_iter().filter(|(depth, _)| *depth == deepest).map(|(_, kind)| kind).collect();
        let is_common =
            |kind: &NestKind| 2 * innermost.iter().filter(|k| *k == kind).count() > innermost.len();
        innermost.iter().copied().find(is_common).unwrap_or(NestKind::Other)
    }

    /// A noun: `stencil`.
    pub fn name(self) -> &'static str {
        match self {
            NestKind::MatrixProduct => "matrix product",
            NestKind::MatrixVectorProduct => "matrix-vector product",
            NestKind::TriangularSolve => "triangular solve",
            NestKind::Factorization => "factorization",
            NestKind::Convolution => "convolution",
            NestKind::Stencil => "stencil",
            NestKind::Recurrence => "recurrence",
            NestKind::Reduction => "reduction",
            NestKind::Transposition => "transposition",
            NestKind::Copy => "copy",
            NestKind::Initialization => "initialization",
            NestKind::Elementwise => "elementwise nest",
            NestKind::Indirect => "indirect nest",
            NestKind::Other => "nest",
        }
    }
}

/// A statement and the loops around it.
struct Statement<'a> {
    loops: &'a [&'a Loop],
    stmt: &'a Stmt,
}

impl Statement<'_> {
    fn kind(&self) -> NestKind {
        let Stmt { target, value, .. } = self.stmt;
        let reads = value.reads();
        if self.is_indirect(&reads) {
            return NestKind::Indirect;
        }
        if let Some(kind) = self.product() {
            return kind;
        }
        if let Some(kind) = self.neighbours(&reads) {
            return kind;
        }
        let others: Vec<&Access> =
            reads.into_iter().filter(|read| *read != target && !self.loops_of(read).is_empty()).collect();
        let summed = self.summed();
        if self.accumulates() && !summed.is_empty() {
            let is_summed =
                others.is_empty() || others.iter().any(|r| !self.loops_of(r).is_disjoint(&summed));
            return if is_summed { NestKind::Reduction } else { NestKind::Other };
        }
        match others.as_slice() {
            [] if self.accumulates() => NestKind::Elementwise,
            [] => NestKind::Initialization,
            [read] if matches!(value, Expr::Read(_)) && self.stmt.update == Update::Assign => {
                let is_turned = self.order(read) != self.order(target);
                if is_turned { NestKind::Transposition } else { NestKind::Copy }
            }
            _ => NestKind::Elementwise,
        }
    }

    /// Whether an index or a bound is read from memory.
    fn is_indirect(&self, reads: &[&Access]) -> bool {
        let is_data = |index: &Expr| !index.reads().is_empty();
        let bounds = self.loops.iter().flat_map(|l| l.lower.0.iter().chain(&l.upper.0));
        reads.iter().chain([&&self.stmt.target]).any(|access| access.indices.iter().any(is_data))
            || bounds.into_iter().any(|term| matches!(term, BoundTerm::Data(_)))
    }

    /// The kind of a sum of products, if it is one.
    fn product(&self) -> Option<NestKind> {
        let (summed, target) = (self.summed(), &self.stmt.target);
        if !self.accumulates() || summed.is_empty() {
            return None;
        }
        let all = terms(&self.stmt.value);
        let kinds: Vec<NestKind> =
            all.into_iter().filter_map(|term| self.product_of(&factors(term))).collect();
        // A sum of several products, as in a rank-2k update, is named by the first.
        kinds.first().copied().filter(|_| !target.indices.is_empty())
    }

    fn product_of(&self, factors: &[&Access]) -> Option<NestKind> {
        let (summed, target) = (self.summed(), &self.stmt.target);
        let result = self.loops_of(target);
        let arrays: Vec<&Access> = factors
            .iter()
            .copied()
            .filter(|f| *f != target && !self.loops_of(f).is_disjoint(&summed))
            .collect();
        let [first, second, ..] = arrays.as_slice() else { return None };
        let slides = |access: &Access| {
            let both = |index: &Expr| {
                let used = self.used(index);
                !used.is_disjoint(&summed) && !used.is_disjoint(&result)
            };
            access.indices.iter().any(both)
        };
        if slides(first) || slides(second) {
            return Some(NestKind::Convolution);
        }
        let own: Vec<&Access> = arrays.iter().copied().filter(|f| f.array == target.array).collect();
        match own.as_slice() {
            [_, _, ..] => return Some(NestKind::Factorization),
            [own] if self.is_of_before(own) => return Some(NestKind::TriangularSolve),
            _ => {}
        }
        let of_result = |access: &Access| self.loops_of(access).intersection(&result).copied().collect();
        let (a, b): (BTreeSet<LoopId>, BTreeSet<LoopId>) = (of_result(first), of_result(second));
        match (a.is_subset(&b), b.is_subset(&a)) {
            (false, false) => Some(NestKind::MatrixProduct),
            _ if a.is_empty() != b.is_empty() => Some(NestKind::MatrixVectorProduct),
            _ => None,
        }
    }

    /// Whether a read of the result's array reads an element that an earlier iteration completed: the same indices,
    /// with one iterator replaced by another that is always smaller.
    fn is_of_before(&self, read: &Access) -> bool {
        let target = &self.stmt.target;
        let pairs = target.indices.iter().zip(&read.indices).filter(|(a, b)| a != b);
        let replaced: Option<BTreeSet<(LoopId, LoopId)>> = pairs
            .map(|(a, b)| {
                let (a, b) = (a.as_affine()?, b.as_affine()?);
                let (in_a, in_b) = (a.loops().find(|l| !b.uses(*l))?, b.loops().find(|l| !a.uses(*l))?);
                let with = |var: Var| (var == Var::Loop(in_a)).then(|| Affine::var(in_b));
                (a.substitute(&with) == *b).then_some((in_a, in_b))
            })
            .collect();
        let Some(replaced) = replaced else { return false };
        matches!(replaced.iter().collect::<Vec<_>>()[..], [(later, earlier)] if self.is_below(*earlier, *later))
    }

    /// Whether the loop bounds imply that the iterator of `low` is less than that of `high`.
    fn is_below(&self, low: LoopId, high: LoopId) -> bool {
        let find = |id| self.loops.iter().find(|l| l.id == id);
        let (Some(low), Some(high)) = (find(low), find(high)) else { return false };
        // `low < high` by the upper bound of `low`, which is exclusive, or by the lower bound of `high`.
        let upper = |term: &BoundTerm| difference(term, high.id).is_some_and(|constant| constant <= 0);
        let lower = |term: &BoundTerm| difference(term, low.id).is_some_and(|constant| constant >= 1);
        low.upper.0.iter().any(upper) || high.lower.0.iter().any(lower)
    }

    /// The kind of a statement that reads elements at constant distances from each other, or from its target.
    fn neighbours(&self, reads: &[&Access]) -> Option<NestKind> {
        let Stmt { target, .. } = self.stmt;
        let (mut is_stencil, mut own) = (false, BTreeSet::new());
        for read in reads.iter().filter(|read| !self.loops_of(read).is_empty()) {
            let like =
                |other: &Access| other.array == read.array && shape(other) == shape(read) && other != *read;
            if like(target) {
                own.insert(shift(read, target));
            } else if read.array != target.array {
                is_stencil |= reads.iter().any(|other| like(other));
            }
        }
        // Reads of the target's array that lie on one side along one dimension were all computed before.
        let signs: BTreeSet<Vec<i64>> =
            own.into_iter().map(|shift| shift.into_iter().map(i64::signum).collect()).collect();
        match signs.len() {
            _ if is_stencil => Some(NestKind::Stencil),
            0 => None,
            1 => Some(NestKind::Recurrence),
            _ => Some(NestKind::Stencil),
        }
    }

    /// Whether the statement adds to, multiplies, or otherwise updates the value of its target.
    fn accumulates(&self) -> bool {
        let Stmt { target, update, value, .. } = self.stmt;
        update.reads_target() || value.reads().contains(&target)
    }

    /// The loops around the statement that its target does not depend on.
    fn summed(&self) -> BTreeSet<LoopId> {
        let result = self.loops_of(&self.stmt.target);
        self.loops.iter().map(|l| l.id).filter(|id| !result.contains(id)).collect()
    }

    fn loops_of(&self, access: &Access) -> BTreeSet<LoopId> {
        access.indices.iter().flat_map(|index| self.used(index)).collect()
    }

    fn used(&self, index: &Expr) -> BTreeSet<LoopId> {
        self.loops.iter().map(|l| l.id).filter(|id| index.uses(Var::Loop(*id))).collect()
    }

    /// The loops of an access in the order of its dimensions.
    fn order(&self, access: &Access) -> Vec<LoopId> {
        access.indices.iter().flat_map(|index| self.used(index)).collect()
    }
}

/// The constant difference between a bound and an iterator, if there is one.
fn difference(term: &BoundTerm, iterator: LoopId) -> Option<i64> {
    match term {
        BoundTerm::Affine { expr, divisor: 1 } => {
            expr.clone().add_scaled(&Affine::var(iterator), -1).as_constant()
        }
        _ => None,
    }
}

/// An access without the constants in its indices.
fn shape(access: &Access) -> Access {
    let mut shape = access.clone();
    for index in &mut shape.indices {
        index.rewrite(&mut |expr| {
            if let Expr::Affine(affine) = expr {
                *affine = affine.clone().offset(-affine.constant_part());
            }
        });
    }
    shape
}

/// The constant offset of one access from another of the same shape, by dimension; constants in nested indices do not
/// count.
fn shift(access: &Access, from: &Access) -> Vec<i64> {
    let constant = |index: &Expr| index.as_affine().map_or(0, Affine::constant_part);
    access.indices.iter().zip(&from.indices).map(|(a, b)| constant(a) - constant(b)).collect()
}

/// The summands of a value.
fn terms(value: &Expr) -> Vec<&Expr> {
    match value {
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => [terms(a), terms(b)].concat(),
        Expr::Unary(UnaryOp::Neg, inner) | Expr::Cast(_, inner) => terms(inner),
        _ => vec![value],
    }
}

/// The elements that are the factors of a term.
fn factors(term: &Expr) -> Vec<&Access> {
    match term {
        Expr::Binary(BinaryOp::Mul, a, b) => [factors(a), factors(b)].concat(),
        Expr::Unary(UnaryOp::Neg, inner) | Expr::Cast(_, inner) => factors(inner),
        Expr::Read(access) => vec![access],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_ir::Program;

    /// The kind of `loops` around one statement, which may use `s`, vectors `x` and `y`, matrices `A`, `B`, `C`, and `at`.
    fn kind(loops: &[&str], stmt: &str) -> NestKind {
        let (mut opened, mut closed) = (String::new(), String::new());
        for (k, l) in loops.iter().enumerate() {
            opened += &format!("for L{k} {} {{\n", l.replacen(' ', ": i32 ", 1));
            closed += "}\n";
        }
        let text = format!(
            "program p {{\nsymbol P0 n: i32\narray A0 s: f64 param\narray A1 x: f64[n] param\narray A2 y: f64[n] param\n\
             array A3 A: f64[n][n] param\narray A4 B: f64[n][n] param\narray A5 C: f64[n][n] param\n\
             array A6 at: i32[n] param\ndataflow {{ N0 }}\nnest N0 in p {{\n{opened}S0: {stmt}\n{closed}}}\n}}\n"
        );
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        NestKind::of(program.nests.values().next().expect("one nest"))
    }

    const I: &str = "i in 0 .. n";
    const J: &str = "j in 0 .. n";
    const K: &str = "k in 0 .. n";

    #[test]
    fn sums_of_products() {
        assert_eq!(kind(&[I, J, K], "C[i][j] += 2.0 * A[i][k] * B[k][j]"), NestKind::MatrixProduct);
        assert_eq!(kind(&[K, J, I], "C[i][j] = C[i][j] + A[i][k] * B[k][j]"), NestKind::MatrixProduct);
        assert_eq!(kind(&[I, J, K], "C[i][j] += A[i][k] * A[j][k]"), NestKind::MatrixProduct);
        assert_eq!(kind(&[I, K], "y[i] += A[i][k] * x[k]"), NestKind::MatrixVectorProduct);
        assert_eq!(kind(&[I], "s[] += x[i] * y[i]".replace("s[]", "s").as_str()), NestKind::Reduction);
        assert_eq!(kind(&[I, J], "A[i][j] += x[i] * y[j]"), NestKind::Elementwise, "a rank-1 update");
        assert_eq!(kind(&[I, "k in 0 .. 3"], "y[i] += x[i + k] * A[0][k]"), NestKind::Convolution);
    }

    #[test]
    fn solves_need_what_was_computed_before() {
        assert_eq!(kind(&[I, "k in 0 .. i"], "x[i] -= A[i][k] * x[k]"), NestKind::TriangularSolve);
        assert_eq!(kind(&[K, "i in k + 1 .. n"], "x[i] -= A[i][k] * x[k]"), NestKind::TriangularSolve);
        let later = kind(&[I, J, "k in i + 1 .. n"], "B[i][j] += A[k][i] * B[k][j]");
        assert_eq!(later, NestKind::MatrixProduct, "the triangular product overwrites its operand");
        assert_eq!(kind(&[I, J, "k in 0 .. j"], "A[i][j] -= A[i][k] * A[k][j]"), NestKind::Factorization);
    }

    #[test]
    fn neighbours_and_recurrences() {
        assert_eq!(kind(&["i in 1 .. n - 1"], "y[i] = x[i - 1] + x[i + 1]"), NestKind::Stencil);
        assert_eq!(
            kind(&["t in 0 .. 9", "i in 1 .. n - 1"], "x[i] = x[i - 1] + x[i] + x[i + 1]"),
            NestKind::Stencil
        );
        assert_eq!(kind(&["i in 2 .. n"], "x[i] = x[i - 1] + x[i - 2]"), NestKind::Recurrence);
        assert_eq!(kind(&[I, "j in 1 .. n"], "A[i][j] = A[i][j - 1] * B[i][j]"), NestKind::Recurrence);
        assert_eq!(kind(&["i in 0 .. n - 1"], "y[i] = x[i + 1]"), NestKind::Copy);
    }

    #[test]
    fn the_rest() {
        assert_eq!(kind(&[I, K], "x[i] += A[i][k]"), NestKind::Reduction);
        assert_eq!(kind(&[I, J], "B[i][j] = A[j][i]"), NestKind::Transposition);
        assert_eq!(kind(&[I, J], "B[i][j] = A[i][j]"), NestKind::Copy);
        assert_eq!(kind(&[I, J], "B[i][j] = 0.0"), NestKind::Initialization);
        assert_eq!(kind(&[I, J], "C[i][j] = A[i][j] * B[i][j] + x[j]"), NestKind::Elementwise);
        assert_eq!(kind(&[I, J], "C[i][j] *= 3.0"), NestKind::Elementwise);
        assert_eq!(kind(&[I], "x[at[i]] += y[i]"), NestKind::Indirect);
        assert_eq!(kind(&[I, "k in data(at[i]) .. data(at[i + 1])"], "x[i] += y[k]"), NestKind::Indirect);
    }
}
