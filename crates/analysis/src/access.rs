//! What the instances of a statement read and write.

use crate::linear::{Encoder, Ring, Space};
use crate::omega::{Row, System};
use oxeye_ir::{Access, ArrayId, BinaryOp, BoundTerm, Expr, Loop, Stmt};

/// Why a statement touches an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The bound of an enclosing loop reads it.
    Bound,
    /// An enclosing guard reads it.
    Guard,
    /// The value reads it.
    Value,
    /// An index of the target reads it.
    TargetIndex,
    /// An update reads its target.
    Update,
    /// The statement writes its target.
    Target,
}

impl Role {
    /// Whether the element is written.
    pub fn is_write(self) -> bool {
        self == Role::Target
    }

    /// Whether the element is that which the statement writes: an update reads it as well.
    pub fn is_target(self) -> bool {
        matches!(self, Role::Target | Role::Update)
    }
}

/// The point at which an access happens: inside the first `n_loops` of the loops around its statement, at `position` in
/// the pre-order of the loop tree. Bounds and guards are evaluated at their own place, once for all instances below
/// them that agree in those loops; everything else together with the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Anchor {
    /// Loops around the place of evaluation.
    pub n_loops: usize,
    /// Textual order among all nodes of the nest.
    pub position: usize,
}

/// One access of a statement, with its indices over the statement's domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StmtAccess {
    /// The array accessed.
    pub array: ArrayId,
    /// Why it is accessed.
    pub role: Role,
    /// When it happens.
    pub anchor: Anchor,
    /// The access as it stands in the nest.
    pub source: Access,
    /// For a guard or a bound: the points at which it is evaluated, whether or not the statement runs there. They say
    /// nothing about the loops inside its anchor.
    pub evaluated: Option<System>,
    /// The index of each dimension over the variables of `system`; `None` if nothing is known of it.
    pub indices: Vec<Option<Row>>,
    /// For an index of a dimension that is a remainder, of what; empty if none is.
    pub rings: Vec<Option<Ring>>,
    /// The variables of the access's domain, then existential variables of the indices, and the constraints that
    /// define these. Those of the domain are not repeated.
    pub system: System,
    /// Whether the element is known exactly, and every instance is sure to touch it.
    pub exact: bool,
}

/// Collects accesses that happen at the points of one domain.
pub(crate) struct TreeAccesses<'a> {
    space: &'a Space,
    domain: &'a System,
    found: Vec<StmtAccess>,
}

impl<'a> TreeAccesses<'a> {
    pub(crate) fn new(space: &'a Space, domain: &'a System) -> Self {
        Self { space, domain, found: Vec::new() }
    }

    pub(crate) fn bound_reads(&mut self, l: &Loop, anchor: Anchor) {
        for term in l.lower.0.iter().chain(&l.upper.0) {
            if let BoundTerm::Data(expr) = term {
                self.reads(expr, Role::Bound, anchor, true);
            }
        }
    }

    pub(crate) fn guard_reads(&mut self, condition: &Expr, anchor: Anchor) {
        self.reads(condition, Role::Guard, anchor, true);
    }

    pub(crate) fn stmt_accesses(&mut self, stmt: &Stmt, anchor: Anchor) {
        self.reads(&stmt.value, Role::Value, anchor, true);
        for index in &stmt.target.indices {
            self.reads(index, Role::TargetIndex, anchor, true);
        }
        if stmt.update.reads_target() {
            self.access(&stmt.target, Role::Update, anchor, true);
        }
        self.access(&stmt.target, Role::Target, anchor, true);
    }

    pub(crate) fn finish(self) -> Vec<StmtAccess> {
        self.found
    }

    /// Adds the reads of `expr`; `always` says whether it is evaluated unconditionally.
    fn reads(&mut self, expr: &Expr, role: Role, anchor: Anchor, always: bool) {
        match expr {
            Expr::Select { condition, then, otherwise } => {
                self.reads(condition, role, anchor, always);
                self.reads(then, role, anchor, false);
                self.reads(otherwise, role, anchor, false);
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.reads(left, role, anchor, always);
                self.reads(right, role, anchor, false);
            }
            _ => {
                if let Expr::Read(access) = expr {
                    self.access(access, role, anchor, always);
                }
                for child in expr.children() {
                    self.reads(child, role, anchor, always);
                }
            }
        }
    }

    fn access(&mut self, access: &Access, role: Role, anchor: Anchor, always: bool) {
        let affine: Option<Vec<Option<Row>>> =
            access.indices.iter().map(|index| Some(Some(self.space.row(index.as_affine()?)?))).collect();
        let (indices, rings, system, exact) = match affine {
            Some(indices) => (indices, Vec::new(), System::new(self.domain.n_vars()), true),
            None => {
                let mut encoder = Encoder::new(self.space, self.domain.clone());
                let mark = encoder.system.mark();
                let indices: Vec<Option<Row>> =
                    access.indices.iter().map(|index| encoder.value(index)).collect();
                let exact = encoder.exact && indices.iter().all(Option::is_some);
                let rings = access.indices.iter().map(|index| encoder.ring(index)).collect();
                (indices, rings, encoder.system.since(mark), exact)
            }
        };
        let is_outside = matches!(role, Role::Bound | Role::Guard);
        self.found.push(StmtAccess {
            array: access.array,
            role,
            anchor,
            evaluated: is_outside.then(|| self.domain.clone()),
            source: access.clone(),
            indices,
            rings,
            system,
            exact: exact && always,
        });
    }
}
