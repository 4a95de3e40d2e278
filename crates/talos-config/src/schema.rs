//! The schema language in which [`kinds`](crate::kinds) are written.
//!
//! A kind is a table of fields. Everything that is done to documents (reading, merging, deleting,
//! writing, redacting, comparing) follows these tables, so a new kind is one new table.

pub(crate) use crate::contract::Contract;
use crate::yaml::Dialect;

/// A kind of document.
#[derive(Debug)]
pub struct Kind {
    /// Its name, as in `kind:`. The oldest document has none and is called `v1alpha1` here.
    pub name: &'static str,
    /// True if documents of this kind are told apart by `name`.
    pub named: bool,
    /// The first Talos release that knows it.
    pub since: Contract,
    /// Its fields, in the order in which they are written.
    pub fields: &'static [Field],
    /// The purpose.
    pub about: &'static str,
}

/// A kind is its name.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// One key of an object.
#[expect(clippy::struct_excessive_bools, reason = "a table of independent marks")]
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its key; empty for an object whose fields stand in this place themselves.
    pub key: &'static str,
    /// The content.
    pub ty: Type,
    /// Unset and zero are two things: `false` and `0` can be written and override.
    pub optional: bool,
    /// It is written even when it is empty.
    pub always: bool,
    /// The first encoder that leaves it out when it is empty; older ones write it always.
    pub always_before: Option<Dialect>,
    /// The first encoder that writes an empty list; older ones leave it out like an unset one.
    pub keep_empty: Option<Dialect>,
    /// The first release where a patch replaces it as a whole; older ones merge it like any other.
    pub replace: Option<Dialect>,
    /// It must not be shown.
    pub secret: bool,
    /// Free text in which people keep secrets of their own: Talos shows it, Ichor does not.
    pub private: bool,
    /// The first release that knows it, where that is later than its kind's.
    pub since: Option<Contract>,
    /// The meaning, where there is something to say beyond the name.
    pub about: &'static str,
}

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// true or false
    Bool,
    /// An integer within bounds.
    Int {
        /// The least.
        min: i128,
        /// The greatest.
        max: i128,
    },
    /// Any text.
    Text,
    /// Text with a form of its own, kept in its canonical spelling.
    Format(Format),
    /// One of several words.
    Choice(&'static Choice),
    /// Arguments of a program: each a text or a list of texts.
    Arguments,
    /// An object of any content.
    Any,
    /// A list; elements that are null fall out of it.
    List(&'static Self),
    /// A list whose elements must not be null.
    StrictList(&'static Self),
    /// A list whose elements are told apart by a key, so that a patch can change one of them.
    KeyedList(&'static Self, Match, Nulls),
    /// A map from any key.
    Map(&'static Self),
    /// An object with known fields.
    Object(&'static [Field]),
    /// An object that is decoded and merged as a whole: a part left out is emptied.
    WholeObject(&'static [Field]),
    /// Encryption of a volume: left out on output unless it names a provider or a key.
    Encryption(&'static [Field]),
}

/// The forms of text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// `1m30s`
    Duration,
    /// File permissions, written as `0o644`.
    Octal,
    /// An IP address.
    Ip,
    /// An IP address and a prefix length.
    Cidr,
    /// An IP address and a port.
    IpPort,
    /// A hardware address.
    Mac,
    /// A URL, merged part by part.
    Url,
    /// `10GiB`; a patch that leaves it out resets it.
    ByteSize,
    /// `10GiB` or `50%`
    Size,
    /// A size of a legacy partition.
    DiskSize,
    /// A size with a comparison in front.
    SizeMatch,
    /// A port or `first-last`.
    PortRange,
    /// The name or number of a routing table.
    RoutingTable,
    /// Bytes.
    Base64,
    /// Text that takes no private tag.
    Word,
    /// Text that loses the line breaks in front of it.
    Manifest,
    /// An expression; a patch that leaves it out resets it.
    Expression,
}

/// A closed set of words.
#[derive(Debug)]
pub struct Choice {
    /// The name in Talos.
    pub name: &'static str,
    /// The words. The first one is what an unset field means, unless `unset` says otherwise.
    pub words: &'static [&'static str],
    /// The text of an unset field where that is none of the words.
    pub unset: Option<&'static str>,
    /// True if upper and lower case are told apart.
    pub exact_case: bool,
    /// Words that came with a later release than the others.
    pub later: &'static [(&'static str, Contract)],
}

/// The treatment of elements that are null.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Nulls {
    /// They fall out of the list.
    Dropped,
    /// They are an error.
    Refused,
}

/// The key by which elements of a list are told apart.
#[derive(Clone, Copy, Debug)]
pub enum Match {
    /// By the value of a key; on a match the element is merged.
    Merge(&'static str),
    /// By the value of a key; on a match the element is replaced where it stands.
    Replace(&'static str),
    /// Network interfaces: by name, else by their whole device selector.
    Interface,
}

impl Field {
    const fn new(key: &'static str, ty: Type) -> Self {
        Self {
            key,
            ty,
            optional: false,
            always: false,
            always_before: None,
            keep_empty: None,
            replace: None,
            secret: false,
            private: false,
            since: None,
            about: "",
        }
    }

    pub(crate) const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    pub(crate) const fn always(mut self) -> Self {
        self.always = true;
        self
    }

    pub(crate) const fn always_before(mut self, since: Dialect) -> Self {
        self.always_before = Some(since);
        self
    }

    pub(crate) const fn keep_empty(mut self, since: Dialect) -> Self {
        self.keep_empty = Some(since);
        self
    }

    pub(crate) const fn replace(self) -> Self {
        self.replace_since(Dialect::V1_12)
    }

    pub(crate) const fn replace_since(mut self, since: Dialect) -> Self {
        self.replace = Some(since);
        self
    }

    pub(crate) fn is_always_written(&self, dialect: Dialect) -> bool {
        self.always || self.always_before.is_some_and(|since| dialect < since)
    }

    pub(crate) fn is_replaced(&self, dialect: Dialect) -> bool {
        self.replace.is_some_and(|since| dialect >= since)
    }

    pub(crate) const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    pub(crate) const fn private(mut self) -> Self {
        self.private = true;
        self
    }

    pub(crate) const fn since(mut self, major: u32, minor: u32) -> Self {
        self.since = Some(Contract::new(major, minor));
        self
    }

    pub(crate) const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }
}

impl Type {
    /// Returns whether a patch resets a field of this type by not mentioning it.
    pub(crate) fn resets(self) -> bool {
        matches!(self, Self::Bool | Self::Format(Format::ByteSize | Format::Expression))
    }
}

/// Returns a field of an object.
pub(crate) const fn field(key: &'static str, ty: Type) -> Field {
    Field::new(key, ty)
}

/// Returns a set of words to choose from.
pub(crate) const fn choice(name: &'static str, words: &'static [&'static str]) -> Choice {
    Choice { name, words, unset: None, exact_case: false, later: &[] }
}

impl Choice {
    pub(crate) const fn unset_as(mut self, text: &'static str) -> Self {
        self.unset = Some(text);
        self
    }

    pub(crate) const fn exact_case(mut self) -> Self {
        self.exact_case = true;
        self
    }

    pub(crate) const fn later(mut self, later: &'static [(&'static str, Contract)]) -> Self {
        self.later = later;
        self
    }

    /// Whether the talosctl of a dialect knows a word.
    pub fn is_known_to(&self, word: &str, dialect: Dialect) -> bool {
        let later = self.later.iter().find(|(later, _)| *later == word);
        later.is_none_or(|(_, since)| since.is_known_to(dialect))
    }
}

/// Fields that stand in this place themselves.
pub(crate) const fn inline(fields: &'static [Field]) -> Field {
    Field::new("", Type::Object(fields))
}

/// Finds a field by its key, among inlined ones too.
pub(crate) fn find(fields: &'static [Field], key: &str) -> Option<&'static Field> {
    fields.iter().find_map(|field| match field.ty {
        Type::Object(inner) if field.key.is_empty() => find(inner, key),
        _ => (field.key == key).then_some(field),
    })
}

/// Returns all fields in the order in which they are written, inlined ones in their place.
pub(crate) fn flat(fields: &'static [Field]) -> Box<dyn Iterator<Item = &'static Field>> {
    Box::new(fields.iter().flat_map(|field| match field.ty {
        Type::Object(inner) if field.key.is_empty() => flat(inner),
        _ => Box::new(std::iter::once(field)),
    }))
}

/// The first release where an argument may be a list, or null; before, each was a text.
pub(crate) const ARGUMENT_LISTS: Dialect = Dialect::V1_13;

pub(crate) const U8: Type = Type::Int { min: 0, max: u8::MAX as i128 };
pub(crate) const U16: Type = Type::Int { min: 0, max: u16::MAX as i128 };
pub(crate) const U32: Type = Type::Int { min: 0, max: u32::MAX as i128 };
pub(crate) const U64: Type = Type::Int { min: 0, max: u64::MAX as i128 };
pub(crate) const I32: Type = Type::Int { min: i32::MIN as i128, max: i32::MAX as i128 };
pub(crate) const INT: Type = Type::Int { min: i64::MIN as i128, max: i64::MAX as i128 };
pub(crate) const TEXTS: Type = Type::List(&Type::Text);
pub(crate) const TEXT_MAP: Type = Type::Map(&Type::Text);
pub(crate) const DURATION: Type = Type::Format(Format::Duration);
pub(crate) const OCTAL: Type = Type::Format(Format::Octal);
pub(crate) const IP: Type = Type::Format(Format::Ip);
pub(crate) const CIDR: Type = Type::Format(Format::Cidr);
pub(crate) const IP_PORT: Type = Type::Format(Format::IpPort);
pub(crate) const MAC: Type = Type::Format(Format::Mac);
pub(crate) const URL: Type = Type::Format(Format::Url);
pub(crate) const BYTE_SIZE: Type = Type::Format(Format::ByteSize);
pub(crate) const SIZE: Type = Type::Format(Format::Size);
pub(crate) const DISK_SIZE: Type = Type::Format(Format::DiskSize);
pub(crate) const SIZE_MATCH: Type = Type::Format(Format::SizeMatch);
pub(crate) const PORT_RANGE: Type = Type::Format(Format::PortRange);
pub(crate) const BASE64: Type = Type::Format(Format::Base64);
pub(crate) const ROUTING_TABLE: Type = Type::Format(Format::RoutingTable);
pub(crate) const WORD: Type = Type::Format(Format::Word);
pub(crate) const EXPRESSION: Type = Type::Format(Format::Expression);
