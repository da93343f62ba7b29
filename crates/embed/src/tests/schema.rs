//! The lists of features and their transforms.

use crate::schema::{Feature, FeatureList, Transform};
use crate::table::feature_table;
use crate::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;

#[test]
fn the_documented_table_is_the_one_in_use() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/FEATURES.md");
    let table = feature_table();
    if std::env::var_os("OXEYE_BLESS").is_some() {
        std::fs::write(path, &table).expect("the table can be written");
    }
    let documented = std::fs::read_to_string(path).unwrap_or_default();
    assert!(documented == table, "FEATURES.md is out of date: run this test with OXEYE_BLESS=1");
}

#[test]
fn names_are_unique_in_each_list() {
    let lists: [&[Feature]; 9] = [
        LoopFeature::TABLE,
        StmtFeature::TABLE,
        AccessFeature::TABLE,
        ArrayFeature::TABLE,
        EdgeFeature::TABLE,
        HostFeature::TABLE,
        ProfileFeature::TABLE,
        ScheduleFeature::TABLE,
        HandMadeFeature::TABLE,
    ];
    for list in lists {
        let names: BTreeSet<_> = list.iter().map(|feature| feature.name).collect();
        assert_eq!(names.len(), list.len());
    }
    assert_eq!(LoopFeature::Footprint.feature().name, "footprint");
}

const TRANSFORMS: [Transform; 7] = [
    Transform::Flag,
    Transform::Share,
    Transform::Count,
    Transform::Log,
    Transform::Ratio,
    Transform::Scale,
    Transform::Signed,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Whatever the bits of the raw value.
    #[test]
    fn features_are_finite_and_bounded(bits in any::<u64>(), exponent in -400..400_i32) {
        for raw in [f64::from_bits(bits), 2_f64.powi(exponent), -(2_f64.powi(exponent))] {
            for transform in TRANSFORMS {
                let feature = transform.apply(raw);
                prop_assert!((-4.0..=4.0).contains(&feature), "{transform:?} of {raw} is {feature}");
            }
        }
    }

    #[test]
    fn raw_values_come_back(raw in 0.001..1e9_f64) {
        for transform in [Transform::Log, Transform::Ratio, Transform::Scale, Transform::Signed] {
            let again = transform.invert(transform.apply(raw));
            prop_assert!((again - raw).abs() <= 1e-4 * (1.0 + raw), "{transform:?} of {raw} gives back {again}");
        }
    }
}

#[test]
fn transforms_at_known_points() {
    for (transform, raw, feature) in [
        (Transform::Flag, 7.0, 1.0),
        (Transform::Share, 1.5, 1.0),
        (Transform::Count, 4.0, 0.5),
        (Transform::Log, 65535.0, 1.0),
        (Transform::Ratio, 256.0, 1.0),
        (Transform::Ratio, 0.0, -4.0),
        (Transform::Ratio, f64::INFINITY, 4.0),
        (Transform::Scale, 1.0 / 65536.0, -1.0),
        (Transform::Signed, -255.0, -0.5),
        (Transform::Log, f64::NAN, 0.0),
    ] {
        assert_eq!(transform.apply(raw), feature, "{transform:?} of {raw}");
    }
}
