//! Where a value was written.

use std::fmt;

/// One text among those that were read together: a config, a patch. Zero is what no text gave.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SourceId(pub u32);

/// A place in one of the texts.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Location {
    /// Which text.
    pub source: SourceId,
    /// The line, counted from one; zero when no text gave the value.
    pub line: u32,
    /// The column in characters, counted from one.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
