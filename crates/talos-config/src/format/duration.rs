//! Durations as Go writes them: `1h30m0s`, `300ms`.

/// Reads a duration and gives its canonical spelling.
pub(crate) fn canonical(text: &str) -> Result<String, String> {
    nanoseconds(text).map(spell).ok_or_else(|| format!("{text:?} is not a duration, such as 1m30s"))
}

/// Returns a number of nanoseconds.
pub(super) fn from_number(number: f64) -> Result<String, String> {
    if number.fract() != 0.0 || number.abs() >= 9e18 {
        return Err(format!("{number} is not a duration, such as 1m30s"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    Ok(spell(number as i64))
}

/// Reads a duration.
pub(crate) fn nanoseconds(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let whole_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, after) = rest.split_at(whole_end);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => {
                let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
                after.split_at(end)
            }
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let unit_end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let unit = UNITS.iter().find(|(name, _)| *name == unit)?.1;
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(unit)?)?;
        // More digits than a nanosecond has cannot change the result.
        let fraction = &fraction[..fraction.len().min(18)];
        if !fraction.is_empty() {
            let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
            total += fraction.parse::<i128>().ok()? * unit / scale;
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

fn spell(nanoseconds: i64) -> String {
    let negative = nanoseconds < 0;
    let mut rest = nanoseconds.unsigned_abs();
    let sign = if negative { "-" } else { "" };
    if rest == 0 {
        return "0s".to_owned();
    }
    if rest < 1_000_000_000 {
        let (unit, size) = match rest {
            0..1_000 => ("ns", 1),
            1_000..1_000_000 => ("µs", 1_000),
            _ => ("ms", 1_000_000),
        };
        return format!("{sign}{}{unit}", decimal(rest, size));
    }
    let minute = 60_000_000_000;
    let hours = rest / (60 * minute);
    rest %= 60 * minute;
    let minutes = rest / minute;
    let seconds = decimal(rest % minute, 1_000_000_000);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, _) => format!("{sign}{minutes}m{seconds}s"),
        _ => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// Returns a quotient in decimals, without zeros at the end.
fn decimal(number: u64, unit: u64) -> String {
    let whole = number / unit;
    let rest = number % unit;
    if rest == 0 {
        return whole.to_string();
    }
    let width = unit.to_string().len() - 1;
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

const UNITS: &[(&str, i128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn spelled_as_go_spells_them() {
        for (text, expected) in [
            ("90s", "1m30s"),
            ("168h", "168h0m0s"),
            ("1us", "1µs"),
            ("1.5h", "1h30m0s"),
            ("300ms", "300ms"),
            ("1m0.25s", "1m0.25s"),
            ("-5m", "-5m0s"),
            ("0", "0s"),
            ("1h1m1s1ms1us1ns", "1h1m1.001001001s"),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(expected));
        }
        for text in ["", "5", "1d", "s", "1", "1h 5m", "--5s", "9999999999h"] {
            assert!(canonical(text).is_err(), "{text}");
        }
    }
}
