//! Nests of the recipe database that are like this one, with all that was tried on them.

use super::machines;
use crate::knowledge::{NestDescription, UnreadableRecipe, hand_made_of, static_vector, stored_recipe};
use crate::parallel;
use crate::random::Rng;
use crate::request::DonorSearch;
use oxeye_analysis::NestKind;
use oxeye_database::{
    Context, DatabaseError, Entry, EntryId, Filter, NewEntry, NodeEmbedding, NormalForm, RecipeStore, Verdict,
};
use oxeye_embed::{HostVector, NodeKind};
use oxeye_ir::Program;
use oxeye_transform::StoredRecipe;
use std::collections::BTreeSet;

/// How many nests recipes are taken from, besides those of the same normal form.
pub(crate) const MOST_DONORS: usize = 8;
/// What a recipe that failed is taken to have gained: a factor of four lost, log2.
const FAILED: f64 = -2.0;

/// A nest of the database.
#[derive(Clone, Debug)]
pub struct Donor {
    /// The entry that stands for it: that of the greatest gain.
    pub id: EntryId,
    /// Hash of its normal form.
    pub hash: String,
    /// Text of its normal form.
    pub text: String,
    /// How far it is from this nest; 0 if it has the same normal form, `None` if nobody asked.
    pub distance: Option<f64>,
    /// Whether it has the same normal form.
    pub exact: bool,
    /// How much it is like this nest, from 0 to 1: the cosine of the angle between the embeddings, 0 for an obtuse one.
    /// `None` if donors were not found by embeddings.
    pub likeness: Option<f64>,
    /// What it computes.
    pub kind: NestKind,
    /// Its loops.
    pub n_loops: usize,
    /// Where it lies, if its vectors are of the space that was asked for: with its profile, if it has one.
    pub vector: Vec<f32>,
    /// Its loops and statements as vectors of that space.
    pub nodes: Vec<NodeEmbedding>,
    /// What was tried on it, greatest gain first.
    pub trials: Vec<DonorTrial>,
}

/// What was tried on a donor, and what came of it.
#[derive(Clone, Debug)]
pub struct DonorTrial {
    /// The entry.
    pub id: EntryId,
    /// The recipe, or why it cannot be read.
    pub recipe: Result<StoredRecipe, UnreadableRecipe>,
    /// log2 of its speedup; of a loss where it failed.
    pub log_gain: f64,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// How much the circumstances were like those of this run, from 0 to 1.
    pub likeness: f64,
    /// The machine, if it was another one.
    pub machine: Option<String>,
}

/// Finds donors.
pub(crate) struct DonorFinder<'a> {
    pub(crate) store: &'a dyn RecipeStore,
    /// Where and how this run measures.
    pub(crate) context: &'a Context,
    pub(crate) host: &'a HostVector,
    /// Of random choices.
    pub(crate) seed: u64,
}

