//! Whether a bundle has everything that a cluster needs.

use super::Bundle;
use crate::pki::{Certificate, Key, Pem, PkiError};
use crate::value::Value;

impl Bundle {
    /// Everything that is wrong with the bundle, in the words of talosctl.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let there = |path: &[&str]| self.get(path).is_some();
        let filled = |path: &[&str]| {
            self.get(path).and_then(Value::as_text).is_some_and(|text| !text.is_empty())
        };
        let missing = |path: &[&str]| format!("{} is required", path.join("."));
        for (part, fields) in [
            ("cluster", &["id", "secret"][..]),
            ("secrets", &["bootstraptoken"]),
            ("trustdinfo", &["token"]),
        ] {
            if !there(&[part]) {
                problems.push(missing(&[part]));
                continue;
            }
            let empty = fields.iter().filter(|field| !filled(&[part, field]));
            problems.extend(empty.map(|field| missing(&[part, field])));
            if part == "secrets" {
                let kinds = ["secretboxencryptionsecret", "aescbcencryptionsecret"];
                let both = "[secrets.secretboxencryptionsecret, secrets.aescbcencryptionsecret]";
                match kinds.iter().filter(|kind| filled(&[part, kind])).count() {
                    0 => problems.push(format!("one of {both} is required")),
                    1 => {}
                    _ => problems.push(format!("only one of {both} is allowed")),
                }
            }
        }
        if !there(&["certs"]) {
            problems.push(missing(&["certs"]));
            return problems;
        }
        for name in ["etcd", "k8s", "k8saggregator", "k8sserviceaccount", "os"] {
            let (label, checked) = match name {
                _ if !there(&["certs", name]) => {
                    problems.push(missing(&["certs", name]));
                    continue;
                }
                "k8sserviceaccount" => {
                    ("k8sserviceaccount.key", self.check_key(&["certs", name, "key"]))
                }
                _ => (name, self.check_pair(name)),
            };
            problems
                .extend(checked.err().map(|error| format!("certs.{label} is invalid: {error}")));
        }
        problems
    }

    fn check_pair(&self, name: &str) -> Result<(), PkiError> {
        self.check_key(&["certs", name, "key"])?;
        Certificate::parse(&self.pem(&["certs", name, "crt"])).map(drop)
    }

    fn check_key(&self, path: &[&str]) -> Result<(), PkiError> {
        check_key(&self.pem(path))
    }
}

/// Whether a text is a private key.
pub(super) fn check_key(text: &str) -> Result<(), PkiError> {
    match Pem::parse(text)?.label.as_str() {
        // We never sign with these, so that they are there is all we can tell.
        "RSA PRIVATE KEY" => Ok(()),
        _ => Key::parse(text).map(drop),
    }
}
