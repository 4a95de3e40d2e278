//! The formats that a file can have.

mod dotenv;
mod json;
mod yaml;
mod yaml_writer;

use talos_config::yaml::Limits;

use crate::error::Error;
use crate::rules::Layout;
use crate::tree::{Entry, Map, Node, Value};

/// The format of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// One or several documents, each a mapping.
    Yaml,
    /// One object.
    Json,
    /// Lines of `KEY=value`, where `\n` in a value is a line break.
    Dotenv,
}

impl Format {
    /// Returns the format that `sops` derives from a file name; `None` if it is not supported.
    pub fn of_path(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "env" => Some(Self::Dotenv),
            _ => None,
        }
    }

    pub(crate) fn read(self, text: &str) -> Result<Vec<Map>, Error> {
        match self {
            Self::Yaml => yaml::read(text),
            Self::Json => json::read(text).map(|map| vec![map]),
            Self::Dotenv => dotenv::read(text).map(|map| vec![map]),
        }
    }

    pub(crate) fn write(self, documents: &[Map], layout: Layout) -> Result<String, Error> {
        match (self, documents) {
            (Self::Yaml, documents) => Ok(yaml_writer::write(documents, layout.yaml_indent)),
            (Self::Json, [map, ..]) => json::write(map, layout.json_indent),
            (Self::Dotenv, [map, ..]) => dotenv::write(map),
            (Self::Json | Self::Dotenv, []) => Err(Error::Empty),
        }
    }

    pub(crate) fn has_metadata(self, document: &Map) -> bool {
        document.iter().any(|entry| self.is_metadata(entry))
    }

    /// Takes the metadata out of all documents, and returns that of the first.
    pub(crate) fn take_metadata(self, documents: &mut [Map]) -> Result<Map, Error> {
        let mut taken = documents.iter_mut().map(|document| {
            document.extract_if(.., |entry| self.is_metadata(entry)).collect::<Map>()
        });
        let metadata = taken.next().unwrap_or_default();
        taken.for_each(drop);
        if metadata.is_empty() {
            return Err(Error::NotEncrypted);
        }
        if self == Self::Dotenv {
            return dotenv::unflatten(metadata);
        }
        match <[Entry; 1]>::try_from(metadata) {
            Ok([Entry::Pair(_, Node { value: Value::Map(map), .. })]) => Ok(map),
            Ok(_) => Err(Error::Metadata("it is not a mapping".to_owned())),
            Err(_) => Err(Error::Metadata("there is more than one".to_owned())),
        }
    }

    /// Appends the metadata to every document.
    pub(crate) fn put_metadata(self, documents: &mut [Map], metadata: &Map) {
        for document in documents {
            if self == Self::Dotenv {
                document.extend(dotenv::flatten(metadata));
            } else {
                let node = Node::new(Value::Map(metadata.clone()));
                document.push(Entry::Pair(METADATA.to_owned(), node));
            }
        }
    }

    fn is_metadata(self, entry: &Entry) -> bool {
        match entry {
            Entry::Comment(_) => false,
            Entry::Pair(key, _) if self == Self::Dotenv => key.starts_with(dotenv::PREFIX),
            Entry::Pair(key, _) => key == METADATA,
        }
    }
}

fn not_too_long(text: &str) -> Result<(), Error> {
    if text.len() <= LIMITS.bytes {
        return Ok(());
    }
    Err(Error::Syntax { problem: format!("more than {} bytes", LIMITS.bytes), line: None })
}

const METADATA: &str = "sops";

/// Bounds that keep hostile text from using up memory, stack or time: each value gets a line of its own,
/// indented by its depth.
const LIMITS: Limits = Limits {
    // Talos takes at most 4 MiB; encrypted that is about twice as long.
    bytes: 12 << 20,
    // Three times as deep as any configuration.
    depth: 64,
    // Ten times the values that fit the 4 MiB in practice.
    nodes: 1 << 18,
};
