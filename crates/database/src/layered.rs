//! The user's own store in front of others.

use crate::{
    AddOutcome, Addition, Context, DatabaseError, Embedding, Entries, Entry, EntryId, Filter, Order,
    RecipeStore, store,
};
use std::collections::HashSet;

/// Two stores as one: additions go to the upper, reads come from both. An entry of the upper store hides the one of the
/// lower store with the same identity. What is the lower store's own has ids of another kind here.
pub struct Layered<U, L> {
    upper: U,
    lower: L,
    /// The kind of ids of what is the lower store's own.
    kind: fn(u64) -> EntryId,
}

impl<U: RecipeStore, L: RecipeStore> Layered<U, L> {
    /// The user's own store over a default, which is never written.
    pub fn new(upper: U, lower: L) -> Self {
        Self { upper, lower, kind: EntryId::Shipped }
    }

    /// The user's own store over one that is shared, which is not written, and may itself have others below it.
    pub fn over_shared(upper: U, lower: L) -> Self {
        Self { upper, lower, kind: EntryId::Shared }
    }

    /// An entry of the lower store as one of both.
    fn of_lower(kind: fn(u64) -> EntryId, mut entry: Entry) -> Entry {
        if let EntryId::Own(number) = entry.id {
            entry.id = kind(number);
        }
        entry
    }

    /// The user's own store.
    pub fn upper(&self) -> &U {
        &self.upper
    }
}

impl<U: RecipeStore, L: RecipeStore> RecipeStore for Layered<U, L> {
    /// Of both, hidden ones included.
    fn n_entries(&self) -> Result<u64, DatabaseError> {
        Ok(self.upper.n_entries()? + self.lower.n_entries()?)
    }

    fn get(&self, id: EntryId) -> Result<Option<Entry>, DatabaseError> {
        match id {
            EntryId::Own(_) => self.upper.get(id),
            EntryId::Shared(number) | EntryId::Shipped(number) => {
                let theirs = if (self.kind)(number) == id { EntryId::Own(number) } else { id };
                Ok(self.lower.get(theirs)?.map(|entry| Self::of_lower(self.kind, entry)))
            }
        }
    }

    /// Those of the upper store first.
    fn exact(&self, hash: &str, context: &Context) -> Result<Vec<Entry>, DatabaseError> {
        let upper = self.upper.exact(hash, context)?;
        let lower = self.lower.exact(hash, context)?;
        let own: HashSet<_> = upper.iter().map(|e| e.content.identity()).collect();
        let lower: Vec<Entry> = lower
            .into_iter()
            .filter(|e| !own.contains(&e.content.identity()))
            .map(|entry| Self::of_lower(self.kind, entry))
            .collect();
        Ok(upper.into_iter().chain(lower).collect())
    }

    fn nearest(&self, to: &Embedding, k: usize, filter: &Filter) -> Result<Vec<(Entry, f32)>, DatabaseError> {
        let upper = self.upper.nearest(to, k, filter)?;
        // As many more as the upper store may hide.
        let lower = self.lower.nearest(to, k.saturating_add(upper.len()), filter)?;
        let own: HashSet<_> = upper.iter().map(|(e, _)| e.content.identity()).collect();
        let lower: Vec<(Entry, f32)> = lower
            .into_iter()
            .filter(|(e, _)| !own.contains(&e.content.identity()))
            .map(|(entry, distance)| (Self::of_lower(self.kind, entry), distance))
            .collect();
        Ok(store::rank(upper.into_iter().chain(lower).collect(), k, filter.one_per_nest))
    }

    /// Those of the upper store hide those of the lower.
    fn nests(&self) -> Result<Vec<Entry>, DatabaseError> {
        let mut nests = self.upper.nests()?;
        let own: HashSet<String> = nests.iter().map(|e| e.content.nest.hash.clone()).collect();
        let lower = self.lower.nests()?.into_iter().filter(|e| !own.contains(&e.content.nest.hash));
        nests.extend(lower.map(|entry| Self::of_lower(self.kind, entry)));
        nests.sort_by(|a, b| a.content.nest.hash.cmp(&b.content.nest.hash));
        Ok(nests)
    }

