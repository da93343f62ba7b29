//! The transformations, one file each, and their registry. None decides legality: each only edits the schedule, or says
//! why it cannot.
//!
//! To add one: write its file after the model of [`fission`] (doc comment, parameters with the macro `step!`, `edit`),
//! and add a line to the list below, among those that edit the schedule or those that rewrite the nest before. Its text and JSON forms, the checks of its arguments, the renaming of loops and
//! statements, the variations for searches, and its row in [`TRANSFORMATIONS`] follow from its parameters.

pub(crate) mod argument;
mod check;
mod lookup;
pub(crate) mod registry;

pub(crate) use lookup::{all_loops, iterations, perfect_chain, window};

use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::Schedule;
use crate::values::NestRewrite;
use argument::{Argument, Renaming};
use registry::{Parameters, Step, TransformationInfo};

/// What a step does.
enum Does<'s> {
    /// Edits the schedule of the nest.
    Edit(&'s dyn Edit),
    /// Rewrites the nest itself, before any other step edits its schedule.
    Rewrite(&'s dyn NestRewrite),
}

/// The edit that a step performs. Legality is decided elsewhere.
trait Edit {
    fn edit(&self, schedule: &mut Schedule, policy: Policy) -> Result<(), Reason>;
}

impl<S: Step> Edit for S {
    fn edit(&self, schedule: &mut Schedule, policy: Policy) -> Result<(), Reason> {
        Step::edit(self, schedule, policy)
    }
}

/// Builds [`Transformation`] and [`TRANSFORMATIONS`] from the list of steps.
macro_rules! steps {
    (edits { $($edit_module:ident::$edit:ident,)* } rewrites { $($rewrite_module:ident::$rewrite:ident,)* }) => {
        steps! { @all $($edit_module::$edit,)* $($rewrite_module::$rewrite,)* }

        impl Transformation {
            fn does(&self) -> Does<'_> {
                match self {
                    $(Self::$edit(step) => Does::Edit(step),)*
                    $(Self::$rewrite(step) => Does::Rewrite(step),)*
                }
            }
        }
    };
    (@all $($module:ident::$step:ident,)*) => {
        /// A transformation with its parameters. Loops and statements have the ids that they have when the step is
        /// applied; new loops get the next free ids, outermost first.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Transformation {
            $(
                #[doc = concat!("See [`crate::steps::", stringify!($module), "`].")]
                $step($module::$step),
            )*
        }

        /// Every transformation.
        pub static TRANSFORMATIONS: &[TransformationInfo] = &[$($module::$step::INFO,)*];

        impl Transformation {
            /// Its row in the table.
            pub fn info(&self) -> &'static TransformationInfo {
                match self {
                    $(Self::$step(_) => const { &$module::$step::INFO },)*
                }
            }

            /// Its arguments, one for each parameter.
            pub(crate) fn arguments(&self) -> Vec<Argument> {
                match self {
                    $(Self::$step(step) => step.arguments(),)*
                }
            }

            /// The transformation of this name with these arguments; `None` if they do not match its parameters.
            pub(crate) fn new(name: &str, arguments: &[Argument]) -> Option<Self> {
                $(
                    if name == $module::$step::INFO.name {
                        return $module::$step::from_arguments(arguments).map(Self::$step);
                    }
                )*
                None
            }
        }

        $(
            impl From<$module::$step> for Transformation {
                fn from(step: $module::$step) -> Self {
                    Self::$step(step)
                }
            }

            pub use $module::$step;
        )*
    };
}

pub mod batch;
pub mod compact_zeros;
pub mod drop_store;
pub mod factorize;
pub mod fission;
pub mod fuse;
pub mod guard_zeros;
pub mod hoist;
pub mod index_set_split;
pub mod interchange;
pub mod normalize;
pub mod overlap;
pub mod packed_contraction;
pub mod parallelize;
pub mod privatize;
pub mod reorder;
pub mod reverse;
pub mod share_sums;
pub mod skew;
pub mod specialise;
pub mod split_zeros;
pub mod tile;
pub mod unroll;
pub mod unroll_and_jam;
pub mod vectorize;

steps! {
    edits {
        normalize::Normalize,
        reorder::Reorder,
        fission::Fission,
        interchange::Interchange,
        fuse::Fuse,
        skew::Skew,
        reverse::Reverse,
        tile::Tile,
        index_set_split::IndexSetSplit,
        parallelize::Parallelize,
        vectorize::Vectorize,
        batch::Batch,
        unroll::Unroll,
        unroll_and_jam::UnrollAndJam,
        packed_contraction::PackedContraction,
    }
    rewrites {
        specialise::Specialise,
        split_zeros::SplitZeros,
        guard_zeros::GuardZeros,
        compact_zeros::CompactZeros,
        drop_store::DropStore,
        factorize::Factorize,
        share_sums::ShareSums,
        hoist::Hoist,
        privatize::Privatize,
        overlap::Overlap,
    }
}

impl Transformation {
    /// Name in recipes and in the table.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The rewriting that it does of the nest itself, if it does.
    pub(crate) fn as_rewrite(&self) -> Option<&dyn NestRewrite> {
        match self.does() {
            Does::Rewrite(step) => Some(step),
            Does::Edit(_) => None,
        }
    }

    /// The step with loops, statements, arrays and variables renamed.
    ///
    /// # Errors
    /// What has no new name, and why.
    pub fn renamed(&self, names: &dyn Renaming) -> Result<Self, Reason> {
        let arguments = self.arguments().iter().map(|a| a.renamed(names)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.with(&arguments))
    }

    /// The same step with one number doubled or halved, where a search may do that, each with a title for the change.
    pub fn variations(&self) -> Vec<(String, Self)> {
        let info = self.info();
        let Some(variation) = info.variation else { return Vec::new() };
        let Some(k) = info.position(variation.parameter) else { return Vec::new() };
        let arguments = self.arguments();
        let near = |n: i64| {
            let range = variation.least..=variation.most;
            [n / 2, n.saturating_mul(2)].into_iter().filter(move |n| range.contains(n))
        };
        let changed: Vec<Argument> = match &arguments[k] {
            Argument::Number(n) => near(*n).map(Argument::Number).collect(),
            Argument::Numbers(all) => {
                let at = |position: usize| {
                    near(all[position]).map(move |n| {
                        let mut all = all.clone();
                        all[position] = n;
                        Argument::Numbers(all)
                    })
                };
                (0..all.len()).flat_map(at).collect()
            }
            _ => Vec::new(),
        };
        let step = |argument: Argument| {
            let mut arguments = arguments.clone();
            arguments[k] = argument;
            let step = self.with(&arguments);
            (step.titled(variation.title), step)
        };
        changed.into_iter().map(step).collect()
    }

    /// The same step with other arguments of the same types.
    fn with(&self, arguments: &[Argument]) -> Self {
        Self::new(self.name(), arguments).unwrap_or_else(|| self.clone())
    }
}

/// Edits the schedule according to the step.
pub(crate) fn edit(schedule: &mut Schedule, step: &Transformation, policy: Policy) -> Result<(), Reason> {
    check::arguments(schedule, step.info(), &step.arguments())?;
    match step.does() {
        Does::Edit(step) => step.edit(schedule, policy),
        Does::Rewrite(_) => {
            let text = "only the nest as it stands in the source can be rewritten, so this comes before all other kinds of steps";
            Err(Reason::new(RefusalKind::Misplaced, text))
        }
    }
}
