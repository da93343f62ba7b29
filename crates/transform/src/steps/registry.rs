//! The parts of a step: a name, a description, parameters, and the edit it performs.
//!
//! The macro [`step!`] declares the parameters of a step as a struct, and derives everything that follows from their
//! kinds; the step's own file adds how it edits a schedule ([`Step`]).

use super::argument::{Argument, Kind};
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::Schedule;

/// A parameter of a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name in recipes as JSON, and in messages.
    pub name: &'static str,
    /// Another name accepted in its place; usually the same.
    pub alias: &'static str,
    /// What it accepts.
    pub kind: Kind,
}

/// A transformation in the registry; tables, readers and printers derive from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformationInfo {
    /// Name in recipes.
    pub name: &'static str,
    /// Another name accepted in its place.
    pub alias: Option<&'static str>,
    /// One line.
    pub description: &'static str,
    /// The textual form of its arguments, after the name: words, parameters as `{name}`, pairs of them in one word such
    /// as `{factor}*{outer}`, which repeats where they are lists, and optional parts in brackets.
    pub syntax: &'static str,
    /// Parameters in their JSON order.
    pub parameters: &'static [Parameter],
    /// What a search may vary.
    pub variation: Option<Variation>,
    /// Whether the step renumbers loops and statements.
    pub renumbers: bool,
}

/// A number that a search may double and halve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variation {
    /// Name of the parameter.
    pub parameter: &'static str,
    /// The least value to try.
    pub least: i64,
    /// The greatest value to try.
    pub most: i64,
    /// A title for the change, with names of parameters in braces.
    pub title: &'static str,
}

impl TransformationInfo {
    /// Its entry in help texts: the syntax, what it does, and its arguments.
    pub fn help(&self) -> String {
        let mut text = format!("{} {}", self.name, self.syntax).trim_end().to_owned();
        text.push_str(&format!("\n    {}\n", self.description));
        for parameter in self.parameters {
            text.push_str(&format!("      {}: {}\n", parameter.name, parameter.kind.asks_for()));
        }
        text
    }

    /// A row without an alias, without variations, that keeps ids.
    pub(crate) const fn plain(
        name: &'static str,
        description: &'static str,
        syntax: &'static str,
        parameters: &'static [Parameter],
    ) -> Self {
        Self { name, alias: None, description, syntax, parameters, variation: None, renumbers: false }
    }

    pub(crate) const fn alias(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }

    pub(crate) const fn renumbers(self) -> Self {
        Self { renumbers: true, ..self }
    }

    pub(crate) const fn varied(
        self,
        parameter: &'static str,
        (least, most): (i64, i64),
        title: &'static str,
    ) -> Self {
        Self { variation: Some(Variation { parameter, least, most, title }), ..self }
    }

    /// The position of a parameter.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|p| p.name == name)
    }
}

/// Conversion of a step's parameters to and from values; implemented by [`step!`].
pub(crate) trait Parameters: Sized {
    const INFO: TransformationInfo;

    fn arguments(&self) -> Vec<Argument>;

    /// `None` if the arguments do not match the parameters.
    fn from_arguments(arguments: &[Argument]) -> Option<Self>;
}

/// The edit that a step performs. Legality is decided elsewhere.
pub(crate) trait Step: Parameters {
    /// Edits the schedule. The arguments have been checked against their kinds.
    ///
    /// # Errors
    /// Why the step does not fit.
    fn edit(&self, schedule: &mut Schedule, policy: Policy) -> Result<(), Reason>;
}

/// Declares a step's parameters: the struct of them, and their names and kinds for the registry.
macro_rules! step {
    (
        $(#[$doc:meta])*
        $step:ident: $name:literal, $description:literal, $syntax:literal $(, .$more:ident($($how:tt)*))* ;
        $(
            $(#[$field_doc:meta])*
            $field:ident $(as $key:literal)?: $ty:ty = $kind:expr,
        )*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $step {
            $($(#[$field_doc])* pub $field: $ty,)*
        }

        impl $crate::steps::registry::Parameters for $step {
            const INFO: $crate::steps::registry::TransformationInfo =
                $crate::steps::registry::TransformationInfo::plain($name, $description, $syntax, &[
                    $($crate::steps::registry::Parameter {
                        name: $crate::steps::registry::key!($field $($key)?),
                        alias: stringify!($field),
                        kind: $kind,
                    },)*
                ])$(.$more($($how)*))*;

            fn arguments(&self) -> Vec<$crate::steps::argument::Argument> {
                vec![$($crate::steps::argument::Value::to_argument(&self.$field),)*]
            }

            fn from_arguments(arguments: &[$crate::steps::argument::Argument]) -> Option<Self> {
                let [$($field,)*] = arguments else { return None };
                $(let $field = $crate::steps::argument::Value::from_argument($field)?;)*
                Some(Self { $($field,)* })
            }
        }
    };
}

macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

pub(crate) use {key, step};
