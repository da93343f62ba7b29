//! What the values of an array in a nest have in common.

use crate::request::ValueRecipe;
use oxeye_ir::ScalarType;
use oxeye_measure::{SeenValues, WatchedSite};
use oxeye_transform::Literal;
use serde::Serialize;

/// What is found of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Every access has the same value.
    OneValue,
    /// Nearly every access has the same value.
    MostlyOneValue,
    /// Most or all values are zero.
    Zeros,
    /// Few distinct whole numbers, with no gap between them.
    FewDense,
    /// Few distinct values.
    FewFrequent,
    /// The value is a linear function of the element's position.
    Linear,
    /// Floating-point values are whole numbers.
    WholeNumbers,
    /// A narrower type would hold every value exactly.
    WiderType,
    /// Few distinct values, if they are rounded to 12 bits of mantissa.
    EqualWhenRounded,
    /// What is stored is what was there.
    Unchanged,
    /// What is stored is not read.
    NotRead,
}

impl Pattern {
    /// All of them, in the order of reports.
    pub const ALL: [Pattern; 11] = [
        Pattern::OneValue,
        Pattern::MostlyOneValue,
        Pattern::Zeros,
        Pattern::FewDense,
        Pattern::FewFrequent,
        Pattern::Linear,
        Pattern::WholeNumbers,
        Pattern::WiderType,
        Pattern::EqualWhenRounded,
        Pattern::Unchanged,
        Pattern::NotRead,
    ];

    /// Its name in reports as JSON.
    pub(super) fn word(self) -> String {
        let word = serde_json::to_value(self).ok();
        word.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    }

    /// A few words.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::OneValue => "always one value",
            Pattern::MostlyOneValue => "mostly one value",
            Pattern::Zeros => "zeros",
            Pattern::FewDense => "few values, dense",
            Pattern::FewFrequent => "few values, frequent",
            Pattern::Linear => "linear in the index",
            Pattern::WholeNumbers => "whole numbers",
            Pattern::WiderType => "wider type than needed",
            Pattern::EqualWhenRounded => "equal when rounded",
            Pattern::Unchanged => "written again unchanged",
            Pattern::NotRead => "written, not read",
        }
    }
}

/// A pattern that holds for a share of the accesses, with what there is to say of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Held {
    pub(super) pattern: Pattern,
    /// From 0 to 1.
    pub(super) holds: f64,
    pub(super) detail: String,
    pub(super) recipe: Option<ValueRecipe>,
    pub(super) advice: String,
    /// The value, if all have one.
    pub(super) value: Option<String>,
}

/// Fewer accesses say nothing.
const LEAST_ACCESSES: u64 = 64;
/// Neither do those of fewer elements.
const LEAST_ELEMENTS: u64 = 16;
/// Shares from which on a pattern is one.
const LEAST_OF_ONE_VALUE: f64 = 0.8;
const LEAST_ZEROS: f64 = 0.5;
const LEAST_UNCHANGED: f64 = 0.5;
/// So many distinct values are few, if each occurs so often on average.
const FEW: usize = 16;
const OFTEN: u64 = 16;
/// Zeros that follow each other in runs of this length on average lie in regions.
const LONG_RUN: f64 = 16.0;

/// The accesses of one kind that a nest makes to an array, as one.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) element: ScalarType,
    pub(super) seen: WatchedSite,
}

impl Group {
    /// No accesses to an array of such elements yet.
    pub(super) fn new(element: ScalarType) -> Self {
        Self { element, seen: WatchedSite::default() }
    }

