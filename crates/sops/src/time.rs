//! Times as SOPS writes them: RFC 3339, with no more digits than needed.

use talos_config::civil::{date_of_day, day_of_date};

/// The time of an encryption, in RFC 3339.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Timestamp(String);

impl Timestamp {
    /// Converts seconds since 1970, in UTC. A time after the year 9999 becomes its end, since the
    /// format has four digits for the year.
    pub fn from_unix(seconds: u64) -> Self {
        let seconds = seconds.min(LAST_SECOND);
        let (year, month, day) = date_of_day((seconds / 86_400).cast_signed());
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        Self(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
    }

    /// Returns the time in RFC 3339.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the canonical form in which a date or a time is encrypted and counted in the MAC, with
/// or without fractions of a second. `None`: the text is neither.
pub(crate) fn canonical(text: &str, with_fraction: bool) -> Option<String> {
    let (date, rest) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, number(parts.next()?)?, number(parts.next()?)?);
    if parts.next().is_some() || year.len() != 4 {
        return None;
    }
    let year = number(year)?;
    let date = (year.cast_signed(), month.cast_signed(), day.cast_signed());
    if !(1..=12).contains(&month) || date_of_day(day_of_date(date.0, date.1, date.2)) != date {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    let Some(rest) = rest else { return Some(format!("{date}T00:00:00Z")) };
    let (zone_wanted, rest) = (!rest.starts_with(' '), &rest[1..]);
    let time_end =
        rest.find(|c: char| !matches!(c, '0'..='9' | ':' | '.' | ',')).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(time_end);
    let (clock, fraction) = time.split_once(['.', ',']).map_or((time, None), |(c, f)| (c, Some(f)));
    let mut parts = clock.split(':');
    let (hour, minute, second) =
        (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = match fraction {
        None => "",
        Some(digits) if digits.is_empty() || !all_digits(digits) => return None,
        // Nothing finer than nanoseconds is kept.
        Some(digits) => digits.get(..9).unwrap_or(digits).trim_end_matches('0'),
    };
    let dot = if fraction.is_empty() || !with_fraction { "" } else { "." };
    let fraction = if with_fraction { fraction } else { "" };
    let zone = if zone_wanted { offset(zone)? } else { zone.is_empty().then(|| "Z".to_owned())? };
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{dot}{fraction}{zone}"))
}

fn offset(zone: &str) -> Option<String> {
    if zone == "Z" {
        return Some("Z".to_owned());
    }
    let sign = zone.chars().next().filter(|sign| ['+', '-'].contains(sign))?;
    let (hours, minutes) = zone[1..].split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let utc = hours == 0 && minutes == 0;
    Some(if utc { "Z".to_owned() } else { format!("{sign}{hours:02}:{minutes:02}") })
}

fn number(text: &str) -> Option<u64> {
    (matches!(text.len(), 1 | 2 | 4) && all_digits(text)).then(|| text.parse().ok())?
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// 9999-12-31T23:59:59Z.
const LAST_SECOND: u64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_a_date() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_794_789_130, "2026-11-16T00:32:10Z"),
            (u64::MAX, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(Timestamp::from_unix(seconds).as_str(), text);
        }
    }

    #[test]
    fn every_way_to_write_a_time_becomes_one() {
        for (text, canonical_text) in [
            ("2001-1-2", "2001-01-02T00:00:00Z"),
            ("2001-01-02 3:4:5", "2001-01-02T03:04:05Z"),
            ("2001-01-02t03:04:05.500+00:00", "2001-01-02T03:04:05.5Z"),
            ("2001-01-02T03:04:05.1234567899-07:30", "2001-01-02T03:04:05.123456789-07:30"),
        ] {
            assert_eq!(canonical(text, true).as_deref(), Some(canonical_text), "{text}");
        }
        assert_eq!(canonical("2001-01-02T03:04:05.5Z", false).unwrap(), "2001-01-02T03:04:05Z");
        for text in ["", "2001", "2001-13-01", "2001-02-29", "2001-01-01T", "2001-01-01T1:2:3", "é"]
        {
            assert_eq!(canonical(text, true), None, "{text}");
        }
    }
}
