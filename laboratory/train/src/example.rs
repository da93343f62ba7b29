//! Nests as training examples: graphs and known responses.

use crate::versions::Versions;
use oxeye_dataset::nest::{Family, GeneratedNest, symbol_values};
use oxeye_dataset::record::{Record, Status};
use oxeye_embed::{HostVector, NestGraph, ProfileVector, graph};
use oxeye_ir::{Program, SymId};
use oxeye_transform::{Policy, normalize_nest};
use std::collections::BTreeMap;

/// Slowdowns are cut to this power of two: how bad a bad schedule is does not matter.
pub const WORST: f64 = -4.0;

/// One nest to learn from.
#[derive(Clone, Debug)]
pub struct Example {
    /// Of the nest.
    pub id: String,
    /// Spellings of one computation share it.
    pub group: String,
    /// Of the nest.
    pub family: Family,
    /// Without a profile.
    pub graph: NestGraph,
    /// The profile of a run.
    pub profile: ProfileVector,
    /// log2 of each template's speedup over the original nest, if it was timed.
    pub log_speedups: Vec<Option<f32>>,
    /// The features of each template's schedule, if it was timed; the first is the original nest.
    pub versions: Versions,
    /// Whether each template applies, if known.
    pub applicable: Vec<Option<bool>>,
    /// log10 of seconds of the original nest.
    pub log_seconds: Option<f32>,
    /// log10 of GFLOP/s of the original nest, if it has floating-point operations.
    pub log_gflops: Option<f32>,
}

/// An example could not be made of a nest.
#[derive(Debug, thiserror::Error)]
#[error("nest {id}: {what}")]
pub struct ExampleError {
    /// Of the nest.
    pub id: String,
    /// Why.
    pub what: String,
}

impl Example {
    /// The example of a measured nest and its versions; `None` if it has no measurements.
    ///
    /// # Errors
    /// If its text is not a program, or has no graph.
    pub fn of(record: &Record, versions: &Versions) -> Result<Option<Self>, ExampleError> {
        let Some(seconds) = record.subject_seconds() else { return Ok(None) };
        let nest = &record.nest;
        let graph = graph_of(&nest.id, &record.subject, &nest.sizes, &record.host)?;
        let gflops = (record.flops > 0.0).then(|| record.flops / seconds * 1e-9);
        let profile = ProfileVector { seconds: Some(seconds), gflops, ..ProfileVector::default() };
        let speedup = |s: Option<f64>| s.map(|s| s.max(WORST) as f32);
        let applicable = |status| match status {
            Status::Timed | Status::TimedOut => Some(true),
            Status::Inapplicable => Some(false),
            _ => None,
        };
        Ok(Some(Self {
            id: nest.id.clone(),
            group: nest.group.clone(),
            family: nest.family,
            graph,
            profile,
            versions: versions.clone(),
            log_speedups: record.log_speedups().into_iter().map(speedup).collect(),
            applicable: record.panel.iter().map(|r| applicable(r.status)).collect(),
            log_seconds: Some(seconds.log10() as f32),
            log_gflops: gflops.map(|g| g.log10() as f32),
        }))
    }

    /// The example of a nest that was not measured: its time is the estimate by which its sizes were chosen.
    ///
    /// # Errors
    /// If its text is not a program, or has no graph.
    pub fn unlabelled(
        nest: &GeneratedNest,
        host: &HostVector,
        n_templates: usize,
    ) -> Result<Self, ExampleError> {
        let error = |what: String| ExampleError { id: nest.id.clone(), what };
        let (program, body) = nest.parse().map_err(|e| error(e.to_string()))?;
        let normal = normalize_nest(&program, &body, Policy { reassociate: true, finite: false });
        let values = symbol_values(&normal.program, &nest.sizes);
        let value_of = |s: SymId| values.get(&s).copied();
        let graph =
            graph(&normal.program, &normal.nest, &value_of, host).map_err(|e| error(e.to_string()))?;
        Ok(Self {
            id: nest.id.clone(),
            group: nest.group.clone(),
            family: nest.family,
            graph,
            profile: ProfileVector::default(),
            log_speedups: vec![None; n_templates],
            versions: vec![None; n_templates],
            applicable: vec![None; n_templates],
            log_seconds: Some(nest.estimated_seconds.max(1e-9).log10() as f32),
            log_gflops: None,
        })
    }
}

fn graph_of(
    id: &str,
    text: &str,
    sizes: &BTreeMap<String, i64>,
    host: &HostVector,
) -> Result<NestGraph, ExampleError> {
    let error = |what: String| ExampleError { id: id.to_owned(), what };
    let program = Program::parse(text).map_err(|e| error(e.to_string()))?;
    let nest = program.nests.values().next().ok_or_else(|| error("it has no nest".into()))?;
    let values = symbol_values(&program, sizes);
    graph(&program, nest, &|s| values.get(&s).copied(), host).map_err(|e| error(e.to_string()))
}

/// The distance of the responses of two nests: the root mean square difference of log2 speedups over the templates that
/// both were timed with; a template that applies to only one of them counts as a factor of two.
pub fn response_distance(a: &Example, b: &Example) -> Option<f32> {
    let (mut sum, mut n) = (0.0f32, 0);
    for t in 1..a.log_speedups.len().min(b.log_speedups.len()) {
        match (a.log_speedups[t], b.log_speedups[t], a.applicable[t], b.applicable[t]) {
            (Some(x), Some(y), ..) => sum += (x - y).powi(2),
            (_, _, Some(x), Some(y)) if x != y => sum += 1.0,
            _ => continue,
        }
        n += 1;
    }
    (n > 0).then(|| (sum / n as f32).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;
    use oxeye_dataset::testing::record;

    #[test]
    fn records_become_examples() {
        let first = record(0);
        let example = example(0);
        assert_eq!(example.log_speedups.len(), first.panel.len());
        assert_eq!(example.log_speedups[0], Some(0.0));
        assert!(example.applicable.contains(&Some(false)));
        assert!(example.log_speedups.iter().flatten().all(|s| f64::from(*s) >= WORST));
        let mut failed = record(1);
        failed.panel.clear();
        assert!(Example::of(&failed, &Vec::new()).unwrap().is_none());
    }

    #[test]
    fn distance_is_that_of_responses() {
        let (a, b) = (example(0), example(1));
        assert_eq!(response_distance(&a, &a), Some(0.0));
        assert_eq!(response_distance(&a, &b), response_distance(&b, &a));
        assert!(response_distance(&a, &b).unwrap() > 0.1);
    }
}
