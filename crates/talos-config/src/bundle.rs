//! The secrets of a cluster: `secrets.yaml`, read and written as talosctl does.

#[cfg(feature = "pki")]
mod credentials;
#[cfg(feature = "pki")]
mod generate;
#[cfg(feature = "pki")]
mod import;
#[cfg(feature = "pki")]
mod validate;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::decode;
use crate::encode::{self, Secrets};
use crate::error::Error;
use crate::kinds::{KEY, KEY_PAIR};
use crate::schema::{Field, Type, field};
use crate::value::Value;
use crate::yaml::{self, Dialect, Tree, first_document};
use crate::{Secret, SourceId};

#[cfg(feature = "pki")]
pub use generate::SecretSource;
#[cfg(feature = "pki")]
pub use import::KubernetesPki;

/// The secrets of a cluster.
#[derive(Clone)]
pub struct Bundle(BTreeMap<String, Value>);

impl Bundle {
    /// Reads a bundle. Keys that are not known are left alone, as talosctl does.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, Error> {
        Ok(Self(decode::lenient_object(&first_document(text, source)?, FIELDS)?))
    }

    /// The text, as talosctl writes it.
    pub fn encode(&self, dialect: Dialect) -> Secret<String> {
        let mut text = String::new();
        yaml::emit(
            &Tree::Map(encode::object(&self.0, FIELDS, Secrets::Shown, dialect)),
            dialect,
            &mut text,
        );
        Secret::new(text)
    }

    /// The secret that all machines of the cluster share for as long as it lives; empty when there is none.
    pub fn cluster_secret(&self) -> Secret<String> {
        let secret = self.get(&["cluster", "secret"]).and_then(Value::as_text);
        Secret::new(secret.unwrap_or_default().to_owned())
    }

    /// What the bundle keeps as base64, as the text that it is.
    pub(crate) fn pem(&self, path: &[&str]) -> String {
        let encoded = self.get(path).and_then(Value::as_text).unwrap_or_default();
        let bytes = STANDARD.decode(encoded).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
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

impl<const N: usize> From<[(&'static str, Value); N]> for Bundle {
    fn from(fields: [(&'static str, Value); N]) -> Self {
        Self(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}
