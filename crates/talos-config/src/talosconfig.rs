//! The client's side: how talosctl and we reach a cluster.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::decode;
use crate::encode::{self, Secrets};
use crate::error::Error;
use crate::schema::{Field, TEXTS, Type, field};
use crate::value::{Data, Value};
use crate::yaml::{self, Dialect, Tree, first_document};
use crate::{Secret, SourceId};

/// Contexts: for each cluster its endpoints and the client's credentials.
#[derive(Clone, Default, PartialEq)]
pub struct Talosconfig(BTreeMap<String, Value>);

/// One context: where a cluster is, and who we are there.
#[derive(Clone)]
pub struct Context {
    /// Where the API is reached.
    pub endpoints: Vec<String>,
    /// The machines that are meant when none is named.
    pub nodes: Vec<String>,
    /// The authority that machines must have, as PEM.
    pub ca: String,
    /// Our certificate, as PEM.
    pub certificate: String,
    /// Its key, as PEM.
    pub key: Secret<String>,
}

impl Talosconfig {
    /// The context of a name. What stands there in base64 is decoded; what is no base64 is empty.
    pub fn context(&self, name: &str) -> Option<Context> {
        let context = self.contexts().get(name)?;
        let texts = |key: &str| {
            let items = context.get(key).and_then(Value::as_list).unwrap_or_default();
            items.iter().filter_map(Value::as_text).map(str::to_owned).collect()
        };
        let pem = |key: &str| {
            let encoded = context.get(key).and_then(Value::as_text).unwrap_or_default();
            String::from_utf8(STANDARD.decode(encoded).unwrap_or_default()).unwrap_or_default()
        };
        Some(Context {
            endpoints: texts("endpoints"),
            nodes: texts("nodes"),
            ca: pem("ca"),
            certificate: pem("crt"),
            key: Secret::new(pem("key")),
        })
    }

    /// The names of all contexts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.contexts().keys().map(String::as_str)
    }

    /// One context, which is the current one. Credentials are PEM texts in base64.
    pub fn new(context: &str, ca: &str, crt: &str, key: &Secret<String>) -> Self {
        let fields = [("ca", ca), ("crt", crt), ("key", key.expose())];
        let fields = fields.map(|(name, text)| (name.to_owned(), Value::from(text)));
        let contexts = BTreeMap::from([(context.to_owned(), Value::new(Data::Map(fields.into())))]);
        Self(BTreeMap::from([
            ("context".to_owned(), Value::from(context)),
            ("contexts".to_owned(), Value::new(Data::Map(contexts))),
        ]))
    }

    /// Sets where the API of the current context is reached, and the machines that are meant when none is
    /// named.
    pub fn set_targets(&mut self, endpoints: &[String], nodes: &[String]) {
        let current = self.current().to_owned();
        let contexts = self.0.get_mut("contexts").map(|contexts| &mut contexts.data);
        let Some(Data::Map(contexts)) = contexts else { return };
        let Some(Data::Map(fields)) = contexts.get_mut(&current).map(|context| &mut context.data)
        else {
            return;
        };
        for (key, texts) in [("endpoints", endpoints), ("nodes", nodes)] {
            let texts = texts.iter().map(|text| Value::from(text.as_str())).collect();
            fields.insert(key.to_owned(), Value::new(Data::List(texts)));
        }
    }

    /// Reads contexts. Keys that are not known are left alone, as talosctl does.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, Error> {
        let mut config = decode::lenient_object(&first_document(text, source)?, FIELDS)?;
        // An older name for the first endpoint.
        if let Some(Data::Map(contexts)) =
            config.get_mut("contexts").map(|contexts| &mut contexts.data)
        {
            for context in contexts.values_mut() {
                let Data::Map(fields) = &mut context.data else { continue };
                let Some(target) = fields.remove("target") else { continue };
                let endpoints = fields.entry("endpoints".to_owned());
                let endpoints = endpoints.or_insert_with(|| Value::new(Data::List(Vec::new())));
                if let Data::List(endpoints) = &mut endpoints.data {
                    endpoints.push(target);
                }
            }
        }
        Ok(Self(config))
    }

    /// Adds the contexts of another file. A name that is taken gets a number; what was renamed is told.
    /// The other file's current context becomes the current one.
    pub fn merge(&mut self, other: &Self) -> Vec<(String, String)> {
        let mut renamed = Vec::new();
        let mut current = other.current().to_owned();
        let added = other.contexts().clone();
        let Some(contexts) = self.contexts_mut() else { return renamed };
        for (name, context) in added {
            let free = if contexts.contains_key(&name) {
                let numbered = (1_u32..).map(|number| format!("{name}-{number}"));
                numbered
                    .into_iter()
                    .find(|numbered| !contexts.contains_key(numbered))
                    .unwrap_or(name.clone())
            } else {
                name.clone()
            };
            if free != name {
                if current == name {
                    current.clone_from(&free);
                }
                renamed.push((name, free.clone()));
            }
            contexts.insert(free, context);
        }
        if !current.is_empty() {
            self.0.insert("context".to_owned(), Value::from(current.as_str()));
        }
        renamed
    }

    /// Makes a context the current one, if there is such a one.
    pub fn set_current(&mut self, name: &str) -> bool {
        let there = self.contexts().contains_key(name);
        if there {
            self.0.insert("context".to_owned(), Value::from(name));
        }
        there
    }

    /// Says where the API of a context is reached, if there is such a one.
    pub fn set_endpoints(&mut self, context: &str, endpoints: &[String]) -> bool {
        self.set_texts(context, "endpoints", endpoints)
    }

    /// Says which machines a context means when none is named, if there is such a one.
    pub fn set_nodes(&mut self, context: &str, nodes: &[String]) -> bool {
        self.set_texts(context, "nodes", nodes)
    }

    /// Adds a context, instead of one that has its name. Credentials are PEM texts; what is empty is left out.
    pub fn add(&mut self, name: &str, ca: &str, certificate: &str, key: &Secret<String>) {
        let fields = [("ca", ca), ("crt", certificate), ("key", key.expose())];
        let fields = fields.into_iter().filter(|(_, pem)| !pem.is_empty());
        let fields =
            fields.map(|(name, pem)| (name.to_owned(), Value::from(STANDARD.encode(pem).as_str())));
        let context = Value::new(Data::Map(fields.collect()));
        if let Some(contexts) = self.contexts_mut() {
            contexts.insert(name.to_owned(), context);
        }
    }

    /// Takes a context out, if there is such a one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.contexts_mut().is_some_and(|contexts| contexts.remove(name).is_some())
    }

    /// The name of the current context; empty when there is none.
    pub fn current(&self) -> &str {
        self.0.get("context").and_then(Value::as_text).unwrap_or_default()
    }

    /// The text, as talosctl writes it.
    pub fn encode(&self) -> Secret<String> {
        let mut text = String::new();
        let tree = Tree::Map(encode::object(&self.0, FIELDS, Secrets::Shown, Dialect::default()));
        yaml::emit(&tree, Dialect::default(), &mut text);
        Secret::new(text)
    }

    fn set_texts(&mut self, context: &str, key: &str, texts: &[String]) -> bool {
        let context = self.contexts_mut().and_then(|contexts| contexts.get_mut(context));
        let Some(Data::Map(fields)) = context.map(|context| &mut context.data) else {
            return false;
        };
        let texts = texts.iter().map(|text| Value::from(text.as_str())).collect();
        fields.insert(key.to_owned(), Value::new(Data::List(texts)));
        true
    }

    fn contexts_mut(&mut self) -> Option<&mut BTreeMap<String, Value>> {
        let contexts = self.0.entry("contexts".to_owned());
        let contexts = contexts.or_insert_with(|| Value::new(Data::Map(BTreeMap::new())));
        match &mut contexts.data {
            Data::Map(contexts) => Some(contexts),
            _ => None,
        }
    }

    fn contexts(&self) -> &BTreeMap<String, Value> {
        static NONE: BTreeMap<String, Value> = BTreeMap::new();
        self.0.get("contexts").and_then(Value::as_map).unwrap_or(&NONE)
    }
}

