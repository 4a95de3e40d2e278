//! Reading DER, one value after another.

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const SEQUENCE: u8 = 0x30;

/// Reads values one after another.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// Returns the next value: its tag, its content, and all its bytes.
    pub(crate) fn next(&mut self) -> Option<(u8, &'a [u8], &'a [u8])> {
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

    /// Reads the content of the next value, which must have this tag.
    pub(crate) fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, ..)| *found == tag).map(|(_, content, _)| content)
    }
}
