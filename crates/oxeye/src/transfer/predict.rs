//! What the encoder thinks that a schedule would gain.

use crate::NestDescription;
use oxeye_embed::{Encoder, HostVector, ScheduleFeatures, schedule_features};
use oxeye_ir::{Nest, Program, SymId};

/// Predictions for the schedules of one nest.
pub(crate) trait Predict: Sync {
    /// log2 of the speedup over the nest as it is of a transformed nest; `None` where nothing can be said.
    fn log_speedup(&self, program: &Program, nest: &Nest) -> Option<f64>;
}

/// What the encoder says of schedules by their features.
pub(crate) struct BySchedule<'a> {
    encoder: &'a Encoder,
    description: &'a NestDescription,
    value_of: &'a (dyn Fn(SymId) -> Option<i64> + Sync),
    host: &'a HostVector,
    before: ScheduleFeatures,
}

impl<'a> BySchedule<'a> {
    /// For schedules of `nest`, which stands in `program`.
    pub(crate) fn of(
        encoder: &'a Encoder,
        description: &'a NestDescription,
        program: &Program,
        nest: &Nest,
        value_of: &'a (dyn Fn(SymId) -> Option<i64> + Sync),
        host: &'a HostVector,
    ) -> Self {
        let before = schedule_features(program, nest, value_of, host);
        Self { encoder, description, value_of, host, before }
    }
}

impl Predict for BySchedule<'_> {
    fn log_speedup(&self, program: &Program, nest: &Nest) -> Option<f64> {
        let after = schedule_features(program, nest, self.value_of, self.host);
        let gains = self.encoder.speedups(&self.description.embedding, &self.before, &[after]).ok()?;
        gains.first().map(|gain| f64::from(*gain))
    }
}
