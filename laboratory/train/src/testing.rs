//! Examples for tests.

use crate::example::Example;
use oxeye_dataset::nest::symbol_values;
use oxeye_dataset::record::Response;
use oxeye_dataset::testing::record;
use oxeye_embed::{ScheduleFeature, schedule_features};
use oxeye_ir::{Program, SymId};

/// An example of a made-up record, with made-up versions that contain its times.
pub(crate) fn example(k: usize) -> Example {
    let record = record(k);
    let program = Program::parse(&record.subject).unwrap();
    let values = symbol_values(&program, &record.nest.sizes);
    let value_of = |s: SymId| values.get(&s).copied();
    let nest = program.nests.values().next().unwrap();
    let before = schedule_features(&program, nest, &value_of, &record.host);
    let version = |response: &Response| {
        let mut version = before;
        for feature in
            [ScheduleFeature::Seconds, ScheduleFeature::SecondsInTurn, ScheduleFeature::CoreSeconds]
        {
            version.set(feature, response.seconds?);
        }
        Some(version)
    };
    let versions = record.panel.iter().map(version).collect();
    Example::of(&record, &versions).unwrap().unwrap()
}
