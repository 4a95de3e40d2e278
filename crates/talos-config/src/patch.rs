//! Patches: what they are, and what they make of a configuration.

use std::collections::BTreeSet;

use crate::confidential::Field;
use crate::config::{Config, Document, Identity, nodes};
use crate::decode::{self, Later};
use crate::delete::{self, Selector};
use crate::error::Error;
use crate::json_patch::{self, Operation};
use crate::merge;
use crate::value::Value;
use crate::yaml::{Content, Dialect};
use crate::{Location, Secret, SourceId};

/// A change to a configuration.
#[derive(Clone)]
pub struct Patch {
    change: PatchKind,
    /// What older releases do not read.
    later: Vec<Later>,
    /// The first document that stands twice, which older releases do not read either.
    twice: Option<(Identity, Location)>,
}

#[derive(Clone)]
enum PatchKind {
    /// Partial documents to lay over, and parts to take away.
    Strategic(Vec<Entry>),
    /// RFC 6902 operations on a configuration of one document.
    Operations(Vec<Operation>),
}

/// One part of a strategic patch.
#[derive(Clone)]
enum Entry {
    Delete(Selector),
    Merge(Document),
}

impl Patch {
    /// Reads a patch, finding out by itself which kind it is.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, Error> {
        let strategic = match strategic(text, source) {
            Ok(patch) => return Ok(patch),
            Err(error) => error,
        };
        match json_patch::parse(text, source) {
            Ok(operations) => {
                let change = PatchKind::Operations(operations);
                Ok(Self { change, later: Vec::new(), twice: None })
            }
            Err(error) if text.trim_start().starts_with('[') => Err(error),
            Err(_) => Err(strategic),
        }
    }

    /// Returns whether it is a list of RFC 6902 operations, which only a configuration of one document takes.
    pub fn is_operations(&self) -> bool {
        matches!(self.change, PatchKind::Operations(_))
    }

    /// Refuses it where the release of a dialect does not read it.
    fn check(&self, dialect: Dialect) -> Result<(), Error> {
        decode::check(&self.later, dialect)?;
        match &self.twice {
            Some((identity, origin)) if dialect < Dialect::V1_14 => {
                Err(identity.stands_twice(*origin))
            }
            _ => Ok(()),
        }
    }

    /// Returns the fields that it sets.
    pub(crate) fn fields(&self) -> Vec<Field> {
        match &self.change {
            PatchKind::Strategic(entries) => {
                let documents = entries.iter().filter_map(|entry| match entry {
                    Entry::Merge(document) => Some(document),
                    Entry::Delete(_) => None,
                });
                documents.flat_map(Field::of_document).collect()
            }
            PatchKind::Operations(operations) => {
                operations.iter().flat_map(Operation::fields).collect()
            }
        }
    }
}

fn strategic(text: &str, source: SourceId) -> Result<Patch, Error> {
    let mut entries = Vec::new();
    let mut later = Vec::new();
    let mut seen = BTreeSet::new();
    let mut twice = None;
    for (origin, mut node) in nodes(text, source)? {
        let selectors = delete::extract(&mut node, origin.line)?;
        entries.extend(selectors.into_iter().map(Entry::Delete));
        if says_nothing(&node.content) {
            continue;
        }
        let identity = Identity::read(&node)?;
        if !seen.insert(identity.clone().into_key()) && twice.is_none() {
            twice = Some((identity.clone(), node.origin));
        }
        let (document, of_document) = identity.decode(&node)?;
        later.extend(of_document);
        entries.push(Entry::Merge(document));
    }
    if entries.is_empty() {
        return Err(Error::Empty);
    }
    Ok(Patch { change: PatchKind::Strategic(entries), later, twice })
}

/// Returns whether only keys are left that say which document it is.
fn says_nothing(content: &Content) -> bool {
    let Content::Mapping(entries) = content else { return false };
    let naming = |key: &str| ["version", "kind", "name"].contains(&key);
    entries.iter().all(|(key, value)| {
        key.scalar().is_some_and(|(text, _)| naming(text)) && value.scalar().is_some()
    })
}

/// A configuration on its way through patches. It is read, or written out, only when a patch needs it.
#[derive(Clone)]
pub struct Patched(State);

