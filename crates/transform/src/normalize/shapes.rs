//! Structural keys of arrays, statements and expressions, which do not depend on names.
//!
//! Ties between legal choices are broken by these keys, so that the choice does not depend on names or on the order of
//! things in the source. Arrays are distinguished by how they are used, refined round by round as in colour refinement
//! of graphs (Weisfeiler and Leman, 1968). Keys treat operands of `+` and `*` as unordered, and identify iterators by
//! the dimensions of the target that they index.

use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, BoundTerm, Expr, Loop, LoopId, Nest, Node, Program, Stmt, StmtId, Var,
};
use std::collections::BTreeMap;

/// Keys of the arrays and statements of one nest.
#[derive(Clone, Debug, Default)]
pub(super) struct Shapes {
    slices: BTreeMap<ArrayId, Vec<usize>>,
    arrays: BTreeMap<Slice, u64>,
    stmts: BTreeMap<StmtId, u64>,
}

/// An array and the constants in its sliced dimensions.
type Slice = (ArrayId, Vec<i64>);

/// Dimensions in which every access of an array has a constant index: each constant stands for a separate array.
pub(super) fn slices<'a>(nests: impl Iterator<Item = &'a Nest>) -> BTreeMap<ArrayId, Vec<usize>> {
    let mut found: BTreeMap<ArrayId, Vec<usize>> = BTreeMap::new();
    for nest in nests {
        for (access, _) in nest.accesses() {
            let constant = |d: &usize| {
                access.indices.get(*d).and_then(Expr::as_affine).is_some_and(|a| a.as_constant().is_some())
            };
            let dims = found.entry(access.array).or_insert_with(|| (0..access.indices.len()).collect());
            dims.retain(constant);
        }
    }
    found.retain(|_, dims| !dims.is_empty());
    found
}

/// Rounds of refinement: more than the longest chain of arrays in practice.
const N_ROUNDS: usize = 5;

impl Shapes {
    /// Keys of everything in `nest`.
    pub(super) fn of(program: &Program, nest: &Nest) -> Self {
        let mut shapes = Self { slices: slices(std::iter::once(nest)), ..Self::default() };
        for (access, _) in nest.accesses() {
            let element = program.array(access.array).element;
            let (slice, indices) = shapes.slice(access);
            let own = Hash::new("array").text(element.name()).number(indices.len() as u64).0;
            shapes.arrays.insert(slice, own);
        }
        for _ in 0..N_ROUNDS {
            let mut uses: BTreeMap<Slice, Vec<u64>> = BTreeMap::new();
            let mut stmts = BTreeMap::new();
            nest.visit(&mut |path, node| {
                let Node::Stmt(stmt) = node else { return };
                let roles = shapes.roles(stmt, path);
                let key = shapes.key(stmt, &roles);
                stmts.insert(stmt.id, key);
                let used = |access: &Access, part: &str| {
                    Hash::new(part).number(key).number(shapes.access(access, &roles)).0
                };
                uses.entry(shapes.slice(&stmt.target).0).or_default().push(used(&stmt.target, "write"));
                for read in stmt.value.reads() {
                    uses.entry(shapes.slice(read).0).or_default().push(used(read, "read"));
                }
            });
            for (id, mut found) in uses {
                found.sort_unstable();
                let own = shapes.arrays.entry(id).or_default();
                *own = found.into_iter().fold(Hash::new("uses").number(*own), Hash::number).0;
            }
            shapes.stmts = stmts;
        }
        shapes
    }

