//! Configurations as trees of text that can be changed in one place and written again.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use talos_config::kinds;
use talos_config::schema::Type;
use talos_config::yaml::{Content, Dialect, Limits, Node, Style, parse};
use talos_config::{Bundle, Contract, Generate, Options, Role, SecretSource, SourceId};

use crate::cases::{Random, flat, quoted};

/// A part of a document.
#[derive(Clone)]
pub(crate) enum Tree {
    /// As it stands in the text, with its quotes.
    Scalar(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

/// The documents of a configuration.
#[derive(Clone)]
pub(crate) struct Written(pub(crate) Vec<Tree>);

impl Written {
    /// A generated configuration, by contract and role: `cp13`, `w13`, `cp14`, `w14`.
    pub(crate) fn base(name: &str) -> Self {
        static BASES: OnceLock<BTreeMap<&'static str, Written>> = OnceLock::new();
        let bases = BASES.get_or_init(generated);
        bases.get(name).unwrap_or_else(|| panic!("no base is called {name:?}")).clone()
    }

    pub(crate) fn parse(text: &str) -> Self {
        let documents = parse(text, SourceId(0), Limits::default());
        let documents = documents.unwrap_or_else(|error| panic!("{error}\n{text}"));
        Self(documents.iter().map(|document| Tree::from(&document.root)).collect())
    }

    /// Puts a document in the place of the one of the same kind and name, or behind all others.
    pub(crate) fn put(&mut self, document: Tree) {
        let identity = document.identity();
        match self.0.iter_mut().find(|present| present.identity() == identity) {
            Some(present) => *present = document,
            None => self.0.push(document),
        }
    }

    pub(crate) fn change_all(&mut self, changes: &[&str]) {
        for change in changes {
            self.change(change);
        }
    }

    /// Makes a change that is written as in the table of named cases.
    pub(crate) fn change(&mut self, change: &str) {
        if let Some(removed) = change.strip_prefix("- ") {
            match removed.strip_suffix('*') {
                Some(prefix) => self.0.retain(|document| !document.kind().starts_with(prefix)),
                None if removed == LEGACY || removed.starts_with(char::is_uppercase) => {
                    self.0.retain(|document| document.kind() != removed);
                }
                None => {
                    let (parents, key) = removed.rsplit_once('.').unwrap_or(("", removed));
                    self.at(parents).remove(key);
                }
            }
        } else if change.starts_with(char::is_uppercase) {
            let (kind, fields) = change.split_once(' ').expect("a kind and its fields");
            let mut document = Tree::document(kind);
            let (Tree::Map(entries), Tree::Map(fields)) = (&mut document, Tree::parse(fields))
            else {
                panic!("no object: {change}")
            };
            entries.extend(fields);
            self.put(document);
        } else {
            let (path, value) = change.split_once(": ").expect("a path and a value");
            *self.at(path) = Tree::parse(value);
        }
    }

    /// The part of the document without a kind that a dotted path leads to, made where it is not there.
    fn at(&mut self, path: &str) -> &mut Tree {
        if self.legacy().is_none() {
            self.0.insert(0, Tree::Map(Vec::new()));
        }
        let document = self.legacy().expect("inserted above");
        path.split('.').filter(|key| !key.is_empty()).fold(document, Tree::entry)
    }

    /// The document without a kind.
    pub(crate) fn legacy(&mut self) -> Option<&mut Tree> {
        self.0.iter_mut().find(|document| document.kind() == LEGACY)
    }

    /// Takes away kinds and keys that a release does not know.
    pub(crate) fn forget_later(&mut self, dialect: Dialect) {
        let kind_of = |tree: &Tree| kinds::find(tree.kind());
        self.0.retain(|tree| kind_of(tree).is_none_or(|kind| kind.since.is_known_to(dialect)));
        for document in &mut self.0 {
            if let Some(kind) = kind_of(document) {
                document.forget_later(Type::Object(kind.fields), dialect);
            }
        }
    }

    /// Blocks down to the second level, so that it can be read, and each below it in a line.
    pub(crate) fn text(&self) -> String {
        let document = |tree: &Tree| {
            let mut text = String::new();
            tree.block(2, 0, &mut text);
            text
        };
        self.0.iter().map(document).collect::<Vec<_>>().join("---\n")
    }
}

impl Tree {
    /// A value, with all short forms written out.
    pub(crate) fn parse(text: &str) -> Self {
        let Written(mut documents) = Written::parse(text);
        let mut tree = documents.pop().expect("a value");
        tree.each_scalar(&expand);
        tree
    }

    /// A document of a kind, without fields.
    pub(crate) fn document(kind: &str) -> Self {
        let entry = |key: &str, text: &str| (key.to_owned(), Self::scalar(text));
        Self::Map(vec![entry("apiVersion", "v1alpha1"), entry("kind", kind)])
    }

    pub(crate) fn scalar(text: &str) -> Self {
        Self::Scalar(text.to_owned())
    }

    /// `v1alpha1` for the document without a kind.
    pub(crate) fn kind(&self) -> &str {
        match self.get("kind") {
            Some(Self::Scalar(kind)) => kind,
            _ => LEGACY,
        }
    }

    pub(crate) fn identity(&self) -> (String, String) {
        let name = self.get("name").map(Self::flow).unwrap_or_default();
        (self.kind().to_owned(), name.trim_matches('"').to_owned())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(present, _)| present == key).map(|(_, value)| value)
    }

    /// The value of a key of a map; what was no map becomes one.
    pub(crate) fn entry(&mut self, key: &str) -> &mut Self {
        if !matches!(self, Self::Map(_)) {
            *self = Self::Map(Vec::new());
        }
        let Self::Map(entries) = self else { unreachable!("it was made a map above") };
        let at = entries.iter().position(|(present, _)| present == key).unwrap_or_else(|| {
            entries.push((key.to_owned(), Self::Map(Vec::new())));
            entries.len() - 1
        });
        &mut entries[at].1
    }

    pub(crate) fn remove(&mut self, key: &str) {
        if let Self::Map(entries) = self {
            entries.retain(|(present, _)| present != key);
        }
    }

    fn forget_later(&mut self, ty: Type, dialect: Dialect) {
        match (ty, self) {
            (
                Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields),
                Self::Map(entries),
            ) => {
                let (all, known) = (flat(fields, Dialect::V1_14), flat(fields, dialect));
                let later = |key: &str| {
                    all.iter().any(|field| field.key == key)
                        && known.iter().all(|field| field.key != key)
                };
                entries.retain(|(key, _)| !later(key));
                for (key, value) in entries {
                    if let Some(field) = known.iter().find(|field| field.key == key) {
                        value.forget_later(field.ty, dialect);
                    }
                }
            }
            (
                Type::List(element) | Type::StrictList(element) | Type::KeyedList(element, ..),
                Self::List(items),
            ) => items.iter_mut().for_each(|item| item.forget_later(*element, dialect)),
            (Type::Map(element), Self::Map(entries)) => {
                for (_, value) in entries {
                    value.forget_later(*element, dialect);
                }
            }
            _ => {}
        }
    }