    /// Takes in what was seen of another access.
    pub(super) fn add(&mut self, other: &WatchedSite) {
        let is_first = self.seen.looked == 0;
        let seen = &mut self.seen;
        if is_first {
            *seen = other.clone();
            return;
        }
        let sums: [(&mut u64, u64); 14] = [
            (&mut seen.all, other.all),
            (&mut seen.looked, other.looked),
            (&mut seen.bytes, other.bytes),
            (&mut seen.stands, other.stands),
            (&mut seen.zeros, other.zeros),
            (&mut seen.whole, other.whole),
            (&mut seen.single, other.single),
            (&mut seen.linear, other.linear),
            (&mut seen.bent, other.bent),
            (&mut seen.flips, other.flips),
            (&mut seen.unchanged, other.unchanged),
            (&mut seen.dead, other.dead),
            (&mut seen.surely_dead, other.surely_dead),
            (&mut seen.left, other.left),
        ];
        for (sum, more) in sums {
            *sum += more;
        }
        if other.dead > 0 {
            seen.killer = other.killer;
        }
        if other.looked > 0 {
            seen.reach = seen.reach.max(other.reach);
            seen.least = seen.least.min(other.least);
            seen.most = seen.most.max(other.most);
            seen.integers = (seen.integers.0.min(other.integers.0), seen.integers.1.max(other.integers.1));
            seen.most_unsigned = seen.most_unsigned.max(other.most_unsigned);
        }
        seen.exact = together(&seen.exact, &other.exact);
        seen.coarse = together(&seen.coarse, &other.coarse);
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.seen.stands.max(1) as f64
    }

    fn is_enough(&self) -> bool {
        self.seen.looked >= LEAST_ACCESSES && self.seen.reach >= (LEAST_ELEMENTS - 1) * self.element.bytes()
    }

    /// What the values have in common: the strongest that holds.
    pub(super) fn of_values(&self) -> Option<Held> {
        if !self.is_enough() {
            return None;
        }
        let found = self.constant().or_else(|| self.few(&self.seen.exact));
        found
            .or_else(|| self.linear())
            .or_else(|| self.whole_numbers())
            .or_else(|| self.narrower())
            .or_else(|| self.rounded())
    }

    /// One value, nearly, or zero mostly.
    fn constant(&self) -> Option<Held> {
        let seen = &self.seen;
        let (bits, count) = *seen.exact.counts.first()?;
        let zeros = self.share(seen.zeros);
        if zeros >= LEAST_ZEROS {
            let is_all = seen.zeros == seen.stands;
            let run = seen.stands as f64 / (seen.flips as f64 + 1.0);
            let (recipe, advice) = if is_all {
                (
                    Some(ValueRecipe::Specialisation),
                    "a version for zeros, behind a test, leaves this array out".to_owned(),
                )
            } else if run >= LONG_RUN {
                (
                    Some(ValueRecipe::Splitting),
                    format!(
                        "zeros and others lie in runs of {run:.0} accesses: loops split there leave the zeros out"
                    ),
                )
            } else {
                (
                    Some(ValueRecipe::ZeroGuard),
                    "a test for zero leaves out what it is multiplied with".to_owned(),
                )
            };
            let detail = if is_all { "all are 0".to_owned() } else { format!("{} are 0", percent(zeros)) };
            let value = is_all.then(|| Literal::zero().to_string());
            return Some(Held { pattern: Pattern::Zeros, holds: zeros, detail, recipe, advice, value });
        }
        let holds = self.share(count);
        let value = shown(self.element, bits);
        let is_all = count == seen.stands;
        if holds < LEAST_OF_ONE_VALUE {
            return None;
        }
        Some(if is_all {
            Held {
                pattern: Pattern::OneValue,
                holds,
                detail: format!("all are {value}"),
                recipe: Some(ValueRecipe::Specialisation),
                advice: format!("a version for {value}, behind a test, loads nothing of this array"),
                value: Literal::of_bits(self.element, bits).map(|value| value.to_string()),
            }
        } else {
            Held {
                pattern: Pattern::MostlyOneValue,
                holds,
                detail: format!("{} are {value}", percent(holds)),
                recipe: Some(ValueRecipe::Specialisation),
                advice: format!("a test for {value} with a shorter way for it"),
                value: None,
            }
        })
    }

