//! Data with its origin: what a document holds once it is known what its text means.

use std::collections::BTreeMap;

use crate::Location;

/// A value and where it was written.
///
/// It may hold secrets, so it has neither `Debug` nor `Display`: what is shown is encoded on purpose,
/// redacted or not.
#[derive(Clone)]
pub struct Value {
    /// The value.
    pub data: Data,
    /// Where it was written.
    pub origin: Location,
}

/// The shapes of data.
#[derive(Clone, PartialEq)]
pub enum Data {
    /// Null in free-form data; typed data leaves an unset key out instead.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of at most 64 bits, signed or unsigned.
    Int(i128),
    /// Another number, only in free-form data.
    Float(f64),
    /// Text, and everything that is written as text: addresses, durations, sizes, choices.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// An object or a map.
    Map(BTreeMap<String, Value>),
}

impl Value {
    /// A value that no text gave.
    pub fn new(data: Data) -> Self {
        Self { data, origin: Location::default() }
    }

    pub(crate) fn at(data: Data, origin: Location) -> Self {
        Self { data, origin }
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The list, if it is a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// The keys and values, if it is an object or a map.
    pub fn as_map(&self) -> Option<&BTreeMap<String, Self>> {
        match &self.data {
            Data::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key, if it is an object or a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.get(key)
    }
}

/// Values are equal when their data are; where they were written does not matter.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::new(Data::Text(text.to_owned()))
    }
}