    /// The lower store counts as the older.
    fn entries(&self, order: Order) -> Entries<'_> {
        let upper = self.upper.entries(order);
        let kind = self.kind;
        let lower = self.lower.entries(order).map(move |entry| Ok(Self::of_lower(kind, entry?)));
        match order {
            Order::OldestFirst => Box::new(lower.chain(upper)),
            Order::NewestFirst => Box::new(upper.chain(lower)),
        }
    }

    fn put(&mut self, batch: &[Addition]) -> Result<Vec<AddOutcome>, DatabaseError> {
        self.upper.put(batch)
    }

    fn set_embedding(&mut self, id: EntryId, embedding: Embedding) -> Result<(), DatabaseError> {
        self.upper.set_embedding(id, embedding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryStore, testing};

    fn layered() -> Layered<MemoryStore, MemoryStore> {
        let (mut upper, mut lower) = (MemoryStore::new(), MemoryStore::new());
        for recipe in [1, 2, 3] {
            lower.add(testing::entry(1, recipe)).expect("adds");
        }
        upper.add(testing::entry(1, 2)).expect("adds");
        upper.add(testing::entry(2, 1)).expect("adds");
        Layered::new(upper, lower)
    }

    fn ids(entries: impl IntoIterator<Item = Entry>) -> Vec<String> {
        entries.into_iter().map(|e| e.id.to_string()).collect()
    }

    #[test]
    fn the_users_own_come_first_and_hide_what_they_repeat() {
        let store = layered();
        let entry = testing::entry(1, 1);
        assert_eq!(ids(store.exact(&entry.nest.hash, &entry.context).expect("reads")), ["1", "s3", "s1"]);
        let embedding = entry.embedding.as_ref().expect("vectors");
        let near = store.nearest(embedding, 2, &Filter::default()).expect("reads");
        assert_eq!(ids(near.into_iter().map(|(e, _)| e)), ["1", "s1"]);
        let filter = Filter { one_per_nest: true, ..Filter::default() };
        let near = store.nearest(embedding, 5, &filter).expect("reads");
        assert_eq!(ids(near.into_iter().map(|(e, _)| e)), ["s3", "2"]);
    }

    #[test]
    fn every_number_leads_to_its_entry() {
        let store = layered();
        for order in [Order::OldestFirst, Order::NewestFirst] {
            let all: Vec<Entry> = store.entries(order).collect::<Result<_, _>>().expect("reads");
            assert_eq!(all.len() as u64, store.n_entries().expect("reads"));
            for entry in all {
                assert_eq!(store.get(entry.id).expect("reads"), Some(entry));
            }
        }
    }

    #[test]
    fn three_stores_are_told_apart() {
        let mut own = MemoryStore::new();
        own.add(testing::entry(1, 1)).expect("adds");
        own.add(testing::entry(4, 1)).expect("adds");
        let store = Layered::over_shared(own, layered());
        let entry = testing::entry(1, 1);
        assert_eq!(ids(store.exact(&entry.nest.hash, &entry.context).expect("reads")), ["1", "t1", "s3"]);
        for entry in store.entries(Order::OldestFirst) {
            let entry = entry.expect("reads");
            assert_eq!(store.get(entry.id).expect("reads"), Some(entry));
        }
    }

    #[test]
    fn every_nest_is_there_once() {
        let store = layered();
        assert_eq!(ids(store.upper.nests().expect("reads")), ["1", "2"]);
        let nests = store.nests().expect("reads");
        assert_eq!(ids(nests), ["1", "2"]);
        let mut lower = MemoryStore::new();
        lower.add(testing::entry(3, 1)).expect("adds");
        lower.add(testing::entry(3, 2)).expect("adds");
        assert_eq!(ids(Layered::new(store.upper, lower).nests().expect("reads")), ["1", "2", "s1"]);
    }

    #[test]
    fn only_the_upper_store_changes() {
        let mut store = layered();
        let outcome = store.add(testing::entry(1, 3)).expect("adds");
        assert_eq!(outcome.id, EntryId::Own(3));
        assert_eq!(store.lower.n_entries().expect("reads"), 3);
        let embedding = testing::entry(1, 1).embedding.expect("vectors");
        let refused = store.set_embedding(EntryId::Shipped(1), embedding);
        assert!(matches!(refused, Err(DatabaseError::NoSuchEntry { .. })));
    }
}
