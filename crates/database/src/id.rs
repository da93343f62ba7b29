//! Ids of entries.

use std::fmt;
use std::str::FromStr;

/// The id of an entry. Ids of entries of a server are printed with a `t`, as of a team: `t12`; those shipped with Oxeye with an `s`:
/// `s12`. The user's own sort first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryId {
    /// In the user's own file, or the only one there is.
    Own(u64),
    /// On a server, where there is a file of the user's own as well.
    Shared(u64),
    /// In the default database.
    Shipped(u64),
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EntryId::Own(number) => write!(f, "{number}"),
            EntryId::Shared(number) => write!(f, "t{number}"),
            EntryId::Shipped(number) => write!(f, "s{number}"),
        }
    }
}

impl FromStr for EntryId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, id): (_, fn(u64) -> EntryId) = match text.chars().next() {
            Some('s') => (&text[1..], EntryId::Shipped),
            Some('t') => (&text[1..], EntryId::Shared),
            _ => (text, EntryId::Own),
        };
        match digits.parse() {
            Ok(number) if digits.bytes().all(|b| b.is_ascii_digit()) => Ok(id(number)),
            _ => Err(format!("`{text}` is not the number of an entry, such as 12 or s12")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_shown() {
        for id in [EntryId::Own(12), EntryId::Shared(7), EntryId::Shipped(3)] {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for wrong in ["", "s", "t", "st1", "-1", "+1", "12x", "99999999999999999999"] {
            assert!(wrong.parse::<EntryId>().is_err(), "{wrong}");
        }
    }
}
