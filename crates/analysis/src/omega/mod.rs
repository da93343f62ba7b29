//! An exact integer satisfiability test for linear constraints.
//!
//! The test is Pugh's Omega test (*The Omega test: a fast and practical integer programming algorithm for dependence
//! analysis*, 1991): equalities are eliminated by substitution and symmetric modulo reduction, inequalities by
//! Fourier-Motzkin with integer tightening. Where that is not exact, the real shadow, the dark shadow and the
//! splinters between them decide. A work limit and checked arithmetic turn intractable cases into "unknown".
//!
//! ```
//! use oxeye_analysis::omega::{Feasibility, Limit, System, feasible};
//!
//! // 2 i = 2 j + 1 has no integer solution.
//! let mut system = System::new(2);
//! system.add_eq(&[(0, 2), (1, -2)], -1);
//! assert_eq!(feasible(&system, Limit::default()), Feasibility::Infeasible);
//! ```

mod problem;
mod project;
mod solve;
mod system;
#[cfg(test)]
mod tests;

pub use project::{Projection, project, project_out, simplify};
pub use solve::{Feasibility, Limit, feasible, implies_eq, implies_ge, sample, sample_var};
pub use system::{Mark, Row, System};
