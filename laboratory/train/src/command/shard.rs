//! Parts of a set of nests.

use std::collections::BTreeMap;
use std::str::FromStr;

/// One of several parts of about equal size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) if index < count => Ok(Self { index, count }),
            _ => Err("a shard is I/N with I from 0 to N - 1".into()),
        }
    }
}

impl Shard {
    /// Its items, in order; those of one group stay together.
    pub(crate) fn of<T>(self, items: Vec<T>, group: impl Fn(&T) -> &str) -> Vec<T> {
        let mut groups = BTreeMap::new();
        let mut number = |group: &str| {
            let next = groups.len();
            *groups.entry(group.to_owned()).or_insert(next)
        };
        items.into_iter().filter(|item| number(group(item)) % self.count == self.index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_divide_everything_by_groups() {
        let items = || vec!["a1", "a2", "b1", "c1", "b2"];
        let of = |text: &str| text.parse::<Shard>().unwrap().of(items(), |item| &item[..1]);
        assert_eq!(of("0/2"), ["a1", "a2", "c1"]);
        assert_eq!(of("1/2"), ["b1", "b2"]);
        assert_eq!(of("0/1"), items());
        assert!("2/2".parse::<Shard>().is_err() && "half".parse::<Shard>().is_err());
    }
}