    /// Few distinct values.
    fn few(&self, values: &SeenValues) -> Option<Held> {
        let n = values.counts.len();
        // Of a byte there is nothing to save.
        if values.has_more || n > FEW || self.element.bytes() == 1 || self.seen.looked < OFTEN * n as u64 {
            return None;
        }
        let is_whole = !self.element.is_float() || self.seen.whole == self.seen.stands;
        let is_dense = is_whole && self.seen.most - self.seen.least == (n - 1) as f64;
        let pattern = if is_dense { Pattern::FewDense } else { Pattern::FewFrequent };
        let (least, most) = (number(self.seen.least), number(self.seen.most));
        let detail = if is_dense {
            format!("{n} values, {least} to {most} without a gap")
        } else {
            let some: Vec<String> =
                values.counts.iter().take(4).map(|(bits, _)| shown(self.element, *bits)).collect();
            let more = if n > some.len() { ", …" } else { "" };
            format!("{n} values: {}{more}", some.join(", "))
        };
        let advice = if is_dense {
            "as bytes they take less memory".to_owned()
        } else {
            "positions in a table of them, as bytes, take less memory".to_owned()
        };
        Some(Held {
            pattern,
            holds: 1.0,
            detail,
            recipe: Some(ValueRecipe::NarrowerStorage),
            advice,
            value: None,
        })
    }

    fn linear(&self) -> Option<Held> {
        // Two points make a line of any numbers: most of them have to be tried.
        let is_line = self.seen.bent == 0 && self.seen.linear >= LEAST_ACCESSES;
        (is_line && 2 * self.seen.linear >= self.seen.stands).then(|| Held {
            pattern: Pattern::Linear,
            holds: 1.0,
            detail: format!("from {} to {}", number(self.seen.least), number(self.seen.most)),
            recipe: Some(ValueRecipe::ComputingIt),
            advice: "an expression of the index needs no memory".to_owned(),
            value: None,
        })
    }

    fn whole_numbers(&self) -> Option<Held> {
        let seen = &self.seen;
        (self.element.is_float() && seen.whole == seen.stands).then(|| {
            let narrow = integer_type(seen.least, seen.most);
            let smaller = narrow.filter(|ty| ty.bytes() < self.element.bytes());
            Held {
                pattern: Pattern::WholeNumbers,
                holds: 1.0,
                detail: format!("from {} to {}", number(seen.least), number(seen.most)),
                recipe: smaller.map(|_| ValueRecipe::NarrowerStorage),
                advice: match smaller {
                    Some(ty) => format!("{} holds them", ty.c_name()),
                    None => "integer arithmetic is exact for them".to_owned(),
                },
                value: None,
            }
        })
    }

    fn narrower(&self) -> Option<Held> {
        let seen = &self.seen;
        let ty = match self.element {
            ScalarType::F64 => (seen.single == seen.stands).then_some(ScalarType::F32)?,
            ScalarType::F32 => return None,
            ScalarType::U64 => unsigned_type(seen.most_unsigned)?,
            _ => signed_or_unsigned(seen.integers.0, seen.integers.1)?,
        };
        if ty.bytes() >= self.element.bytes() {
            return None;
        }
        let range = match self.element {
            ScalarType::F64 => "all are the same in single precision".to_owned(),
            ScalarType::U64 => format!("up to {}", seen.most_unsigned),
            _ => format!("from {} to {}", seen.integers.0, seen.integers.1),
        };
        Some(Held {
            pattern: Pattern::WiderType,
            holds: 1.0,
            detail: range,
            recipe: Some(ValueRecipe::NarrowerStorage),
            advice: format!("{} instead of {}", ty.c_name(), self.element.c_name()),
            value: None,
        })
    }

    fn rounded(&self) -> Option<Held> {
        if !self.element.is_float() {
            return None;
        }
        let values = &self.seen.coarse;
        let (bits, count) = *values.counts.first()?;
        let holds = self.share(count);
        let detail = if holds >= LEAST_OF_ONE_VALUE {
            format!("{} are {} to 12 bits of mantissa", percent(holds), shown(self.element, bits))
        } else {
            self.few(values)?;
            format!("{} values, to 12 bits of mantissa", values.counts.len())
        };
        Some(Held {
            pattern: Pattern::EqualWhenRounded,
            holds: if holds >= LEAST_OF_ONE_VALUE { holds } else { 1.0 },
            detail,
            recipe: None,
            advice: "where so many digits are enough, they need not be loaded; this changes results"
                .to_owned(),
            value: None,
        })
    }

