//! Parsers of values: durations and sizes.

use std::time::Duration;

use talos_config::parse_bytes;

/// Parses a time to wait, up to a day.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let duration = span(text)?;
    if duration > LONGEST { Err(format!("{WRONG_DURATION}, up to a day")) } else { Ok(duration) }
}

/// Parses a duration as Go writes it: 90s, 5m, 1h30m, 250ms.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let number: u64 = number.parse().map_err(|_| WRONG_DURATION.to_owned())?;
        let seconds = match unit {
            "ms" => Duration::from_millis(number),
            "s" => Duration::from_secs(number),
            "m" => Duration::from_secs(number.saturating_mul(60)),
            "h" => Duration::from_secs(number.saturating_mul(3600)),
            _ => return Err(WRONG_DURATION.to_owned()),
        };
        total = total.saturating_add(seconds);
        rest = after;
    }
    if total.is_zero() {
        return Err(WRONG_DURATION.to_owned());
    }
    Ok(total)
}

/// Parses a size as Talos writes it: 500MB, 8GiB, 1024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match parse_bytes(text) {
        Ok(bytes @ 1..) => Ok(bytes),
        Ok(0) | Err(_) => Err("write it as 500MB or 8GiB".to_owned()),
    }
}

const WRONG_DURATION: &str = "write it as 30s, 5m or 1h30m";
/// Longer than anyone waits for one command.
const LONGEST: Duration = Duration::from_hours(24);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, seconds) in [("30s", 30.0), ("1h30m", 5400.0), ("250ms", 0.25), ("5m0s", 300.0)]
        {
            assert!((duration(text).unwrap().as_secs_f64() - seconds).abs() < 1e-9, "{text}");
        }
        for text in ["", "5", "s", "-1s", "1d", "0s", "25h", "99999999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(span("8760h0m0s"), Ok(Duration::from_hours(8760)));
        assert!(span("1y").is_err());
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [("1", 1), ("500MB", 500_000_000), ("8GiB", 8 << 30), ("1.5kB", 1500)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "0GiB", "GiB", "-1", "8 dwarves", "99999999EiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
