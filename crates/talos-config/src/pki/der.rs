//! The little of ASN.1 that certificates need.

use crate::civil::{date_of_day, day_of_date};

pub(super) use super::reader::{BIT_STRING, INTEGER, OCTET_STRING, Reader, SEQUENCE};

pub(super) const NULL: u8 = 0x05;
pub(super) const OBJECT_ID: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SET: u8 = 0x31;

/// Returns a value with its tag and its length.
pub(super) fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let length = content.len();
    if let Ok(short @ 0..0x80) = u8::try_from(length) {
        bytes.push(short);
    } else {
        let long: Vec<u8> =
            length.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
        // At most eight bytes, so it fits beside the mark.
        bytes.push(0x80 | u8::try_from(long.len()).unwrap_or(0x7f));
        bytes.extend(long);
    }
    bytes.extend_from_slice(content);
    bytes
}

pub(super) fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    value(SEQUENCE, &parts.concat())
}

/// Elements in the order that DER asks for.
pub(super) fn set_of(mut elements: Vec<Vec<u8>>) -> Vec<u8> {
    elements.sort();
    value(SET, &elements.concat())
}

/// Returns a number that is not negative.
pub(super) fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let significant: Vec<u8> = bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
    let mut content = Vec::new();
    if significant.first().is_none_or(|byte| *byte >= 0x80) {
        content.push(0);
    }
    content.extend(significant);
    value(INTEGER, &content)
}

/// Bits that fill whole bytes.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], bytes].concat())
}

/// Returns a point in time, in seconds since 1970.
pub(super) fn time(seconds: i64) -> Vec<u8> {
    let days = seconds.div_euclid(86_400);
    let second = seconds.rem_euclid(86_400);
    let (year, month, day) = date_of_day(days);
    let rest =
        format!("{month:02}{day:02}{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60);
    if (1950..2050).contains(&year) {
        value(UTC_TIME, format!("{:02}{rest}", year % 100).as_bytes())
    } else {
        value(GENERALIZED_TIME, format!("{year:04}{rest}").as_bytes())
    }
}

/// Reads what [`time`] wrote, in seconds since 1970.
pub(super) fn seconds(tag: u8, content: &[u8]) -> Option<i64> {
    let digits = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = digits.split_at_checked(2)?;
            let year: i64 = year.parse().ok()?;
            (year + if year < 50 { 2000 } else { 1900 }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = digits.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let part = |index: usize| rest.get(2 * index..2 * index + 2)?.parse::<i64>().ok();
    let (month, day, hour) = (part(0)?, part(1)?, part(2)?);
    let (minute, second) = (part(3)?, part(4)?);
    Some(((day_of_date(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Returns a day as people write it: `2031-04-05`.
pub(super) fn spelled_date(seconds: i64) -> String {
    let (year, month, day) = date_of_day(seconds.div_euclid(86_400));
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_the_form_of_their_century() {
        assert_eq!(time(0), value(UTC_TIME, b"700101000000Z"));
        assert_eq!(time(1_697_107_569), value(UTC_TIME, b"231012104609Z"));
        assert_eq!(time(2_524_608_000), value(GENERALIZED_TIME, b"20500101000000Z"));
        assert_eq!(time(951_782_400), value(UTC_TIME, b"000229000000Z"));
    }

    #[test]
    fn times_are_read_again() {
        for second in [0, 951_782_400, 1_697_107_569, 2_524_607_999, 2_524_608_000, 4_102_444_800] {
            let written = time(second);
            let (tag, content, _) = Reader(&written).next().unwrap();
            assert_eq!(seconds(tag, content), Some(second));
        }
        assert_eq!(spelled_date(951_782_400), "2000-02-29");
    }

    #[test]
    fn what_is_written_is_read() {
        let long = value(OCTET_STRING, &[7; 300]);
        let mut reader = Reader(&long);
        assert_eq!(reader.expect(OCTET_STRING), Some(&[7; 300][..]));
        assert!(reader.next().is_none());
    }
}
