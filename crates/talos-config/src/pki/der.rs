//! The little of ASN.1 that certificates need.

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_ID: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// A value with its tag and its length.
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

/// A number that is not negative.
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

/// A point in time, in seconds since 1970.
pub(super) fn time(seconds: i64) -> Vec<u8> {
    let days = seconds.div_euclid(86_400);
    let second = seconds.rem_euclid(86_400);
    let (year, month, day) = date(days);
    let rest =
        format!("{month:02}{day:02}{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60);
    if (1950..2050).contains(&year) {
        value(UTC_TIME, format!("{:02}{rest}", year % 100).as_bytes())
    } else {
        value(GENERALIZED_TIME, format!("{year:04}{rest}").as_bytes())
    }
}

/// The date of a day, counted from 1970, in the calendar of today (Hinnant's algorithm).
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Reads values one after another.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// The next value: its tag, its content, and all its bytes.
    pub(super) fn next(&mut self) -> Option<(u8, &'a [u8], &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = if *first < 0x80 {
            (usize::from(*first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            let bytes = rest.get(..count).filter(|_| (1..=4).contains(&count))?;
            let length = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, &rest[count..])
        };
        let content = rest.get(..length)?;
        let whole = &self.0[..self.0.len() - rest.len() + length];
        self.0 = &rest[length..];
        Some((*tag, content, whole))
    }

    /// The content of the next value, which must have this tag.
    pub(super) fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, ..)| *found == tag).map(|(_, content, _)| content)
    }
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
    fn what_is_written_is_read() {
        let long = value(OCTET_STRING, &[7; 300]);
        let mut reader = Reader(&long);
        assert_eq!(reader.expect(OCTET_STRING), Some(&[7; 300][..]));
        assert!(reader.next().is_none());
    }
}