    /// Whether stores leave what was there.
    pub(super) fn unchanged(&self) -> Option<Held> {
        let holds = self.share(self.seen.unchanged);
        (self.is_enough() && holds >= LEAST_UNCHANGED).then(|| Held {
            pattern: Pattern::Unchanged,
            holds,
            detail: format!("{} of the stores leave what was there", percent(holds)),
            recipe: Some(ValueRecipe::Splitting),
            advice: "what does not change need not be computed again".to_owned(),
            value: None,
        })
    }
}

/// The values of both.
fn together(one: &SeenValues, other: &SeenValues) -> SeenValues {
    let mut counts = one.counts.clone();
    for (bits, count) in &other.counts {
        match counts.iter_mut().find(|(known, _)| known == bits) {
            Some((_, sum)) => *sum += count,
            None => counts.push((*bits, *count)),
        }
    }
    counts.sort_by_key(|(bits, count)| (std::cmp::Reverse(*count), *bits));
    SeenValues { counts, has_more: one.has_more || other.has_more }
}

/// A value from its bits.
fn shown(element: ScalarType, bits: u64) -> String {
    match element {
        ScalarType::F32 => number(f64::from(f32::from_bits(bits as u32))),
        ScalarType::F64 => number(f64::from_bits(bits)),
        ScalarType::U64 => bits.to_string(),
        _ => (bits as i64).to_string(),
    }
}