impl DonorFinder<'_> {
    /// The donors of a nest: those of the same normal form first, then the nearest.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub(crate) fn find(&self, nest: &NestDescription, how: DonorSearch) -> Result<Vec<Donor>, DatabaseError> {
        let own = &nest.form.hash;
        let near = match how {
            DonorSearch::None => return Ok(Vec::new()),
            DonorSearch::Random => return self.random(own),
            DonorSearch::Embedding => self.nearest(nest)?,
            DonorSearch::Static => {
                let vector = |entry: &Entry| {
                    let embedding = entry.content.embedding.as_ref();
                    let embedding = embedding.filter(|embedding| embedding.space == *nest.space());
                    embedding.and_then(static_vector)
                };
                nearest(self.vectors(own, vector)?, &nest.embedding.nest)
            }
            DonorSearch::HandMade => self.hand_made(nest)?,
        };
        let is_embedded = matches!(how, DonorSearch::Embedding | DonorSearch::Static);
        let mut donors = Vec::new();
        donors.extend(self.donor(own, Some(0.0), true, nest)?);
        for (hash, distance) in near {
            let likeness = is_embedded.then(|| (1.0 - distance * distance / 2.0).max(0.0));
            let donor = self.donor(&hash, Some(distance), false, nest)?;
            donors.extend(donor.map(|donor| Donor { likeness, ..donor }));
        }
        Ok(donors)
    }

    fn nearest(&self, nest: &NestDescription) -> Result<Vec<(String, f64)>, DatabaseError> {
        let filter = Filter {
            one_per_nest: true,
            exclude_hashes: BTreeSet::from([nest.form.hash.clone()]),
            ..Filter::default()
        };
        let found = self.store.nearest(&nest.stored(), MOST_DONORS, &filter)?;
        Ok(found
            .into_iter()
            .map(|(entry, distance)| (entry.content.nest.hash, f64::from(distance)))
            .collect())
    }

    /// The nearest by hand-made features, each in units of its spread over the database.
    fn hand_made(&self, nest: &NestDescription) -> Result<Vec<(String, f64)>, DatabaseError> {
        let vector = |entry: &Entry| hand_made_of(&entry.content.nest.text, &entry.content.sizes, self.host);
        let mut known = self.vectors(&nest.form.hash, vector)?;
        let Some(mut to) = hand_made_of(&nest.form.text, &nest.sizes, self.host) else {
            return Ok(Vec::new());
        };
        for k in 0..to.len() {
            let values: Vec<f64> = known.iter().map(|(_, vector)| f64::from(vector[k])).collect();
            let spread = spread(&values).max(1e-3) as f32;
            known.iter_mut().map(|(_, vector)| &mut vector[k]).chain([&mut to[k]]).for_each(|x| *x /= spread);
        }
        Ok(nearest(known, &to))
    }

    /// A vector for every nest but one, made of its first entry, by their hashes.
    fn vectors(
        &self,
        own: &str,
        vector: impl Fn(&Entry) -> Option<Vec<f32>> + Sync,
    ) -> Result<Vec<(String, Vec<f32>)>, DatabaseError> {
        let mut nests = self.store.nests()?;
        nests.retain(|entry| entry.content.nest.hash != own);
        // What cannot be looked at without a panic is left out, like what has no vector.
        let vectors = parallel::map(&nests, vector).into_iter().map(|vector| vector.ok().flatten());
        let known = nests.into_iter().zip(vectors);
        Ok(known.filter_map(|(entry, vector)| Some((entry.content.nest.hash, vector?))).collect())
    }

    /// Any nests but those of the same normal form.
    fn random(&self, own: &str) -> Result<Vec<Donor>, DatabaseError> {
        let mut hashes: Vec<String> = self.store.nests()?.into_iter().map(|e| e.content.nest.hash).collect();
        hashes.retain(|hash| hash != own);
        // Another nest draws others.
        let bits = own.bytes().fold(self.seed, |h, b| h.wrapping_mul(0x100_0000_01b3) ^ u64::from(b));
        let mut rng = Rng::new(bits);
        let mut donors = Vec::new();
        while donors.len() < MOST_DONORS && !hashes.is_empty() {
            let hash = hashes.swap_remove(rng.below(hashes.len()));
            donors.extend(self.gather(&hash, None, false, &|_| true)?);
        }
        Ok(donors)
    }

    fn donor(
        &self,
        hash: &str,
        distance: Option<f64>,
        exact: bool,
        nest: &NestDescription,
    ) -> Result<Option<Donor>, DatabaseError> {
        self.gather(hash, distance, exact, &|embedding| embedding.space == *nest.space())
    }

    /// Everything that is known of one nest; `None` if that is nothing.
    fn gather(
        &self,
        hash: &str,
        distance: Option<f64>,
        exact: bool,
        comparable: &dyn Fn(&oxeye_database::Embedding) -> bool,
    ) -> Result<Option<Donor>, DatabaseError> {
        let entries = self.store.exact(hash, self.context)?;
        let Some(text) = entries.first().map(|entry| entry.content.nest.text.clone()) else {
            return Ok(None);
        };
        let mut embeddings = entries.iter().filter_map(|entry| entry.content.embedding.as_ref());
        let embedding = embeddings.find(|embedding| comparable(embedding));
        let (vector, nodes) = embedding.map(|e| (e.nest.clone(), e.nodes.clone())).unwrap_or_default();
        let mut trials: Vec<DonorTrial> = entries.iter().map(|entry| self.trial(entry)).collect();
        // Stable: of equal gains the one from more similar circumstances comes first.
        trials.sort_by(|a, b| b.log_gain.total_cmp(&a.log_gain));
        let id = trials.first().map_or(entries[0].id, |trial| trial.id);
        let (kind, n_loops) = described(&text, &nodes);
        let likeness = exact.then_some(1.0);
        let hash = hash.to_owned();
        Ok(Some(Donor { id, hash, text, distance, exact, likeness, kind, n_loops, vector, nodes, trials }))
    }

    fn trial(&self, entry: &Entry) -> DonorTrial {
        let content = &entry.content;
        let failure = match &content.verdict {
            Verdict::Failed(why) => Some(why.clone()),
            _ => None,
        };
        let log_gain = match content.speedup() {
            Some(speedup) if failure.is_none() => speedup.log2(),
            _ => FAILED,
        };
        DonorTrial {
            id: entry.id,
            recipe: stored_recipe(&content.recipe),
            log_gain,
            failure,
            likeness: self.likeness(content),
            machine: (!self.is_here(&content.context)).then(|| content.context.host_key.clone()),
        }
    }

    fn is_here(&self, theirs: &Context) -> bool {
        theirs.host_key == self.context.host_key
    }

    /// What was found on another machine counts less the less that is like this one, and so does what was found with other
    /// threads or under another policy.
    fn likeness(&self, trial: &NewEntry) -> f64 {
        let (ours, theirs) = (self.context, &trial.context);
        let machine = match self.is_here(theirs) {
            true => 1.0,
            false => machines::likeness(self.host, &trial.host_summary),
        };
        let factors = [
            (theirs.threads == ours.threads, 0.5),
            (theirs.policy == ours.policy, 0.8),
            (theirs.compiler == ours.compiler, 0.9),
        ];
        factors
            .into_iter()
            .filter(|(alike, _)| !alike)
            .map(|(_, factor)| factor)
            .fold(machine, |all, one| all * one)
    }
}

