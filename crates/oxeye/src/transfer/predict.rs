//! What the encoder thinks that a schedule would gain.

use crate::knowledge::NestDescription;
use oxeye_embed::{Encoder, HostVector, ScheduleFeatures, schedule_features};
use oxeye_ir::{Nest, Program, SymId};
use oxeye_transform::Applied;
use oxeye_transform::templates::{PANEL_VERSION, Template};

/// Predictions for the schedules of one nest.
pub(crate) trait Predict: Sync {
    /// log2 of the speedup over the nest as it is of what templates, if any, make of it; `None` where nothing can be said.
    fn log_speedup(&self, templates: &[Template], applied: &Applied) -> Option<f64>;
}

/// The encoder's word on schedules of a nest.
pub(crate) struct ByEncoder<'a> {
    encoder: &'a Encoder,
    embedding: &'a oxeye_embed::Embedding,
    before: ScheduleFeatures,
    value_of: &'a (dyn Fn(SymId) -> Option<i64> + Sync),
    host: &'a HostVector,
}

impl<'a> ByEncoder<'a> {
    /// For a nest as it stands in its source; `None` for an encoder that was not trained.
    pub(crate) fn of(
        encoder: &'a Encoder,
        nest: &'a NestDescription,
        source: (&Program, &Nest),
        value_of: &'a (dyn Fn(SymId) -> Option<i64> + Sync),
        host: &'a HostVector,
    ) -> Option<Self> {
        // Weights that never saw the panel are random numbers.
        if encoder.info().panel_version != PANEL_VERSION.to_string() {
            return None;
        }
        let before = schedule_features(source.0, source.1, value_of, host);
        Some(Self { encoder, embedding: &nest.embedding, before, value_of, host })
    }
}

impl Predict for ByEncoder<'_> {
    fn log_speedup(&self, _: &[Template], applied: &Applied) -> Option<f64> {
        let Applied { program, nest, .. } = applied;
        let after = schedule_features(program, nest, self.value_of, self.host);
        let speedups = self.encoder.speedups(self.embedding, &self.before, &[after]).ok()?;
        speedups.first().copied().map(f64::from)
    }
}