/// A number in at most six digits.
fn number(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e7 {
        return format!("{value:.0}");
    }
    match value.abs() {
        1e-3..1e7 => {
            let digits = (5 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
            let text = format!("{value:.digits$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
        _ => format!("{value:.5e}"),
    }
}

pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        all if all >= 99.999 => "all".to_owned(),
        all if all >= 99.5 => "nearly all".to_owned(),
        part if part >= 1.0 => format!("{part:.0} %"),
        part => format!("{part:.1} %"),
    }
}

fn integer_type(least: f64, most: f64) -> Option<ScalarType> {
    let fits = |bound: f64| bound.abs() < 9e15;
    (fits(least) && fits(most)).then(|| signed_or_unsigned(least as i64, most as i64)).flatten()
}

/// The narrowest type for a range; none if that is 64 bits wide.
fn signed_or_unsigned(least: i64, most: i64) -> Option<ScalarType> {
    use ScalarType::{I8, I16, I32};
    if least >= 0 {
        return unsigned_type(most as u64);
    }
    let types: [(ScalarType, i64, i64); 3] = [
        (I8, i64::from(i8::MIN), i64::from(i8::MAX)),
        (I16, i64::from(i16::MIN), i64::from(i16::MAX)),
        (I32, i64::from(i32::MIN), i64::from(i32::MAX)),
    ];
    types.into_iter().find(|(_, low, high)| *low <= least && most <= *high).map(|(ty, ..)| ty)
}

fn unsigned_type(most: u64) -> Option<ScalarType> {
    use ScalarType::{U8, U16, U32};
    let types = [(U8, u64::from(u8::MAX)), (U16, u64::from(u16::MAX)), (U32, u64::from(u32::MAX))];
    types.into_iter().find(|(_, high)| most <= *high).map(|(ty, _)| ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the runtime would have seen of these values, one element after the other.
    fn group(values: &[f64]) -> Group {
        let mut exact: Vec<(u64, u64)> = Vec::new();
        for value in values {
            match exact.iter_mut().find(|(bits, _)| *bits == value.to_bits()) {
                Some((_, count)) => *count += 1,
                None => exact.push((value.to_bits(), 1)),
            }
        }
        let has_more = exact.len() > 32;
        exact.truncate(32);
        exact.sort_by_key(|(bits, count)| (std::cmp::Reverse(*count), *bits));
        let count = |is: &dyn Fn(f64) -> bool| values.iter().filter(|value| is(**value)).count() as u64;
        let seen = WatchedSite {
            all: values.len() as u64,
            looked: values.len() as u64,
            stands: values.len() as u64,
            zeros: count(&|x| x == 0.0),
            whole: count(&|x| x == x.trunc()),
            single: count(&|x| f64::from(x as f32) == x),
            flips: values.windows(2).filter(|pair| (pair[0] == 0.0) != (pair[1] == 0.0)).count() as u64,
            reach: 8 * (values.len() as u64 - 1),
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            exact: SeenValues { counts: exact, has_more },
            coarse: SeenValues { counts: Vec::new(), has_more: true },
            ..WatchedSite::default()
        };
        let mut group = Group::new(ScalarType::F64);
        group.add(&seen);
        group
    }

    fn found(values: impl Fn(u32) -> f64) -> Option<(Pattern, Option<ValueRecipe>)> {
        let values: Vec<f64> = (0..1000).map(values).collect();
        group(&values).of_values().map(|held| (held.pattern, held.recipe))
    }

    #[test]
    fn the_strongest_pattern_is_told() {
        let noise = |k: u32| (f64::from(k) * 12.9898).sin() * 43758.5453;
        assert_eq!(found(noise), None);
        assert_eq!(found(|_| 2.5), Some((Pattern::OneValue, Some(ValueRecipe::Specialisation))));
        assert_eq!(found(|_| 0.0), Some((Pattern::Zeros, Some(ValueRecipe::Specialisation))));
        let mostly = |k: u32| if k % 10 == 3 { noise(k) } else { 0.25 };
        assert_eq!(found(mostly), Some((Pattern::MostlyOneValue, Some(ValueRecipe::Specialisation))));
        let regions = |k: u32| if k < 700 { 0.0 } else { noise(k) };
        assert_eq!(found(regions), Some((Pattern::Zeros, Some(ValueRecipe::Splitting))));
        let scattered = |k: u32| if k.is_multiple_of(3) { noise(k) } else { 0.0 };
        assert_eq!(found(scattered), Some((Pattern::Zeros, Some(ValueRecipe::ZeroGuard))));
        assert_eq!(
            found(|k| f64::from(k % 7)),
            Some((Pattern::FewDense, Some(ValueRecipe::NarrowerStorage)))
        );
        assert_eq!(found(|k| [0.1, 7.0, 2.5][k as usize % 3]).map(|p| p.0), Some(Pattern::FewFrequent));
        assert_eq!(found(|k| noise(k).trunc()).map(|p| p.0), Some(Pattern::WholeNumbers));
        assert_eq!(found(|k| f64::from(noise(k) as f32)).map(|p| p.0), Some(Pattern::WiderType));
    }

    #[test]
    fn values_of_two_accesses_are_told_together() {
        let mut both = group(&[1.0; 100]);
        both.add(&group(&[2.0; 100]).seen);
        let held = both.of_values().map(|held| (held.pattern, held.detail));
        assert_eq!(held, Some((Pattern::FewDense, "2 values, 1 to 2 without a gap".to_owned())));
    }

    #[test]
    fn few_accesses_say_nothing() {
        assert_eq!(group(&[1.0; 15]).of_values(), None);
    }

    #[test]
    fn ranges_have_types() {
        use ScalarType::{I8, I16, U8, U16};
        assert_eq!(signed_or_unsigned(-128, 127), Some(I8));
        assert_eq!(signed_or_unsigned(-129, 0), Some(I16));
        assert_eq!((signed_or_unsigned(0, 255), signed_or_unsigned(0, 256)), (Some(U8), Some(U16)));
        assert_eq!(signed_or_unsigned(-1, i64::from(i32::MAX) + 1), None);
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.1, 2.0, 1234.5678, 1e-9, -3.25].map(number);
        assert_eq!(texts, ["0.1", "2", "1234.57", "1.00000e-9", "-3.25"]);
    }
}
