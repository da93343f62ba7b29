//! Times as people write them.

use std::time::Duration;

/// `90`, `90s`, `1.5m`, `500ms`, `1h`.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => {
            return Err(format!(
                "`{unit}` is not a unit of time; give a number and ms, s, m or h, such as 10s"
            ));
        }
    };
    let value: f64 = digits.parse().map_err(|_| format!("`{text}` is not a time such as 90s or 5m"))?;
    match Duration::try_from_secs_f64(value * scale) {
        Ok(time) if !time.is_zero() && time <= Duration::from_secs(7 * 24 * 3600) => Ok(time),
        _ => Err("it must be more than zero and at most a week".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["", "s", "-1s", "0s", "1e300s", "5 parsecs", "nan", "inf"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
