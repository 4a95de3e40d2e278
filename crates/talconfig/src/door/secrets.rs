//! The secrets of a cluster, as talhelper reads them.

use talos_config::yaml::{Content, Node};
use talos_config::{Bundle, SourceId};

use crate::door::environment::Environment;
use crate::door::sops_files;
use crate::door::text::{self, Complaint};
use crate::error::{Error, ErrorDetail};
use crate::host::Host;

/// Secrets, and what machine configuration needs to know about them.
pub struct Secrets {
    /// The secrets.
    pub bundle: Bundle,
    /// The older key for what Kubernetes keeps, where there is one.
    pub(crate) older_key: Option<String>,
}

impl Secrets {
    /// Takes secrets that were just made.
    pub fn new(bundle: Bundle) -> Self {
        Self { bundle, older_key: None }
    }

    /// Reads a secrets file: decrypts it, puts variables in, and refuses keys that it should not have.
    pub fn load(file: &str, environment: &Environment, host: &dyn Host) -> Result<Self, Error> {
        host.debug(&|| format!("using secret file {file}"));
        let bytes = host.read(file).map_err(|error| Error::Secrets(error.to_string().into()))?;
        let read = String::from_utf8_lossy(&bytes).into_owned();
        let opened = sops_files::decrypt_yaml(read, file, environment, host)
            .map_err(|unopened| Error::Secrets(unopened.detail))?;
        if opened.text.is_empty() {
            return Err(Error::Secrets(format!("secret file {file} is empty").into()));
        }
        let filled = text::substitute(&opened.text, environment)
            .map_err(|refusal| Error::Secrets(refusal.said.in_file(file)))?;
        let documents = text::parse(&filled).map_err(|refusal| Error::Secrets(refusal.said))?;
        let root = documents.first().map(|document| &document.root);
        let mut complaints = Vec::new();
        if let Some(root) = root {
            unknown_keys(root, BUNDLE, &mut complaints);
        }
        if !complaints.is_empty() {
            return Err(Error::Secrets(text::unmarshal_errors(complaints).said));
        }
        let bundle = Bundle::parse(&filled, SourceId::default()).map_err(|error| {
            let message = error.to_string();
            let message = if message.contains("no base64") {
                "illegal base64 data at input byte 0".to_owned()
            } else {
                message.clone()
            };
            Error::Secrets(ErrorDetail::new(message).hint(format!("{file}: {error}")))
        })?;
        let missing: Vec<String> = bundle
            .problems()
            .into_iter()
            .filter(|problem| problem.starts_with("certs") || problem.ends_with("is required"))
            .filter(|problem| !problem.starts_with("one of"))
            .collect();
        if !missing.is_empty() {
            return Err(Error::Secrets(
                ErrorDetail::new(format!("{file}: {}", missing.join(", ")))
                    .hint("`ichor gen secrets` makes a complete set for a new cluster"),
            ));
        }
        let older_key = root
            .and_then(|root| root.get("secrets")?.get("aescbcencryptionsecret")?.scalar())
            .map(|(key, _)| key.to_owned())
            .filter(|key| !key.is_empty());
        Ok(Self { bundle, older_key })
    }
}

/// The keys of an object, and the objects below them.
struct Known {
    go: &'static str,
    keys: &'static [(&'static str, Option<&'static Self>)],
}

fn unknown_keys(node: &Node, known: &Known, complaints: &mut Vec<Complaint>) {
    let Content::Mapping(entries) = &node.content else { return };
    for (key, value) in entries {
        let Some((name, _)) = key.scalar() else { continue };
        match known.keys.iter().find(|(key, _)| *key == name) {
            Some((_, Some(inner))) => unknown_keys(value, inner, complaints),
            Some((_, None)) => {}
            None => complaints.push(Complaint {
                origin: key.origin,
                said: format!("field {name} not found in type {}", known.go),
                message: format!("unknown key {name:?}"),
            }),
        }
    }
}

const BUNDLE: &Known = &Known {
    go: "secrets.Bundle",
    keys: &[
        (
            "cluster",
            Some(&Known { go: "secrets.Cluster", keys: &[("id", None), ("secret", None)] }),
        ),
        (
            "secrets",
            Some(&Known {
                go: "secrets.Secrets",
                keys: &[
                    ("bootstraptoken", None),
                    ("aescbcencryptionsecret", None),
                    ("secretboxencryptionsecret", None),
                ],
            }),
        ),
        ("trustdinfo", Some(&Known { go: "secrets.TrustdInfo", keys: &[("token", None)] })),
        (
            "certs",
            Some(&Known {
                go: "secrets.Certs",
                keys: &[
                    ("etcd", Some(PAIR)),
                    ("k8s", Some(PAIR)),
                    ("k8saggregator", Some(PAIR)),
                    (
                        "k8sserviceaccount",
                        Some(&Known { go: "x509.PEMEncodedKey", keys: &[("key", None)] }),
                    ),
                    ("os", Some(PAIR)),
                ],
            }),
        ),
    ],
};

const PAIR: &Known =
    &Known { go: "x509.PEMEncodedCertificateAndKey", keys: &[("crt", None), ("key", None)] };
