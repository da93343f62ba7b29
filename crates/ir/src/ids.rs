//! Typed ids. Each prints exactly as in the textual form.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::IrError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.strip_prefix($prefix)
                    .and_then(|digits| digits.parse().ok())
                    .map(Self)
                    .ok_or_else(|| crate::IrError::BadId { text: text.to_owned(), expected: concat!($prefix, "<number>") })
            }
        }
    };
}

id!(
    /// A loop of a nest; unique inside its nest.
    LoopId, "L"
);
id!(
    /// A statement of a nest; unique inside its nest.
    StmtId, "S"
);
id!(
    /// An array (or scalar, a 0-dimensional array) of a program.
    ArrayId, "A"
);
id!(
    /// A symbol: an integer that is constant in every nest of the program.
    SymId, "P"
);
id!(
    /// A loop nest of a program.
    NestId, "N"
);