    /// Calls for every scalar.
    fn each_scalar(&mut self, change: &impl Fn(&mut String)) {
        match self {
            Self::Scalar(text) => change(text),
            Self::List(items) => items.iter_mut().for_each(|item| item.each_scalar(change)),
            Self::Map(entries) => {
                for (key, value) in entries {
                    change(key);
                    value.each_scalar(change);
                }
            }
        }
    }

    pub(crate) fn flow(&self) -> String {
        match self {
            Self::Scalar(text) => text.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::flow).collect::<Vec<_>>().join(", "))
            }
            Self::Map(entries) => {
                let pair = |(key, value): &(String, Self)| format!("{key}: {}", value.flow());
                format!("{{{}}}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn block(&self, levels: usize, column: usize, text: &mut String) {
        match self {
            Self::Map(entries) if levels > 0 && !entries.is_empty() => {
                for (key, value) in entries {
                    text.push_str(&" ".repeat(column));
                    text.push_str(key);
                    let nested = matches!(value, Self::Map(entries) if !entries.is_empty());
                    if nested && levels > 1 {
                        text.push_str(":\n");
                        value.block(levels - 1, column + 2, text);
                    } else {
                        text.push_str(": ");
                        text.push_str(&value.flow());
                        text.push('\n');
                    }
                }
            }
            _ => {
                text.push_str(&self.flow());
                text.push('\n');
            }
        }
    }
}

