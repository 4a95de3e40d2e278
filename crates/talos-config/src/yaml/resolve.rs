//! The type of a scalar for which no type is asked.

use super::node::{Node, Style};

/// A scalar, resolved as the Go library does it.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`; the old words `yes`, `on` … are text here.
    Bool(bool),
    /// An integer of at most 64 bits.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A date, or a date with a time.
    Timestamp,
    /// The key `<<`.
    Merge,
    /// Anything else.
    Text,
}

/// Resolves a scalar by its style and text.
pub fn resolve(text: &str, style: Style) -> Resolved {
    if style == Style::Plain { resolve_plain(text) } else { Resolved::Text }
}

/// Resolves a node, its tag included; a node that is not a scalar is a text.
pub fn resolve_node(node: &Node) -> Resolved {
    let Some((text, style)) = node.scalar() else { return Resolved::Text };
    match node.tag().map(|tag| tag.strip_prefix(CORE_TAG)) {
        None => resolve(text, style),
        Some(Some("int" | "float" | "bool" | "null" | "merge")) => resolve(text, Style::Plain),
        Some(_) => Resolved::Text,
    }
}

/// The prefix of the tags of YAML's own types.
pub(crate) const CORE_TAG: &str = "tag:yaml.org,2002:";
pub(crate) const BINARY_TAG: &str = "tag:yaml.org,2002:binary";

/// Returns the old words for true and false, which a field that wants a boolean still takes.
pub fn old_boolean(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn resolve_plain(text: &str) -> Resolved {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
        "true" | "True" | "TRUE" => return Resolved::Bool(true),
        "false" | "False" | "FALSE" => return Resolved::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Resolved::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Resolved::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Resolved::Float(f64::NEG_INFINITY),
        "<<" => return Resolved::Merge,
        _ => {}
    }
    match text.as_bytes()[0] {
        b'.' => decimal(text).map_or(Resolved::Text, Resolved::Float),
        b'+' | b'-' | b'0'..=b'9' => {
            if is_timestamp(text) {
                return Resolved::Timestamp;
            }
            let bare = text.replace('_', "");
            // The only integer that has a sign and no size.
            if bare == "-0" {
                return Resolved::Float(-0.0);
            }
            if let Some(number) = integer(&bare) {
                return Resolved::Int(number);
            }
            decimal(&bare).map_or(Resolved::Text, Resolved::Float)
        }
        _ => Resolved::Text,
    }
}

/// Reads a Go integer literal that fits 64 bits, signed or unsigned.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let number = i128::from(u64::from_str_radix(digits, radix).ok()?);
    // A plus sign makes it signed, and so does a minus sign.
    let signed = digits.len() != text.len() && text.starts_with(['+', '-']);
    let number = if negative { -number } else { number };
    (!signed || i64::try_from(number).is_ok()).then_some(number)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, unless it overflows.
fn decimal(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let well_formed = match mantissa.split_once('.') {
        None => !mantissa.is_empty() && all_digits(mantissa),
        Some(("", fraction)) => !fraction.is_empty() && all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && all_digits(fraction),
    };
    let exponent_fine = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    let number: f64 = (well_formed && exponent_fine).then(|| text.parse().ok())??;
    number.is_finite().then_some(number)
}

/// Returns whether a text is a date, with or without a time of day.
fn is_timestamp(text: &str) -> bool {
    timestamp(text).is_some()
}

fn timestamp(text: &str) -> Option<()> {
    let (year, rest) = digits(text, 4, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 1, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 1, 2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&day) {
        return None;
    }
    if rest.is_empty() {
        return Some(());
    }
    if let Some(time) = rest.strip_prefix(['T', 't']) {
        return zone(time_of_day(time)?);
    }
    time_of_day(rest.strip_prefix(' ')?)?.is_empty().then_some(())
}

/// Reads `h:m:s` with an optional fraction and gives what follows.
fn time_of_day(text: &str) -> Option<&str> {
    let (hour, rest) = digits(text, 1, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 1, 2)?;
    let (second, rest) = digits(rest.strip_prefix(':')?, 1, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    match rest.strip_prefix(['.', ',']) {
        None => Some(rest),
        Some(fraction) => {
            let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
            (end > 0).then(|| &fraction[end..])
        }
    }
}

fn zone(text: &str) -> Option<()> {
    if text == "Z" {
        return Some(());
    }
    let (hours, rest) = digits(text.strip_prefix(['+', '-'])?, 2, 2)?;
    let (minutes, rest) = digits(rest.strip_prefix(':')?, 2, 2)?;
    (hours <= 24 && minutes < 60 && rest.is_empty()).then_some(())
}

/// Reads a number of between `least` and `most` digits.
fn digits(text: &str, least: usize, most: usize) -> Option<(u32, &str)> {
    let end = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if end < least {
        return None;
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}
