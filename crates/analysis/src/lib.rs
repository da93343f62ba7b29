//! Exact dependences, footprints, operation and byte counts.
//!
//! [`omega`] decides linear constraints over the integers. A nest's iteration domains and accesses ([`NestModel`]) and
//! its memory-based [`dependences`] are built on it. Besides, there are [`operations`], [`stride`]s, [`executions`],
//! [`footprints`], [`NestKind`], and in [`traffic`] the bytes moved between caches. What cannot be computed exactly is
//! over-approximated and marked as inexact: domains, accesses and dependences are then supersets.
//!
//! This crate changes nothing and does not judge transformations. It takes arrays to be distinct even where
//! [`oxeye_ir::Program::may_alias`] lists them.
//!
//! ```
//! use oxeye_analysis::{Level, dependences};
//! use oxeye_ir::*;
//!
//! // for (i = 1; i < n; i++) a[i] = a[i - 1];
//! let mut program = Program::new("shift");
//! let n = program.add_symbol("n", ScalarType::I32);
//! let a = program.add_array(Array {
//!     id: ArrayId(0),
//!     name: "a".into(),
//!     element: ScalarType::F64,
//!     c_type: None,
//!     shape: vec![Some(n.into())],
//!     form: Form::Nested,
//!     storage: Storage::Param,
//!     align: 0,
//! });
//! let i = LoopId(0);
//! let stmt = Stmt {
//!     id: StmtId(0),
//!     target: Access::new(a, [Affine::from(i)]),
//!     update: Update::Assign,
//!     value: Access::new(a, [Affine::from(i).offset(-1)]).into(),
//!     line: None,
//! };
//! let root = Loop {
//!     id: i,
//!     name: "i".into(),
//!     ty: ScalarType::I32,
//!     lower: 1.into(),
//!     upper: n.into(),
//!     step: 1,
//!     execution: Execution::Sequential,
//!     body: vec![Node::Stmt(stmt)],
//! };
//! let roots = vec![Node::Loop(root)];
//! let nest = Nest::new(NestId(0), "shift", roots);
//!
//! let found = dependences(&program, &nest).expect("a small nest");
//! assert_eq!(found.len(), 1);
//! assert_eq!(found[0].level, Level::Carried(0));
//! assert_eq!(found[0].to_string(), "flow S0 -> S0 on A0 (1)");
//! ```

mod access;
mod constraints;
mod counts;
mod covered;
mod dependence;
mod domain;
mod footprint;
mod kind;
mod linear;
pub mod omega;
pub mod traffic;

pub use access::{Anchor, Role, StmtAccess};
pub use constraints::{affine_condition, bound_constraints, known_bound_constraints, negated_condition};
pub use counts::{
    Count, Operations, Stride, access_bytes, evaluate, evaluate_symbols, executions, iterations, operations,
    stride, trip_count,
};
pub use covered::{common_loops, covering_loops, implies, is_covered, loops_around};
pub use dependence::{
    Dependence, DependenceKind, DependenceRelation, Direction, Endpoint, Level, MOST_CONFLICTS,
    MOST_DEPENDENCES, Pairs, dependences,
};
pub use domain::{Domain, LoopStep, NestModel, StmtModel};
pub use footprint::{Footprint, LevelFootprint, footprints, level_footprints};
pub use kind::NestKind;
pub use linear::{Ring, Space};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
