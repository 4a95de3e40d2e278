//! The secrets of a cluster: `secrets.yaml`, read and written as talosctl does.

use std::collections::BTreeMap;

use crate::decode;
use crate::encode::{self, Secrets};
use crate::error::Error;
use crate::kinds::{KEY, KEY_PAIR};
use crate::schema::{Field, Type, field};
use crate::value::Value;
use crate::yaml::{self, Dialect, Limits, Tree};
use crate::{Secret, Source};

/// The secrets of a cluster.
#[derive(Clone)]
pub struct Bundle(BTreeMap<String, Value>);

impl Bundle {
    /// Reads a bundle. Keys that are not known are left alone, as talosctl does.
    pub fn parse(text: &str, source: Source) -> Result<Self, Error> {
        let documents = yaml::parse(text, source, Limits::default())?;
        let document = documents.into_iter().next().ok_or(Error::Empty)?;
        Ok(Self(decode::lenient_object(&document.root, FIELDS)?))
    }

    /// The text, as talosctl writes it.
    pub fn encode(&self, dialect: Dialect) -> Secret<String> {
        let mut text = String::new();
        yaml::emit(&Tree::Map(encode::object(&self.0, FIELDS, Secrets::Shown)), dialect, &mut text);
        Secret::new(text)
    }

    /// The value at a path of keys, when it is set.
    pub(crate) fn get(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.0.get(*first)?, |value, key| value.get(key))
    }
}

const FIELDS: &[Field] = &[
    field(
        "cluster",
        Type::Object(&[
            field("id", Type::Text).always(),
            field("secret", Type::Text).always().secret(),
        ]),
    )
    .optional()
    .always(),
    field(
        "secrets",
        Type::Object(&[
            field("bootstraptoken", Type::Text).always().secret(),
            field("aescbcencryptionsecret", Type::Text).secret(),
            field("secretboxencryptionsecret", Type::Text).secret(),
        ]),
    )
    .optional()
    .always(),
    field("trustdinfo", Type::Object(&[field("token", Type::Text).always().secret()]))
        .optional()
        .always(),
    field(
        "certs",
        Type::Object(&[
            field("etcd", KEY_PAIR).optional().always(),
            field("k8s", KEY_PAIR).optional().always(),
            field("k8saggregator", KEY_PAIR).optional().always(),
            field("k8sserviceaccount", KEY).optional().always(),
            field("os", KEY_PAIR).optional().always(),
        ]),
    )
    .optional()
    .always(),
];
