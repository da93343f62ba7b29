//! Files of weights: good ones are read back, others are refused with the reason.

use super::graph_of_text;
use crate::{Architecture, EmbedError, Encoder, FEATURE_SCHEMA, METADATA_KEY, ModelInfo, Weights};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use std::collections::HashMap;

const TINY: Architecture = Architecture {
    hidden: 2,
    rounds: 1,
    embedding: 2,
    panel: 1,
    host: 1,
    readout: 2,
    context: 1,
    cost: 2,
    members: 1,
};

fn tiny() -> Weights {
    Weights::random(3, TINY).expect("the sizes are sound")
}

#[test]
fn weights_come_back_from_their_file() {
    let weights = tiny();
    let bytes = weights.to_bytes().expect("they can be written");
    assert_eq!(bytes, weights.to_bytes().expect("they can be written"));
    assert_eq!(Weights::from_bytes(&bytes).expect("they are sound"), weights);
    let path = std::env::temp_dir().join(format!("oxeye-embed-{}.safetensors", std::process::id()));
    weights.save(&path).expect("they can be written");
    let loaded = Encoder::load(&path).expect("they are sound");
    std::fs::remove_file(&path).expect("it was written");
    assert_eq!(loaded.info(), weights.info());
    let graph = graph_of_text(
        "program p { array A0 x: f64[10] param dataflow { N0 } nest N0 in p { \
         for L0 i: i32 in 0 .. 10 { S0: x[i] = 1.0 } } }",
        &[],
    );
    let original = Encoder::new(&weights).expect("they are sound");
    assert_eq!(loaded.embed(&graph).expect("it is sound"), original.embed(&graph).expect("it is sound"));
    assert!(matches!(Weights::load(&path), Err(EmbedError::Io { .. })));
}

#[test]
fn random_weights_are_a_function_of_the_seed() {
    assert_eq!(tiny(), tiny());
    let other = Weights::random(4, TINY).expect("the sizes are sound");
    assert_ne!(other.tensor("host.weight"), tiny().tensor("host.weight"));
    let usual = Weights::random(0, Architecture::with_panel(24)).expect("the sizes are sound");
    assert_eq!(usual.names().count(), usual.info().architecture.tensors().len());
    assert!(Weights::random(0, Architecture { rounds: 0, ..TINY }).is_err());
    assert!(Weights::random(0, Architecture { hidden: usize::MAX, ..TINY }).is_err());
}

/// Type, shape and bytes of a tensor.
type Raw = (Dtype, Vec<usize>, Vec<u8>);

/// A file like that of [`tiny`] with other metadata (`stray`: its own, and one tensor more), each tensor as changed,
/// and only those for which `change` says so.
fn file(
    metadata: Option<String>,
    mut change: impl FnMut(&str, &mut Raw) -> bool,
) -> Result<Weights, EmbedError> {
    let weights = tiny();
    let mut tensors = Vec::new();
    for name in weights.names() {
        let (shape, values) = weights.tensor(name).expect("it is named");
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut tensor = (Dtype::F32, shape.to_vec(), bytes);
        if change(name, &mut tensor) {
            tensors.push((name.to_owned(), tensor));
        }
    }
    let has_stray = metadata.as_deref() == Some("stray");
    if has_stray {
        tensors.push(("stray".into(), (Dtype::F32, vec![1], vec![0; 4])));
    }
    let views = tensors.iter().map(|(name, (dtype, shape, bytes))| {
        (name.as_str(), TensorView::new(*dtype, shape.clone(), bytes).expect("the sizes agree"))
    });
    let metadata = if has_stray { Some(weights.info().to_json()) } else { metadata };
    let metadata = metadata.map(|text| HashMap::from([(METADATA_KEY.to_owned(), text)]));
    Weights::from_bytes(&safetensors::serialize(views, metadata).expect("the format admits it"))
}

