//! Points in time, to the second.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970-01-01 00:00 UTC, leap seconds not counted. Shown, and written to JSON, as RFC 3339 has it:
/// `2026-11-21T10:03:03Z`. The calendar follows H. Hinnant, "chrono-compatible low-level date algorithms".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

const SECONDS_PER_DAY: i64 = 86_400;
/// Days before the first of each month in a year that begins in March.
const DAYS_BEFORE: [i64; 12] = [0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337];
/// From 0000-03-01 to 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;
/// The last second of the year 9999.
const LAST: i64 = 253_402_300_799;

impl Timestamp {
    /// This many seconds after the epoch; `None` outside the years 1970 to 9999.
    pub fn from_unix_seconds(seconds: i64) -> Option<Self> {
        (0..=LAST).contains(&seconds).then_some(Self(seconds))
    }

    /// Now, by the system's clock.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_secs()).unwrap_or(LAST).min(LAST))
    }

    /// Seconds since the epoch.
    pub fn unix_seconds(self) -> i64 {
        self.0
    }

    /// `20261121-100303`, for names of files.
    pub(crate) fn compact(self) -> String {
        self.to_string()
            .chars()
            .filter_map(|c| if c == 'T' { Some('-') } else { c.is_ascii_digit().then_some(c) })
            .collect()
    }

    fn from_parts(year: i64, month: i64, day: i64, second_of_day: i64) -> Option<Self> {
        // Years begin in March, so that the leap day comes last.
        let shifted = if month <= 2 { year - 1 } else { year };
        let month_idx = usize::try_from((month + 9) % 12).ok()?;
        let days =
            365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + DAYS_BEFORE[month_idx] + day - 1;
        Self::from_unix_seconds((days - DAYS_TO_EPOCH) * SECONDS_PER_DAY + second_of_day)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0 / SECONDS_PER_DAY + DAYS_TO_EPOCH;
        let (era, in_era) = (days / 146_097, days % 146_097);
        let year_of_era = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
        let day_of_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_idx = DAYS_BEFORE.iter().rposition(|before| *before <= day_of_year).unwrap_or(0);
        let day = day_of_year - DAYS_BEFORE[month_idx] + 1;
        let month = (month_idx + 2) % 12 + 1;
        let year = 400 * era + year_of_era + i64::from(month <= 2);
        let second = self.0 % SECONDS_PER_DAY;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl FromStr for Timestamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
        let parts = (|| {
            let day = Self::from_parts(number(0, 4)?, number(5, 7)?, number(8, 10)?, 0)?;
            Self::from_unix_seconds(day.0 + 3600 * number(11, 13)? + 60 * number(14, 16)? + number(17, 19)?)
        })();
        // Every point in time has one spelling: whatever prints differently was not valid.
        parts
            .filter(|moment| moment.to_string() == text)
            .ok_or_else(|| format!("`{text}` is not a moment such as 2026-11-21T10:03:03Z"))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_234_567_890, "2009-02-13T23:31:30Z"),
            (LAST, "9999-12-31T23:59:59Z"),
        ] {
            let moment = Timestamp::from_unix_seconds(seconds).expect("in range");
            assert_eq!(moment.to_string(), text);
            assert_eq!(text.parse(), Ok(moment));
        }
        assert_eq!(Timestamp(1_234_567_890).compact(), "20090213-233130");
    }

    #[test]
    fn every_day_comes_back() {
        for day in 0..200_000 {
            let moment = Timestamp(day * SECONDS_PER_DAY + day % SECONDS_PER_DAY);
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for wrong in [
            "",
            "2026-11-21",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00+01:00",
            "1969-12-31T23:59:59Z",
            "+026-01-01T00:00:00Z",
            "2026-1é-01T00:00:00Z",
        ] {
            assert!(wrong.parse::<Timestamp>().is_err(), "{wrong}");
        }
    }
}
