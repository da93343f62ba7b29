//! Weights and their file.

use crate::architecture::{Architecture, ModelInfo, SCHEDULE_SCALE};
use crate::error::{EmbedError, METADATA_KEY};
use oxeye_random::SplitMix64;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// All tensors of an encoder, with their description. Always complete, of the right shapes, and finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    info: ModelInfo,
    /// In the order of [`Architecture::tensors`], row-major.
    tensors: Vec<Tensor>,
}

#[derive(Clone, Debug, PartialEq)]
struct Tensor {
    name: String,
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Weights {
    /// Weights from a function: `values_of` gives each tensor's numbers by its name, row-major.
    ///
    /// # Errors
    /// [`EmbedError::MissingTensor`], [`EmbedError::TensorShape`] if the number of values is wrong,
    /// [`EmbedError::TensorNotFinite`], and as [`Architecture::check`] and [`ModelInfo::from_json`] for the
    /// description.
    pub fn new(
        info: ModelInfo,
        mut values_of: impl FnMut(&str) -> Option<Vec<f32>>,
    ) -> Result<Self, EmbedError> {
        let info = ModelInfo::from_json(&info.to_json())?;
        let tensor = |(name, shape): (String, Vec<usize>)| {
            let values = values_of(&name).ok_or_else(|| EmbedError::MissingTensor(name.clone()))?;
            if values.len() != shape.iter().product::<usize>() {
                let found = format!("{} values", values.len());
                return Err(EmbedError::TensorShape { name, found, expected: format!("F32 {shape:?}") });
            }
            if values.iter().any(|value| !value.is_finite()) {
                return Err(EmbedError::TensorNotFinite(name));
            }
            Ok(Tensor { name, shape, values })
        };
        let tensors = info.architecture.tensors().into_iter().map(tensor).collect::<Result<_, _>>()?;
        Ok(Self { info, tensors })
    }

    /// Untrained weights: a function of the seed. Layers keep the scale of their inputs; no tensor is trivial, so that
    /// tests notice each.
    ///
    /// # Errors
    /// As [`Architecture::check`].
    pub fn random(seed: u64, architecture: Architecture) -> Result<Self, EmbedError> {
        architecture.check()?;
        // From -1 to 1.
        let mut random = SplitMix64::new(seed);
        let mut next = move || (random.bits() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0;
        let tensor = |(name, shape): (String, Vec<usize>)| {
            let (middle, radius) = match shape.as_slice() {
                [_, n_in] => (0.0, (3.0 / *n_in as f32).sqrt()),
                _ if name.ends_with("norm.weight") || name == SCHEDULE_SCALE => (1.0, 0.25),
                _ => (0.0, 0.25),
            };
            let values = (0..shape.iter().product()).map(|_| middle + radius * next()).collect();
            Tensor { name, shape, values }
        };
        let tensors = architecture.tensors().into_iter().map(tensor).collect();
        let info = ModelInfo::new(format!("random-{seed}"), "none", architecture);
        Ok(Self { info, tensors })
    }

    /// Reads a safetensors file's bytes.
    ///
    /// # Errors
    /// [`EmbedError::Damaged`] if they are not one; [`EmbedError::Metadata`], [`EmbedError::OtherSchema`],
    /// [`EmbedError::MissingTensor`], [`EmbedError::UnknownTensor`], [`EmbedError::TensorShape`] and
    /// [`EmbedError::TensorNotFinite`] if it is not this encoder's.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EmbedError> {
        let damaged = |error: safetensors::SafeTensorError| EmbedError::Damaged(error.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let file = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let text = header.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
        let info = ModelInfo::from_json(
            text.ok_or_else(|| EmbedError::Metadata { reason: "it is missing".into() })?,
        )?;
        let shapes = info.architecture.tensors();
        for (name, shape) in &shapes {
            let tensor = file.tensor(name).map_err(|_| EmbedError::MissingTensor(name.clone()))?;
            if tensor.dtype() != Dtype::F32 || tensor.shape() != shape.as_slice() {
                return Err(EmbedError::TensorShape {
                    name: name.clone(),
                    found: format!("{:?} {:?}", tensor.dtype(), tensor.shape()),
                    expected: format!("F32 {shape:?}"),
                });
            }
        }
        let known: HashSet<&str> = shapes.iter().map(|(name, _)| name.as_str()).collect();
        let mut names = file.names();
        names.sort_unstable();
        if let Some(name) = names.into_iter().find(|name| !known.contains(name)) {
            return Err(EmbedError::UnknownTensor(name.to_owned()));
        }
        Self::new(info, |name| Some(numbers(file.tensor(name).ok()?.data())))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`EmbedError::Io`], and as [`Weights::from_bytes`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, EmbedError> {
        let path = path.as_ref();
        let read = std::fs::read(path);
        Self::from_bytes(&read.map_err(|source| EmbedError::Io { path: path.to_owned(), source })?)
    }

    /// The bytes of a safetensors file; the same for equal weights.
    ///
    /// # Errors
    /// [`EmbedError::Damaged`] if the format does not admit them.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EmbedError> {
        let damaged = |error: safetensors::SafeTensorError| EmbedError::Damaged(error.to_string());
        let bytes = |tensor: &Tensor| tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let data: Vec<Vec<u8>> = self.tensors.iter().map(bytes).collect();
        let views = self.tensors.iter().zip(&data).map(|(tensor, data)| {
            let view = TensorView::new(Dtype::F32, tensor.shape.clone(), data);
            Ok((tensor.name.as_str(), view.map_err(damaged)?))
        });
        let views: Vec<_> = views.collect::<Result<_, EmbedError>>()?;
        let metadata = HashMap::from([(METADATA_KEY.to_owned(), self.info.to_json())]);
        safetensors::serialize(views, Some(metadata)).map_err(damaged)
    }

    /// Writes a file: into a temporary one beside it, then renamed.
    ///
    /// # Errors
    /// [`EmbedError::Io`], and as [`Weights::to_bytes`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), EmbedError> {
        let path = path.as_ref();
        let bytes = self.to_bytes()?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let written = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
        written.map_err(|source| {
            // The partial file is useless; failing to remove it is no second error.
            let _ = std::fs::remove_file(&temporary);
            EmbedError::Io { path: path.to_owned(), source }
        })
    }

    /// What they are.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// A tensor's shape and values, row-major.
    pub fn tensor(&self, name: &str) -> Option<(&[usize], &[f32])> {
        let tensor = self.tensors.iter().find(|tensor| tensor.name == name)?;
        Some((&tensor.shape, &tensor.values))
    }

    /// Names of all tensors, in the order of [`Architecture::tensors`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.iter().map(|tensor| tensor.name.as_str())
    }
}

/// Little-endian `f32`, at whatever alignment.
fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}