#[test]
fn what_is_wrong_with_a_file_is_named() {
    let json = || Some(tiny().info().to_json());
    assert_eq!(file(json(), |_, _| true).expect("nothing is wrong"), tiny());
    let missing = file(json(), |name, _| name != "round.0.carried.rev.bias");
    assert!(matches!(missing, Err(EmbedError::MissingTensor(name)) if name == "round.0.carried.rev.bias"));
    let misshaped = file(json(), |name, tensor| {
        if name == "round.0.update.2.weight" {
            tensor.1 = vec![4, 1];
        }
        true
    });
    let error = misshaped.expect_err("the shape is another");
    assert_eq!(
        error.to_string(),
        "the model's tensor `round.0.update.2.weight` is F32 [4, 1], but should be F32 [2, 2]"
    );
    let mistyped = file(json(), |name, tensor| {
        if name == "readout.2.bias" {
            *tensor = (Dtype::F64, vec![2], vec![0; 16]);
        }
        true
    });
    assert!(matches!(mistyped, Err(EmbedError::TensorShape { found, .. }) if found == "F64 [2]"));
    let infinite = file(json(), |name, tensor| {
        if name == "host.bias" {
            tensor.2 = f32::INFINITY.to_le_bytes().to_vec();
        }
        true
    });
    assert!(matches!(infinite, Err(EmbedError::TensorNotFinite(name)) if name == "host.bias"));
    let stray = file(Some("stray".into()), |_, _| true);
    assert!(matches!(stray, Err(EmbedError::UnknownTensor(name)) if name == "stray"));
    assert!(matches!(file(None, |_, _| true), Err(EmbedError::Metadata { .. })));
    assert!(matches!(file(Some("{}".into()), |_, _| true), Err(EmbedError::Metadata { .. })));
    let other = json().map(|text| text.replace(FEATURE_SCHEMA, "oxeye.features/0"));
    let error = file(other, |_, _| true).expect_err("the schema is another");
    assert!(error.to_string().contains("oxeye.features/0"), "{error}");
    let absurd = json().map(|text| text.replace("\"rounds\":1", "\"rounds\":1000000"));
    assert!(matches!(file(absurd, |_, _| true), Err(EmbedError::Metadata { .. })));
    let wider = json().map(|text| text.replace("\"hidden\":2", "\"hidden\":3"));
    assert!(matches!(file(wider, |_, _| true), Err(EmbedError::TensorShape { .. })));
    assert!(matches!(Weights::from_bytes(b"not a model"), Err(EmbedError::Damaged(_))));
}

#[test]
fn weights_are_checked_wherever_they_come_from() {
    let info = || ModelInfo::new("m", "p", TINY);
    assert!(matches!(Weights::new(info(), |_| None), Err(EmbedError::MissingTensor(_))));
    assert!(matches!(Weights::new(info(), |_| Some(vec![0.0])), Err(EmbedError::TensorShape { .. })));
    let other = ModelInfo { schema: "oxeye.features/9".into(), ..info() };
    assert!(matches!(Weights::new(other, |_| None), Err(EmbedError::OtherSchema { .. })));
    let huge = Weights::new(info(), |name| {
        let (_, shape) = TINY.tensors().into_iter().find(|(known, _)| known == name)?;
        Some(vec![f32::MAX; shape.iter().product()])
    });
    let encoder = Encoder::new(&huge.expect("they are finite")).expect("they are complete");
    let graph = graph_of_text(
        "program p { array A0 x: f64[10] param dataflow { N0 } nest N0 in p { \
         for L0 i: i32 in 0 .. 10 { S0: x[i] = 1.0 } } }",
        &[],
    );
    assert!(matches!(encoder.embed(&graph), Err(EmbedError::EmbeddingNotFinite)));
}

/// Older files have no such distance.
#[test]
fn how_far_donors_may_be_is_kept() {
    let info = ModelInfo { far: Some(0.75), ..tiny().info().clone() };
    let weights = tiny();
    let values = |name: &str| Some(weights.tensor(name)?.1.to_vec());
    let far = Weights::new(info, values).expect("they are sound");
    let read = Weights::from_bytes(&far.to_bytes().expect("they can be written")).expect("they are sound");
    assert_eq!(read.info().far, Some(0.75));
    assert!(!weights.info().to_json().contains("far"));
    assert_eq!(ModelInfo::from_json(&weights.info().to_json()).expect("it is sound").far, None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn damage_is_no_panic(cut in any::<prop::sample::Index>(), flips in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 0..6)) {
        let bytes = tiny().to_bytes().expect("they can be written");
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
        let truncated = &bytes[..cut.index(bytes.len())];
        prop_assert!(Weights::from_bytes(truncated).is_err());
        // Bits anywhere, and bits of the header.
        for range in [bytes.len(), header, 8] {
            let mut flipped = bytes.clone();
            for (at, bit) in &flips {
                flipped[at.index(range)] ^= 1 << (bit % 8);
            }
            if let Ok(weights) = Weights::from_bytes(&flipped) {
                prop_assert!(Encoder::new(&weights).is_ok());
            }
        }
    }
}
