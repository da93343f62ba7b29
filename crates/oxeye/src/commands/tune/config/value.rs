//! What a key of the file has, as what it means.

use crate::request::parse_duration;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;
use toml::de::DeValue;

/// A key and what stands behind it. Errors say what a value should be, as the second half of a sentence on the key.
pub(super) struct Value<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a DeValue<'a>,
}

impl Value<'_> {
    pub(super) fn string(&self) -> Result<String, String> {
        self.string_of(self.value).ok_or_else(|| format!("is a string, such as {}", self.example()))
    }

    /// A list of strings that mean something.
    pub(super) fn list<T>(&self) -> Result<Vec<T>, String>
    where
        T: FromStr,
        T::Err: std::fmt::Display,
    {
        let wrong = || format!("is a list of strings, such as {}", self.example());
        let DeValue::Array(items) = self.value else { return Err(wrong()) };
        let read = |text: String| text.parse::<T>().map_err(|why| format!("has `{text}`: {why}"));
        items.iter().map(|item| read(self.string_of(item.get_ref()).ok_or_else(wrong)?)).collect()
    }

    pub(super) fn whole(&self, least: i64, most: i64) -> Result<i64, String> {
        let number = match self.value {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let fits = number.filter(|number| (least..=most).contains(number));
        fits.ok_or_else(|| format!("is a number from {least} to {most}"))
    }

    pub(super) fn number(&self, range: Range<f64>) -> Result<f64, String> {
        let number = match self.value {
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) => number.as_str().parse().ok(),
            _ => None,
        };
        let Range { start, end } = range;
        let wrong = || format!("is a number from {start} to below {end}, such as {}", self.example());
        number.filter(|value| range.contains(value)).ok_or_else(wrong)
    }

    pub(super) fn time(&self) -> Result<Duration, String> {
        parse_duration(&self.string()?).map_err(|why| format!("is no time: {why}"))
    }

    pub(super) fn truth(&self) -> Result<bool, String> {
        match self.value {
            DeValue::Boolean(truth) => Ok(*truth),
            _ => Err("is true or false".into()),
        }
    }

    fn string_of(&self, value: &DeValue<'_>) -> Option<String> {
        match value {
            DeValue::String(text) => Some(text.clone().into_owned()),
            _ => None,
        }
    }

    /// What a value may look like.
    fn example(&self) -> &'static str {
        match self.key {
            "build" => "\"make clean && make\"",
            "compile-commands" => "\"build/compile_commands.json\"",
            "run" => "\"./solver -n 200 < input.dat\"",
            "budget" | "timeout" => "\"90s\"",
            "only" | "exclude" => "[\"grid.c\", \"main.c:12\", \"step\"]",
            "min-share" => "5",
            "min-speedup" => "1.05",
            "fp" => "\"strict\"",
            "tolerance" => "1e-4",
            "ignore" => "[\"took [0-9.]+ s\"]",
            "compare" => "[\"out/u.npy\"]",
            _ => "\"data\"",
        }
    }
}
