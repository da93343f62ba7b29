//! The inputs of a nest, slightly or very much changed.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use oxeye_random::SplitMix64;

use crate::argument::{Argument, ElementType};
use crate::error::MeasureError;
use crate::sample::{Sample, SampleArg};

/// How floating-point inputs are changed. Zeros, subnormal numbers and what is not finite stay, as do integers: what decides
/// where a nest reads and writes is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Perturbation {
    /// Each moves by one unit in its last place, up or down.
    LastBit,
    /// Each is multiplied by a number between 1/2 and 3/2.
    Scale,
    /// Each is replaced by a number in [0.1, 1).
    Replace,
}

/// Elements that are read and written at once.
const BATCH: u64 = 1 << 16;

impl Sample {
    /// The same arguments with every floating-point number changed, written to `path`. Equal seeds give equal bytes, and
    /// memory that several arguments share is changed alike.
    ///
    /// # Errors
    /// When the sample cannot be read or the new one cannot be written.
    pub fn perturbed(
        &self,
        path: &Path,
        args: &[Argument],
        how: Perturbation,
        seed: u64,
    ) -> Result<Sample, MeasureError> {
        fs::copy(&self.path, path).map_err(MeasureError::io("write", path))?;
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(MeasureError::io("write", path))?;
        for (slot, arg) in self.args.iter().zip(args) {
            let (stride, runs) = arg.elements();
            if !runs.iter().any(|(.., element)| element.is_float()) {
                continue;
            }
            let n = slot.bytes.checked_div(stride).unwrap_or(0);
            for first in (0..n).step_by(BATCH as usize) {
                let mut bytes = vec![0; ((n - first).min(BATCH) * stride) as usize];
                let at = slot.offset + first * stride;
                file.read_exact_at(&mut bytes, at).map_err(MeasureError::io("read", path))?;
                for (k, structure) in (first..).zip(bytes.chunks_exact_mut(stride as usize)) {
                    for (offset, n, element) in runs.iter().filter(|(.., element)| element.is_float()) {
                        let (start, size) = (*offset as usize, element.size());
                        let run = structure.get_mut(start..start + *n as usize * size).unwrap_or_default();
                        for (j, number) in run.chunks_exact_mut(size).enumerate() {
                            let place = place(slot, k * stride + offset + (j * size) as u64);
                            change(number, *element, how, &mut random(seed, place));
                        }
                    }
                }
                file.write_all_at(&bytes, at).map_err(MeasureError::io("write", path))?;
            }
        }
        let path = path.to_path_buf();
        Ok(Sample { path, nanoseconds: None, least_nanoseconds: None, results: None, ..self.clone() })
    }
}

/// Names an element: by its address, which all arguments have in common that share it, or else by where it is stored.
fn place(slot: &SampleArg, offset: u64) -> u64 {
    match slot.address {
        0 => (1 << 63) | (slot.offset + offset),
        address => address + offset,
    }
}

fn random(seed: u64, place: u64) -> SplitMix64 {
    SplitMix64::new(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ place)
}

fn change(number: &mut [u8], element: ElementType, how: Perturbation, random: &mut SplitMix64) {
    let Some(value) = element.read_f64(number) else { return };
    let is_normal = match element {
        ElementType::F32 => (value as f32).is_normal(),
        _ => value.is_normal(),
    };
    if !is_normal {
        return;
    }
    let mut bytes = Vec::with_capacity(8);
    match (how, element) {
        (Perturbation::LastBit, ElementType::F32) => {
            let bits = (value as f32).to_bits();
            bytes.extend((if random.bits().is_multiple_of(2) { bits + 1 } else { bits - 1 }).to_le_bytes());
        }
        (Perturbation::LastBit, _) => {
            let bits = value.to_bits();
            bytes.extend((if random.bits().is_multiple_of(2) { bits + 1 } else { bits - 1 }).to_le_bytes());
        }
        (Perturbation::Scale, _) => element.write_f64(value * (0.5 + random.unit()), &mut bytes),
        (Perturbation::Replace, _) => element.write_f64(0.1 + 0.9 * random.unit(), &mut bytes),
    }
    // The largest number has no next one.
    if element.read_f64(&bytes).is_some_and(f64::is_finite) {
        number.copy_from_slice(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::Fields;
    use crate::sample::{Init, SyntheticArg};
    use crate::workdir::WorkDir;

    fn doubles(bytes: &[u8]) -> Vec<f64> {
        bytes.chunks_exact(8).filter_map(|b| ElementType::F64.read_f64(b)).collect()
    }

    #[test]
    fn only_numbers_change_and_only_by_their_last_bit() {
        let work = WorkDir::new().expect("work folder");
        let arg = |element, elements, init| SyntheticArg { element, elements, init };
        let arguments = [
            arg(ElementType::F64, 1000, Init::Random { seed: 1 }),
            arg(ElementType::F32, 5, Init::Value(3.0)),
            arg(ElementType::F64, 3, Init::Value(0.0)),
            arg(ElementType::I64, 2, Init::Integer(1000)),
            // Pairs of a number and what is none.
            arg(ElementType::F64, 6, Init::Value(2.0)),
        ];
        let sample = Sample::synthetic(&work.join("sample"), &arguments).expect("written");
        let fields = Fields { bytes: 16, runs: vec![(0, 1, ElementType::F64)] };
        let args = [
            Argument::buffer("a", ElementType::F64),
            Argument::buffer("b", ElementType::F32),
            Argument::buffer("zeros", ElementType::F64),
            Argument::scalar("n", ElementType::I64),
            Argument::buffer("pairs", ElementType::F64).with_fields(Some(fields)),
        ];
        let perturbed =
            |name, how, seed| sample.perturbed(&work.join(name), &args, how, seed).expect("written");
        let moved = perturbed("moved", Perturbation::LastBit, 1);
        let (before, after) = (sample.read_arg(0).expect("read"), moved.read_arg(0).expect("read"));
        let mut ups = 0;
        for (a, b) in doubles(&before).into_iter().zip(doubles(&after)) {
            let units = b.to_bits() as i64 - a.to_bits() as i64;
            assert_eq!(units.abs(), 1);
            ups += usize::from(units > 0);
        }
        assert!((400..600).contains(&ups), "{ups}");
        assert_ne!(sample.read_arg(1).expect("read"), moved.read_arg(1).expect("read"));
        for same in [2, 3] {
            assert_eq!(sample.read_arg(same).expect("read"), moved.read_arg(same).expect("read"));
        }
        let pairs = doubles(&moved.read_arg(4).expect("read"));
        assert!(
            pairs.iter().step_by(2).all(|x| *x != 2.0) && pairs.iter().skip(1).step_by(2).all(|x| *x == 2.0)
        );
        // A function of the seed.
        let again = perturbed("again", Perturbation::LastBit, 1);
        assert_eq!(after, again.read_arg(0).expect("read"));
        assert_ne!(after, perturbed("other", Perturbation::LastBit, 2).read_arg(0).expect("read"));
        let scaled = doubles(&perturbed("scaled", Perturbation::Scale, 1).read_arg(0).expect("read"));
        let ratios = || doubles(&before).into_iter().zip(&scaled).map(|(a, b)| b / a);
        assert!(ratios().all(|ratio| (0.49..1.51).contains(&ratio)) && ratios().any(|ratio| ratio < 0.6));
    }
}