#[derive(Clone)]
enum State {
    /// Text that nothing has touched yet.
    Text(String, SourceId),
    /// Documents, after a strategic patch.
    Documents(Config),
    /// Free-form data, after operations; not checked against anything yet.
    Data(Value),
}

impl Patched {
    /// Begins with a text.
    pub fn new(text: String, source: SourceId) -> Self {
        Self(State::Text(text, source))
    }

    /// Applies one patch, as the release of the dialect does.
    pub fn apply(self, patch: &Patch, dialect: Dialect) -> Result<Self, Error> {
        patch.check(dialect)?;
        match &patch.change {
            PatchKind::Strategic(entries) => {
                let mut config = self.into_config_in(dialect)?;
                strategic_merge(&mut config, entries, dialect)?;
                Ok(Self(State::Documents(config)))
            }
            PatchKind::Operations(operations) => {
                let data = match self.0 {
                    State::Text(text, source) => json_patch::single_document(&text, source),
                    State::Documents(config) => json_patch::from_documents(&config, dialect),
                    State::Data(value) => Ok(value),
                };
                let data = data.map_err(|error| match error {
                    Error::SeveralDocuments { .. } => {
                        Error::SeveralDocuments { empty: operations.is_empty() }
                    }
                    other => other,
                })?;
                Ok(Self(State::Data(json_patch::apply(data, operations)?)))
            }
        }
    }

    /// Returns the documents, checked strictly.
    pub fn into_config(self) -> Result<Config, Error> {
        self.into_config_in(Dialect::default())
    }

    /// The documents, checked as strictly as the release of the dialect does.
    fn into_config_in(self, dialect: Dialect) -> Result<Config, Error> {
        match self.0 {
            State::Text(text, source) => Config::parse_in(&text, source, dialect),
            State::Documents(config) => Ok(config),
            State::Data(value) => json_patch::into_config(&value, dialect),
        }
    }

    /// Returns the text, as talosctl would print it.
    pub fn encode(&self, dialect: Dialect) -> Secret<String> {
        match &self.0 {
            State::Text(text, _) => Secret::new(text.clone()),
            State::Documents(config) => config.encode(dialect),
            State::Data(value) => Secret::new(json_patch::print(value)),
        }
    }
}

impl From<Config> for Patched {
    fn from(config: Config) -> Self {
        Self(State::Documents(config))
    }
}

/// Applies several patches in their order.
pub fn apply(
    text: &str,
    source: SourceId,
    patches: &[Patch],
    dialect: Dialect,
) -> Result<Patched, Error> {
    // All patches are read before the first is applied.
    patches.iter().try_for_each(|patch| patch.check(dialect))?;
    let start = Patched::new(text.to_owned(), source);
    patches.iter().try_fold(start, |patched, patch| patched.apply(patch, dialect))
}

fn strategic_merge(config: &mut Config, entries: &[Entry], dialect: Dialect) -> Result<(), Error> {
    // Deletions in the oldest document come before everything else.
    let early =
        |entry: &Entry| matches!(entry, Entry::Delete(selector) if selector.document.is_v1alpha1());
    for entry in entries
        .iter()
        .filter(|entry| early(entry))
        .chain(entries.iter().filter(|entry| !early(entry)))
    {
        match entry {
            Entry::Delete(selector) => selector.apply(config, dialect)?,
            Entry::Merge(document) => merge_document(config, document, dialect)?,
        }
    }
    let checked = Config::new(std::mem::take(config.documents_mut()))?;
    *config = checked;
    Ok(())
}

fn merge_document(config: &mut Config, patch: &Document, dialect: Dialect) -> Result<(), Error> {
    let documents = config.documents_mut();
    let same =
        |document: &&mut Document| document.kind == patch.kind && document.name() == patch.name();
    match documents.iter_mut().find(same) {
        None => documents.push(patch.clone()),
        Some(document) => {
            let fields = document.kind.fields;
            merge::object(&mut document.body, patch.body.clone(), fields, dialect)
                .map_err(|reason| Error::Patch(format!("{}: {reason}", patch.id())))?;
        }
    }
    Ok(())
}
