//! A machine's configuration: documents in order, read strictly, written as Talos writes them.

use std::collections::{BTreeMap, BTreeSet};

use crate::confidential::Confidential;
use crate::decode::{self, Later};
use crate::encode::{self, Secrets};
use crate::error::Error;
use crate::error::problem;
use crate::kinds;
use crate::schema::Kind;
use crate::suggest::suggest;
use crate::value::Value;
use crate::yaml::{self, Content, Dialect, Limits, Node, Resolved, Tree, resolve};
use crate::{Location, Secret, SourceId};

/// A machine's configuration.
///
/// It holds secrets, so it can be shown only by [`encode`](Self::encode), which hands out a
/// [`Secret`], or [`redacted`](Self::redacted).
#[derive(Clone, PartialEq)]
pub struct Config {
    documents: Vec<Document>,
}

/// One document.
#[derive(Clone)]
pub struct Document {
    /// The kind of document.
    pub kind: &'static Kind,
    /// Its fields; what is unset is not there.
    pub body: BTreeMap<String, Value>,
    /// The beginning.
    pub origin: Location,
}

impl Config {
    /// Reads a configuration.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, Error> {
        Self::parse_in(text, source, Dialect::default())
    }

    /// Reads a configuration as the release of a dialect does: what came later is refused.
    pub fn parse_in(text: &str, source: SourceId, dialect: Dialect) -> Result<Self, Error> {
        let mut seen = BTreeSet::new();
        let mut documents = Vec::new();
        for (_, node) in nodes(text, source)? {
            let id = Identity::read(&node)?;
            if !seen.insert(id.clone().into_key()) {
                return Err(id.stands_twice(node.origin));
            }
            let (document, later) = id.decode(&node)?;
            decode::check(&later, dialect)?;
            documents.push(document);
        }
        if documents.is_empty() {
            return Err(Error::Empty);
        }
        Self::new(documents)
    }

    /// Puts documents together, refusing those that cannot be in one configuration.
    pub fn new(documents: Vec<Document>) -> Result<Self, Error> {
        conflicts(&documents)?;
        Ok(Self { documents })
    }

    /// Returns the documents, in their order.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Returns the document of a kind and, for named kinds, of a name.
    pub fn document(&self, kind: &str, name: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.kind.name == kind && document.name() == name)
    }

    /// Returns whether it says that its machine is a worker.
    pub fn is_worker(&self) -> bool {
        let machine = self
            .document(kinds::V1ALPHA1.name, "")
            .and_then(|document| document.body.get("machine"));
        machine.and_then(|machine| machine.get("type")).and_then(Value::as_text) == Some("worker")
    }

    pub(crate) fn documents_mut(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    /// Returns the text, byte for byte as Talos writes it without comments.
    pub fn encode(&self, dialect: Dialect) -> Secret<String> {
        Secret::new(self.write(dialect, Secrets::Shown))
    }

    /// Returns the text with all secrets replaced.
    pub fn redacted(&self, dialect: Dialect) -> String {
        self.write(dialect, Secrets::Redacted)
    }

    /// Returns the text for people: all secrets replaced, the texts in which people keep their own, and what came out
    /// of encrypted files.
    pub fn covered(&self, dialect: Dialect, confidential: &Confidential) -> String {
        self.emit(dialect, |document| {
            confidential.cover(document.tree(Secrets::Hidden, dialect), &document.id(), "")
        })
    }

    /// Returns the text as another library writes it, with `indent` spaces for each level.
    pub fn encode_indented(&self, indent: usize) -> Secret<String> {
        let documents = self.in_order().map(|document| yaml::Document {
            origin: Location::default(),
            root: yaml::Node::from(&document.tree(Secrets::Shown, Dialect::default())),
            comments: Vec::new(),
        });
        Secret::new(yaml::rewrite(&documents.collect::<Vec<_>>(), indent, false))
    }

    fn write(&self, dialect: Dialect, secrets: Secrets) -> String {
        self.emit(dialect, |document| document.tree(secrets, dialect))
    }

    fn emit<'d>(&'d self, dialect: Dialect, tree: impl Fn(&'d Document) -> Tree<'d>) -> String {
        let mut text = String::new();
        for document in self.in_order() {
            if !text.is_empty() {
                text.push_str("---\n");
            }
            yaml::emit(&tree(document), dialect, &mut text);
        }
        text
    }

    /// Returns the document without a kind first, the others in their order.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Document> {
        let (first, others): (Vec<_>, Vec<_>) =
            self.documents.iter().partition(|document| document.is_v1alpha1());
        first.into_iter().chain(others)
    }
}