const FIELDS: &[Field] = &[
    field("context", Type::Text).always(),
    field("contexts", Type::Map(&Type::Object(CONTEXT))).always(),
];

const CONTEXT: &[Field] = &[
    field("target", Type::Text),
    field("endpoints", TEXTS).always(),
    field("nodes", TEXTS),
    field("ca", Type::Text),
    field("crt", Type::Text),
    field("key", Type::Text).secret(),
    field(
        "auth",
        Type::Object(&[
            field(
                "basic",
                Type::Object(&[
                    field("username", Type::Text),
                    field("password", Type::Text).secret(),
                ]),
            )
            .optional(),
            field("siderov1", Type::Object(&[field("identity", Type::Text)])).optional(),
        ]),
    ),
    field("cluster", Type::Text),
    field("proxy-url", Type::Text),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_as_talosctl_writes_it() {
        let config = Talosconfig::new("home", "Y2E=", "Y3J0", &Secret::new("a2V5".to_owned()));
        let expected = "context: home\ncontexts:\n    home:\n        endpoints: []\n        ca: Y2E=\n        \
                        crt: Y3J0\n        key: a2V5\n";
        assert_eq!(config.encode().expose(), expected);
        assert!(Talosconfig::parse(expected, SourceId(1)).unwrap().encode().expose() == expected);
    }

    #[test]
    fn a_context_is_never_overwritten() {
        let one = || Talosconfig::new("home", "Y2E=", "Y3J0", &Secret::new("a2V5".to_owned()));
        let mut config = one();
        assert_eq!(config.merge(&one()), [("home".to_owned(), "home-1".to_owned())]);
        assert_eq!(config.merge(&one()), [("home".to_owned(), "home-2".to_owned())]);
        assert_eq!(config.current(), "home-2");
    }

    #[test]
    fn contexts_are_changed_one_by_one() {
        let mut config = Talosconfig::default();
        assert_eq!(config.encode().expose(), "context: \"\"\ncontexts: {}\n");
        config.add("home", "ca", "", &Secret::new(String::new()));
        assert!(!config.set_current("away") && config.set_current("home"));
        assert!(config.set_endpoints("home", &["127.0.0.1".to_owned()]));
        assert!(config.set_nodes("home", &[]) && !config.set_nodes("away", &[]));
        let expected = "context: home\ncontexts:\n    home:\n        endpoints:\n            - 127.0.0.1\n        \
                        ca: Y2E=\n";
        assert_eq!(config.encode().expose(), expected);
        assert!(config.remove("home") && !config.remove("home"));
    }
}
