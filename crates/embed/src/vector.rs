//! Feature vectors.

use crate::schema::FeatureList;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Deref;

/// A feature vector of fixed width: a list of `N` numbers when serialized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features<const N: usize>(pub [f32; N]);

impl<const N: usize> Features<N> {
    /// All zero.
    pub fn zero() -> Self {
        Self([0.0; N])
    }

    /// Sets a feature by its raw value, in the unit of its table.
    pub fn set(&mut self, feature: impl FeatureList, raw: f64) {
        self.0[feature.index()] = feature.feature().transform.apply(raw);
    }

    /// Sets a flag.
    pub fn flag(&mut self, feature: impl FeatureList, is_set: bool) {
        self.set(feature, f64::from(u8::from(is_set)));
    }

    /// The feature at its position.
    pub fn get(&self, feature: impl FeatureList) -> f32 {
        self.0[feature.index()]
    }

    /// The raw value, up to rounding and clamping.
    pub fn raw(&self, feature: impl FeatureList) -> f64 {
        feature.feature().transform.invert(self.get(feature))
    }

    /// Whether a flag is set.
    pub fn is_set(&self, feature: impl FeatureList) -> bool {
        self.get(feature) != 0.0
    }

    /// Whether all are finite numbers.
    pub fn is_finite(&self) -> bool {
        self.0.iter().all(|x| x.is_finite())
    }
}

impl<const N: usize> Deref for Features<N> {
    type Target = [f32; N];

    fn deref(&self) -> &[f32; N] {
        &self.0
    }
}

impl<const N: usize> Serialize for Features<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Features<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Vec::<f32>::deserialize(deserializer)?;
        let n_found = list.len();
        let features = <[f32; N]>::try_from(list);
        features.map(Self).map_err(|_| D::Error::custom(format!("{n_found} features instead of {N}")))
    }
}