impl From<&Node> for Tree {
    fn from(node: &Node) -> Self {
        match &node.content {
            Content::Scalar { text, style } => Self::Scalar(as_written(text, *style)),
            Content::Sequence(items) => Self::List(items.iter().map(Self::from).collect()),
            Content::Mapping(entries) => {
                let text = |node: &Node| Self::from(node).flow();
                Self::Map(entries.iter().map(|(key, value)| (text(key), value.into())).collect())
            }
        }
    }
}

/// What [`Tree::kind`] calls the document without a kind.
pub(crate) const LEGACY: &str = "v1alpha1";

/// Quotes are kept or added where a line of flow style needs them; what is plain keeps its type.
fn as_written(text: &str, style: Style) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "._/+-<>*".contains(c);
    let plain = style == Style::Plain
        && text.chars().all(|c| harmless(c) || c == ':')
        && text.chars().next().is_none_or(|c| c.is_ascii_alphanumeric() || "./<".contains(c))
        && !text.ends_with(':');
    match text {
        "" if style == Style::Plain => "null".to_owned(),
        _ if plain => text.to_owned(),
        // A negative number is no text.
        _ if style == Style::Plain && text.parse::<i64>().is_ok() => text.to_owned(),
        _ => quoted(text),
    }
}

/// Writes out what the table has a short form for.
fn expand(text: &mut String) {
    let mut long = String::new();
    let mut rest = text.trim_matches('"');
    while let Some((before, (short, after))) =
        rest.split_once('<').and_then(|(before, rest)| Some((before, rest.split_once('>')?)))
    {
        long += before;
        long += &long_form(short);
        rest = after;
    }
    if !long.is_empty() {
        *text = quoted(&(long + rest));
    }
}

fn long_form(short: &str) -> String {
    if let Some((piece, count)) = short.split_once('*') {
        return piece.repeat(count.parse().expect("a number"));
    }
    if let Some(label) = short.strip_prefix("PEM ") {
        return format!("-----BEGIN {label}-----\nYQ==\n-----END {label}-----\n");
    }
    if short == "pinned" {
        return format!("ghcr.io/a/b:v1@sha256:{}", "0".repeat(64));
    }
    pem(short)
}

/// A certificate or a key by the name that the table has for it.
fn pem(name: &str) -> String {
    let of_base = |key: &str| {
        let base = Written::base("cp14");
        let document = base.0.iter().find(|document| document.kind() == "KubeAPIServerCAConfig");
        let value = document.and_then(|document| document.get("issuingCA")?.get(key));
        let Some(Tree::Scalar(text)) = value else { panic!("no {key} in the base") };
        text.trim_matches('"').replace("\\n", "\n")
    };
    match name {
        "certificate" => of_base("cert"),
        "key" => of_base("key"),
        _ => {
            let heading = format!("# {name}\n");
            let (_, rest) = KEYS.split_once(&heading).unwrap_or_else(|| panic!("no {name:?}"));
            rest.split("# ").next().expect("a block").to_owned()
        }
    }
}

/// The same bytes in every run, and keys that no machine ever had.
fn generated() -> BTreeMap<&'static str, Written> {
    let mut dice = Random(1);
    let mut random = |bytes: &mut [u8]| {
        bytes.fill_with(|| u8::try_from(dice.below(256)).expect("below 256"));
    };
    let mut rsa = || unreachable!("the contract below wants no RSA key, which would take seconds");
    let mut makers = SecretSource { now: 1_700_000_000, random: &mut random, rsa: &mut rsa };
    let secrets = Bundle::generate(Contract::new(1, 6), &mut makers);
    let written = |minor, role| {
        let generate = Generate {
            cluster: "c",
            endpoint: "https://10.0.0.1:6443",
            kubernetes: "1.36.0",
            contract: Contract::new(1, minor),
            secrets: &secrets,
            options: Options {
                install_disk: "/dev/sda".to_owned(),
                install_image: "ghcr.io/siderolabs/installer:v1.14.1".to_owned(),
                ..Options::default()
            },
        };
        let config = generate.config(role).expect("a configuration");
        Written::parse(&config.encode(Dialect::V1_14).into_exposed())
    };
    BTreeMap::from([
        ("cp13", written(13, Role::ControlPlane)),
        ("w13", written(13, Role::Worker)),
        ("cp14", written(14, Role::ControlPlane)),
        ("w14", written(14, Role::Worker)),
    ])
}

const KEYS: &str = include_str!("../data/throw-away-keys/keys.pem");