impl Document {
    /// Returns its name; empty for kinds that have none.
    pub fn name(&self) -> &str {
        if !self.kind.named {
            return "";
        }
        self.body.get("name").and_then(Value::as_text).unwrap_or_default()
    }

    /// `v1alpha1`, `HostnameConfig`, `LinkConfig/eth0`.
    pub fn id(&self) -> String {
        match self.name() {
            "" => self.kind.name.to_owned(),
            name => format!("{}/{name}", self.kind.name),
        }
    }

    /// Kind and name, also where the name is empty.
    fn full_name(&self) -> String {
        format!("{}/{}", self.kind.name, self.name())
    }

    pub(crate) fn is_v1alpha1(&self) -> bool {
        self.kind == kinds::V1ALPHA1
    }

    pub(crate) fn tree(&self, secrets: Secrets, dialect: Dialect) -> Tree<'_> {
        let fields = encode::object(&self.body, self.kind.fields, secrets, dialect);
        if self.is_v1alpha1() {
            return Tree::Map(fields);
        }
        let mut entries = vec![
            ("apiVersion".into(), Tree::Text("v1alpha1".into())),
            ("kind".into(), Tree::Text(self.kind.name.into())),
        ];
        entries.extend(fields);
        Tree::Map(entries)
    }
}

/// Documents are equal when they say the same, wherever it was written.
impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.body == other.body
    }
}

/// Returns the documents of a text that are not empty, with the places where they begin.
pub(crate) fn nodes(text: &str, source: SourceId) -> Result<Vec<(Location, Node)>, Error> {
    let documents = yaml::parse(text, source, Limits::default())?;
    let mut nodes = Vec::new();
    for document in documents {
        let node = document.root;
        match &node.content {
            Content::Scalar { text, style } if resolve(text, *style) == Resolved::Null => {}
            Content::Mapping(_) => nodes.push((document.origin, node)),
            _ => {
                let message = format!("expected a YAML document at line {}", node.origin.line);
                return Err(Error::document(node.origin, message));
            }
        }
    }
    Ok(nodes)
}

/// Guesses what a text without a kind is, and says what to do about it.
fn what_it_is(node: &Node) -> String {
    let has = |keys: &[&str]| keys.iter().all(|key| node.get(key).is_some());
    let known = ["op", "contexts", "certs", "customization"];
    let other = match known.iter().find(|key| node.get(key).is_some()) {
        Some(&"op") if has(&["path"]) => "operations are a list: put it in brackets",
        Some(&"contexts") => "this is a talosconfig, not machine configuration",
        Some(&"certs") => "these are secrets, not machine configuration",
        Some(&"customization") => "this is a schematic, not machine configuration",
        _ => "",
    };
    if !other.is_empty() {
        return other.to_owned();
    }
    let Content::Mapping(entries) = &node.content else { return String::new() };
    let keys = entries.iter().filter_map(|(key, _)| key.scalar());
    let mut meant =
        keys.filter_map(|(key, _)| suggest(key, ["machine", "cluster", "kind"].into_iter()));
    meant.next().map_or_else(
        || "a document has apiVersion and kind, or one of the keys machine and cluster".to_owned(),
        |near| format!("did you mean {near:?}?"),
    )
}

/// The identity of a document, as it states it.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
}

impl Identity {
    /// Reads what a document is, without looking at the rest of it.
    pub(crate) fn read(node: &Node) -> Result<Self, Error> {
        let id = Self::lenient(node);
        let missing = |what: &str| {
            let message = format!("missing {what}");
            Err(Error::Document(vec![problem(node.origin, message).with_hint(what_it_is(node))]))
        };
        if id.is_v1alpha1() {
            return Ok(id);
        }
        if id.kind.is_empty() {
            return missing("kind");
        }
        if id.version.is_empty() {
            return missing("apiVersion");
        }
        Ok(id)
    }

    pub(crate) fn lenient(node: &Node) -> Self {
        let text = |key: &str| {
            let value = node.get(key).and_then(Node::scalar);
            value.map(|(text, _)| text.to_owned()).unwrap_or_default()
        };
        let legacy =
            ["machine", "cluster", "debug", "persist"].iter().any(|key| node.get(key).is_some());
        let kind = text("kind");
        let version = if legacy { "v1alpha1".to_owned() } else { text("apiVersion") };
        let without_kind = kind.is_empty() && version == "v1alpha1";
        Self {
            version: if without_kind { String::new() } else { version },
            kind: if without_kind { kinds::V1ALPHA1.name.to_owned() } else { kind },
            name: text("name"),
        }
    }

