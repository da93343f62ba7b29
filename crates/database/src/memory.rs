//! A store that lasts as long as the process.

use crate::store::{self, Weight};
use crate::{
    AddOutcome, Addition, Change, Context, DatabaseError, Embedding, Entries, Entry, EntryId, Filter,
    NormalForm, Order, RecipeStore,
};
use std::collections::BTreeMap;

/// Entries in a list, searched one by one: for tests, and for runs that leave no trace.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    /// Entry `k` has the id `k + 1`.
    entries: Vec<Entry>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn position(&self, id: EntryId) -> Option<usize> {
        let EntryId::Own(number) = id else { return None };
        let position = usize::try_from(number.checked_sub(1)?).ok()?;
        (position < self.entries.len()).then_some(position)
    }

    fn check(&self, batch: &[Addition]) -> Result<(), DatabaseError> {
        let old = self.entries.iter().map(|e| &e.content.nest);
        let mut texts: BTreeMap<&str, &str> = old.map(|n| (n.hash.as_str(), n.text.as_str())).collect();
        for (position, addition) in batch.iter().enumerate() {
            addition.content.validate()?;
            let nest = &addition.content.nest;
            let known = texts.entry(&nest.hash).or_insert(&nest.text);
            if !NormalForm::agree(known, &nest.text) {
                return Err(DatabaseError::Conflict { position, hash: nest.hash.clone() });
            }
            if *known == NormalForm::WITHHELD {
                *known = &nest.text;
            }
        }
        Ok(())
    }

    fn put_one(&mut self, addition: &Addition) -> AddOutcome {
        let mut new = addition.content.clone();
        // One text for all entries of a nest, as soon as anyone has shared it.
        let mut of_nest = self.entries.iter_mut().filter(|e| e.content.nest.hash == new.nest.hash).peekable();
        if let (Some(known), NormalForm::WITHHELD) = (of_nest.peek(), new.nest.text.as_str()) {
            new.nest.text.clone_from(&known.content.nest.text);
        }
        of_nest.for_each(|e| e.content.nest.text.clone_from(&new.nest.text));
        let new = &new;
        let Some(old) = self.entries.iter_mut().find(|e| e.content.identity() == new.identity()) else {
            let id = EntryId::Own(self.entries.len() as u64 + 1);
            self.entries.push(Entry { id, n_added: addition.count.after(0), content: new.clone() });
            return AddOutcome { id, change: Change::Inserted };
        };
        old.n_added = addition.count.after(old.n_added);
        if Weight::of(new) > Weight::of(&old.content) {
            let embedding = old.content.embedding.take();
            old.content = new.clone();
            old.content.embedding = old.content.embedding.take().or(embedding);
            AddOutcome { id: old.id, change: Change::Replaced }
        } else {
            old.content.embedding = old.content.embedding.take().or_else(|| new.embedding.clone());
            AddOutcome { id: old.id, change: Change::Kept }
        }
    }
}

impl RecipeStore for MemoryStore {
    fn n_entries(&self) -> Result<u64, DatabaseError> {
        Ok(self.entries.len() as u64)
    }

    fn get(&self, id: EntryId) -> Result<Option<Entry>, DatabaseError> {
        Ok(self.position(id).map(|position| self.entries[position].clone()))
    }

    fn exact(&self, hash: &str, context: &Context) -> Result<Vec<Entry>, DatabaseError> {
        let mut found: Vec<Entry> =
            self.entries.iter().filter(|e| e.content.nest.hash == hash).cloned().collect();
        store::sort_exact(&mut found, context);
        Ok(found)
    }

    fn nearest(&self, to: &Embedding, k: usize, filter: &Filter) -> Result<Vec<(Entry, f32)>, DatabaseError> {
        to.validate()?;
        let hits = self.entries.iter().filter_map(|entry| {
            let embedding = entry.content.embedding.as_ref()?;
            let comparable = embedding.space == to.space && embedding.nest.len() == to.nest.len();
            let distance = comparable.then(|| store::distance(&to.nest, &embedding.nest))?;
            filter.admits(&entry.content, distance).then(|| (entry.clone(), distance))
        });
        Ok(store::rank(hits.collect(), k, filter.one_per_nest))
    }

    fn nests(&self) -> Result<Vec<Entry>, DatabaseError> {
        let mut first: BTreeMap<&str, &Entry> = BTreeMap::new();
        for entry in &self.entries {
            first.entry(&entry.content.nest.hash).or_insert(entry);
        }
        Ok(first.into_values().cloned().collect())
    }

    fn entries(&self, order: Order) -> Entries<'_> {
        let entries = self.entries.iter().cloned().map(Ok);
        match order {
            Order::OldestFirst => Box::new(entries),
            Order::NewestFirst => Box::new(entries.rev()),
        }
    }

    fn put(&mut self, batch: &[Addition]) -> Result<Vec<AddOutcome>, DatabaseError> {
        self.check(batch)?;
        Ok(batch.iter().map(|addition| self.put_one(addition)).collect())
    }

    fn set_embedding(&mut self, id: EntryId, embedding: Embedding) -> Result<(), DatabaseError> {
        embedding.validate()?;
        let position = self.position(id).ok_or(DatabaseError::NoSuchEntry { id })?;
        self.entries[position].content.embedding = Some(embedding);
        Ok(())
    }
}