    /// The slice that an access touches, and the indices of the other dimensions.
    fn slice<'a>(&self, access: &'a Access) -> (Slice, Vec<&'a Expr>) {
        let dims = self.slices.get(&access.array).map(Vec::as_slice).unwrap_or_default();
        let constant = |d: &usize| access.indices.get(*d)?.as_affine()?.as_constant();
        let at = dims.iter().filter_map(constant).collect();
        let others = access.indices.iter().enumerate().filter(|(d, _)| !dims.contains(d));
        ((access.array, at), others.map(|(_, i)| i).collect())
    }

    /// The roles of the loops in `path` in `stmt`.
    pub(super) fn roles(&self, stmt: &Stmt, path: &[&Loop]) -> Roles {
        Roles::of(&self.slice(&stmt.target).1, path)
    }

    /// The key of a statement; zero for an unknown one.
    pub(super) fn stmt(&self, id: StmtId) -> u64 {
        self.stmts.get(&id).copied().unwrap_or(0)
    }

    fn key(&self, stmt: &Stmt, roles: &Roles) -> u64 {
        Hash::new("stmt")
            .number(roles.n_loops as u64)
            .text(&format!("{:?}", stmt.update))
            .number(self.access(&stmt.target, roles))
            .number(self.expr(&stmt.value, roles))
            .0
    }

    fn access(&self, access: &Access, roles: &Roles) -> u64 {
        let (slice, indices) = self.slice(access);
        let own = self.arrays.get(&slice).copied().unwrap_or(0);
        indices.into_iter().fold(Hash::new("access").number(own), |h, i| h.number(self.expr(i, roles))).0
    }

    /// The key of an expression of a statement.
    pub(super) fn expr(&self, expr: &Expr, roles: &Roles) -> u64 {
        match expr {
            Expr::Affine(a) => roles.affine(a),
            Expr::Float { text, ty } => Hash::new("float").text(ty.name()).text(text).0,
            Expr::Read(access) => self.access(access, roles),
            Expr::Unary(op, e) => Hash::new("unary").text(&format!("{op:?}")).number(self.expr(e, roles)).0,
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => {
                let mut terms = Vec::new();
                self.terms(expr, false, roles, &mut terms);
                terms.sort_unstable();
                terms.into_iter().fold(Hash::new("sum"), Hash::number).0
            }
            Expr::Binary(BinaryOp::Mul, ..) => {
                let mut factors = Vec::new();
                self.factors(expr, roles, &mut factors);
                factors.sort_unstable();
                factors.into_iter().fold(Hash::new("product"), Hash::number).0
            }
            Expr::Binary(op, l, r) => {
                let own = Hash::new("binary").text(&format!("{op:?}"));
                own.number(self.expr(l, roles)).number(self.expr(r, roles)).0
            }
            Expr::Call { function, single, args } => {
                let own = Hash::new("call").text(function.name()).number(u64::from(*single));
                args.iter().fold(own, |h, a| h.number(self.expr(a, roles))).0
            }
            Expr::Select { condition, then, otherwise } => {
                [condition, then, otherwise]
                    .into_iter()
                    .fold(Hash::new("select"), |h, e| h.number(self.expr(e, roles)))
                    .0
            }
            Expr::Cast(ty, e) => Hash::new("cast").text(ty.name()).number(self.expr(e, roles)).0,
        }
    }
}

impl Shapes {
    /// Keys of the terms of a sum, however it is parenthesized.
    fn terms(&self, expr: &Expr, is_negative: bool, roles: &Roles, found: &mut Vec<u64>) {
        match expr {
            Expr::Binary(BinaryOp::Add, l, r) => {
                self.terms(l, is_negative, roles, found);
                self.terms(r, is_negative, roles, found);
            }
            Expr::Binary(BinaryOp::Sub, l, r) => {
                self.terms(l, is_negative, roles, found);
                self.terms(r, !is_negative, roles, found);
            }
            _ => {
                found.push(Hash::new("term").number(u64::from(is_negative)).number(self.expr(expr, roles)).0)
            }
        }
    }

    /// Keys of the factors of a product, however it is parenthesized.
    fn factors(&self, expr: &Expr, roles: &Roles, found: &mut Vec<u64>) {
        match expr {
            Expr::Binary(BinaryOp::Mul, l, r) => {
                self.factors(l, roles, found);
                self.factors(r, roles, found);
            }
            _ => found.push(self.expr(expr, roles)),
        }
    }
}

/// The roles of the iterators around a statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Roles {
    n_loops: usize,
    loops: BTreeMap<LoopId, u64>,
}

impl Roles {
    /// The roles of the loops in `path` for a statement whose target has these indices: the dimensions that each loop
    /// indexes, and its range if that is constant.
    fn of(target: &[&Expr], path: &[&Loop]) -> Self {
        let role = |l: &&Loop| {
            let mut own = Hash::new("loop");
            for (dim, index) in target.iter().enumerate() {
                if let Some(a) = index.as_affine()
                    && a.uses(l.id)
                {
                    own = own.number(dim as u64).number(a.coefficient(l.id) as u64);
                }
            }
            let has_data = l.lower.0.iter().chain(&l.upper.0).any(|t| matches!(t, BoundTerm::Data(_)));
            (l.id, own.number(u64::from(has_data)).0)
        };
        Self { n_loops: path.len(), loops: path.iter().map(role).collect() }
    }

    /// The key of an affine expression.
    fn affine(&self, a: &Affine) -> u64 {
        let term = |(v, c): (Var, i64)| {
            let own = match v {
                Var::Loop(l) => self.loops.get(&l).copied().unwrap_or(1),
                Var::Sym(_) => 2,
            };
            Hash::new("term").number(own).number(c as u64).0
        };
        let mut terms: Vec<u64> = a.terms().map(term).collect();
        terms.sort_unstable();
        terms.into_iter().fold(Hash::new("affine").number(a.constant_part() as u64), Hash::number).0
    }
}

/// FNV-1a (Fowler, Noll and Vo), the same on every machine and in every version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash(pub(super) u64);

impl Hash {
    /// The hash of a word.
    pub(super) fn new(word: &str) -> Self {
        Hash(0xcbf2_9ce4_8422_2325).text(word)
    }

    /// The hash extended by these bytes and an end mark.
    pub(super) fn text(self, text: &str) -> Self {
        text.bytes().chain([0xff]).fold(self, Self::byte)
    }

    /// The hash extended by this number.
    pub(super) fn number(self, value: u64) -> Self {
        value.to_le_bytes().into_iter().fold(self, Self::byte)
    }

    fn byte(self, byte: u8) -> Self {
        Hash((self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}
