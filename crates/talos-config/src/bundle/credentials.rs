//! What a client needs to reach a cluster, signed by the cluster's own authorities.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Bundle, SecretSource};
use crate::Secret;
use crate::pki::{Authority, Leaf, PkiError, Subject, Usage, Validity};
use crate::talosconfig::Talosconfig;
use crate::value::Value;
use crate::yaml::{Tree, emit_folded};

impl Bundle {
    /// A talosconfig with one context for a client that has these roles.
    pub fn talosconfig(
        &self,
        cluster: &str,
        roles: &[String],
        lifetime: i64,
        source: &mut SecretSource<'_>,
    ) -> Result<Talosconfig, PkiError> {
        let authority = self.authority("os")?;
        let key = source.key_beside(&authority);
        let subject = Subject { organizations: roles.to_vec(), common_name: None };
        let leaf = Leaf { subject, usage: Usage::Signature, validity: source.validity(lifetime) };
        let certificate = authority.sign(&leaf, &key)?;
        let key = Secret::new(STANDARD.encode(key.encode().expose()));
        let encode = |text: String| STANDARD.encode(text);
        Ok(Talosconfig::new(
            cluster,
            &encode(authority.certificate().encode()),
            &encode(certificate.encode()),
            &key,
        ))
    }

    /// A kubeconfig for the cluster's administrator, as Talos hands it out.
    pub fn kubeconfig(
        &self,
        cluster: &str,
        endpoint: &str,
        lifetime: i64,
        source: &mut SecretSource<'_>,
    ) -> Result<Secret<String>, PkiError> {
        let authority = self.authority("k8s")?;
        let key = source.key_beside(&authority);
        let subject = Subject {
            organizations: vec!["system:masters".to_owned()],
            common_name: Some("admin".to_owned()),
        };
        let leaf = Leaf {
            subject,
            usage: Usage::SignatureAndEncipherment,
            // For clocks that are a little behind.
            validity: Validity { not_before: source.now - 10, ..source.validity(lifetime) },
        };
        let certificate = authority.sign(&leaf, &key)?;
        let user = format!("admin@{cluster}");
        let data = |text: &str| Tree::Text(STANDARD.encode(text).into());
        let text = |text: &str| Tree::Text(text.to_owned().into());
        let map = |entries: Vec<(&'static str, Tree<'static>)>| {
            Tree::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
        };
        let config = map(vec![
            ("apiVersion", text("v1")),
            (
                "clusters",
                Tree::List(vec![map(vec![
                    (
                        "cluster",
                        map(vec![
                            ("certificate-authority-data", data(&authority.certificate().encode())),
                            ("server", text(endpoint)),
                        ]),
                    ),
                    ("name", text(cluster)),
                ])]),
            ),
            (
                "contexts",
                Tree::List(vec![map(vec![
                    (
                        "context",
                        map(vec![
                            ("cluster", text(cluster)),
                            ("namespace", text("default")),
                            ("user", text(&user)),
                        ]),
                    ),
                    ("name", text(&user)),
                ])]),
            ),
            ("current-context", text(&user)),
            ("kind", text("Config")),
            (
                "users",
                Tree::List(vec![map(vec![
                    ("name", text(&user)),
                    (
                        "user",
                        map(vec![
                            ("client-certificate-data", data(&certificate.encode())),
                            ("client-key-data", data(key.encode().expose())),
                        ]),
                    ),
                ])]),
            ),
        ]);
        let mut written = String::new();
        emit_folded(&config, &mut written);
        Ok(Secret::new(written))
    }

    pub(super) fn authority(&self, name: &str) -> Result<Authority, PkiError> {
        let present = self
            .get(&["certs", name, "key"])
            .and_then(Value::as_text)
            .is_some_and(|key| !key.is_empty());
        if !present {
            return Err(PkiError::NoPem);
        }
        Authority::parse(&self.pem(&["certs", name, "crt"]), &self.pem(&["certs", name, "key"]))
    }
}