    /// Returns the identity that the delete statements of a patch document refer to: without version and kind, the
    /// oldest document, with any keys.
    pub(crate) fn selected(node: &Node) -> Self {
        let mut id = Self::lenient(node);
        let empty = |key: &str| {
            node.get(key).and_then(Node::scalar).is_none_or(|(text, _)| text.is_empty())
        };
        if empty("kind") && empty("apiVersion") {
            id.version = String::new();
            id.kind = kinds::V1ALPHA1.name.to_owned();
        }
        id
    }

    pub(crate) fn is_v1alpha1(&self) -> bool {
        self.version.is_empty() && self.kind == kinds::V1ALPHA1.name
    }

    /// Refuses a second document of this identity, whose first key is in this place.
    pub(crate) fn stands_twice(&self, origin: Location) -> Error {
        let message = format!("duplicate document {self} is not allowed (line {})", origin.line);
        Error::Conflict { message, origin }
    }

    /// Reads the document strictly, and notes what older releases do not read.
    pub(crate) fn decode(&self, node: &Node) -> Result<(Document, Vec<Later>), Error> {
        let kind = if self.is_v1alpha1() { Some(kinds::V1ALPHA1) } else { self.registered() };
        let not_registered = || format!("{:?} {:?}: not registered", self.kind, self.version);
        let Some(kind) = kind else {
            let near = suggest(&self.kind, kinds::ALL.iter().map(|kind| kind.name));
            let hint = near.map_or_else(
                || "this is not a kind of Talos document".to_owned(),
                |near| format!("did you mean {near:?}?"),
            );
            let problem = problem(node.origin, not_registered()).with_hint(hint);
            return Err(Error::Document(vec![problem]));
        };
        // Their key `cluster` makes them look like configuration.
        if self.is_v1alpha1() && ["certs", "trustdinfo"].iter().all(|key| node.get(key).is_some()) {
            let problem = problem(node.origin, "these are secrets, not machine configuration");
            let hint = "pass machine configuration, such as controlplane.yaml";
            return Err(Error::Document(vec![problem.with_hint(hint)]));
        }
        let ignored: &[&str] = if self.is_v1alpha1() { &[] } else { &["apiVersion", "kind"] };
        let (body, mut later) = decode::dated_object(node, kind.fields, ignored)?;
        later.extend(Later::new(kind.since, node.origin, not_registered));
        Ok((Document { kind, body, origin: node.origin }, later))
    }

    fn registered(&self) -> Option<&'static Kind> {
        let kind = kinds::find(&self.kind)?;
        (self.version == "v1alpha1" && kind != kinds::V1ALPHA1).then_some(kind)
    }

    pub(crate) fn into_key(self) -> (String, String, String) {
        (self.version, self.kind, self.name)
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.version, self.kind, self.name)
    }
}

/// Refuses documents that contradict each other.
fn conflicts(documents: &[Document]) -> Result<(), Error> {
    let conflict = |origin, message| Err(Error::Conflict { message, origin });
    let mut ids = BTreeSet::new();
    let mut shared: BTreeMap<(usize, &str), &Document> = BTreeMap::new();
    let mut links: BTreeMap<&str, &Document> = BTreeMap::new();
    for document in documents {
        if !ids.insert((document.kind.name, document.name())) {
            let message = if document.is_v1alpha1() {
                "duplicate v1alpha1.Config".to_owned()
            } else {
                format!("duplicate document: {}", document.id())
            };
            return conflict(document.origin, message);
        }
        let group = EXCLUSIVE.iter().position(|group| group.contains(&document.kind.name));
        if let Some(group) = group
            && let Some(first) = shared.insert((group, document.name()), document)
        {
            return conflict(
                document.origin,
                format!(
                    "conflicting documents: {} and {}",
                    first.full_name(),
                    document.full_name()
                ),
            );
        }
    }
    for document in documents.iter().filter(|document| EXCLUSIVE[0].contains(&document.kind.name)) {
        let peer = document.body.get("peer").and_then(|peer| peer.get("name"));
        let peer = (document.kind.name == "VethConfig")
            .then(|| peer.and_then(Value::as_text).unwrap_or_default());
        for name in [Some(document.name()), peer].into_iter().flatten() {
            if let Some(first) = links.insert(name, document) {
                return conflict(
                    document.origin,
                    format!(
                        "conflicting link configurations: {} and {} both configure {name:?}",
                        first.full_name(),
                        document.full_name()
                    ),
                );
            }
        }
    }
    Ok(())
}

/// Kinds that share one space of names.
const EXCLUSIVE: &[&[&str]] = &[
    &[
        "BondConfig",
        "BridgeConfig",
        "DummyLinkConfig",
        "LinkConfig",
        "VLANConfig",
        "VRFConfig",
        "VethConfig",
        "WireguardConfig",
    ],
    &["UserVolumeConfig", "ExistingVolumeConfig"],
    &["Layer2VIPConfig", "HCloudVIPConfig"],
];