/// What a stored normal form computes, and with how many loops; where it was not shared, its vectors still tell how many.
fn described(text: &str, nodes: &[NodeEmbedding]) -> (NestKind, usize) {
    let program = Program::parse(text).ok();
    let nest = program.as_ref().and_then(|program| program.nests.values().next());
    let n_loops = nodes.iter().filter(|node| node.kind == NodeKind::Loop.name()).count();
    nest.map_or((NestKind::Other, n_loops), |nest| (NestKind::of(nest), nest.loops().len()))
}

/// What a nest is, for people: `a stencil of 6 loops, 68 % alike`, or `the same nest`.
pub(crate) fn in_words(kind: &str, n_loops: usize, likeness: Option<f64>, exact: bool) -> String {
    if exact {
        return "the same nest".into();
    }
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let plural = if n_loops == 1 { "" } else { "s" };
    // Near is not the same: no figure is rounded up to all of it.
    let alike = likeness.map(|likeness| format!(", {:.0} % alike", (100.0 * likeness).floor().min(99.0)));
    format!("{article} {kind} of {n_loops} loop{plural}{}", alike.unwrap_or_default())
}

impl Donor {
    /// The same for people: `a stencil of 6 loops, 68 % alike`.
    pub fn in_words(&self) -> String {
        in_words(self.kind.name(), self.n_loops, self.likeness, self.exact)
    }

    /// What it is, for people: `a stencil of 6 loops`.
    pub fn what(&self) -> String {
        in_words(self.kind.name(), self.n_loops, None, self.exact)
    }

    /// What it is, in a few words: `s12, 3 loops, 1 statement`.
    pub fn label(&self) -> String {
        if self.exact {
            return format!("{}, the same nest", self.id);
        }
        let n_stmts = match self.text == NormalForm::WITHHELD {
            true => self.nodes.iter().filter(|node| node.kind == NodeKind::Stmt.name()).count(),
            false => self.text.lines().filter(|line| line.trim_start().starts_with('S')).count(),
        };
        let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        format!("{}, {}, {}", self.id, plural(self.n_loops, "loop"), plural(n_stmts, "statement"))
    }
}

/// The nearest of some vectors, with their distances; of equally near ones the first.
fn nearest(known: Vec<(String, Vec<f32>)>, to: &[f32]) -> Vec<(String, f64)> {
    let known = known.into_iter();
    let mut found: Vec<(String, f64)> =
        known.filter_map(|(hash, vector)| Some((hash, distance(to, &vector)?))).collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    found.truncate(MOST_DONORS);
    found
}

/// The standard deviation.
fn spread(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// The Euclidean distance of two vectors, if they have one length.
fn distance(a: &[f32], b: &[f32]) -> Option<f64> {
    let square = |(a, b): (&f32, &f32)| f64::from(a - b).powi(2);
    (a.len() == b.len()).then(|| a.iter().zip(b).map(square).sum::<f64>().sqrt())
}
