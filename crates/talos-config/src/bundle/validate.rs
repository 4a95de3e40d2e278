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

    /// Authorities that nothing can be signed with at a time: they expired, or their key is another's.
    /// talosctl does not look at this.
    pub fn unusable_authorities(&self, now: i64) -> Vec<String> {
        let names = ["etcd", "k8s", "k8saggregator", "os"].into_iter();
        let checked = names.filter_map(|name| {
            let problem = match self.authority(name) {
                Ok(authority) => authority.certificate().check_time(now).err()?,
                Err(problem @ PkiError::KeyMismatch) => problem,
                // A key of a kind that we do not sign with may be right all the same.
                Err(_) => return None,
            };
            Some(format!("certs.{name} cannot be used: {problem}"))
        });
        checked.collect()
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

#[cfg(test)]
mod tests {
    use crate::bundle::SecretSource;
    use crate::{Bundle, Contract, Secret, SourceId};

    #[test]
    fn authorities_of_another_time_or_with_another_key() {
        let mut next = 0_u8;
        let mut random = |bytes: &mut [u8]| {
            next = next.wrapping_add(7);
            bytes.fill(next);
        };
        let mut source = SecretSource {
            now: 1_700_000_000,
            random: &mut random,
            rsa: &mut || Secret::new(String::new()),
        };
        let bundle = Bundle::generate(Contract::new(1, 6), &mut source);
        assert!(bundle.unusable_authorities(1_700_000_000).is_empty());
        assert!(bundle.unusable_authorities(1_700_000_000 + 87_600 * 3600).is_empty());
        let late = bundle.unusable_authorities(1_700_000_001 + 87_600 * 3600);
        assert_eq!(late.len(), 4);
        assert_eq!(late[0], "certs.etcd cannot be used: the certificate expired on 2033-11-11");
        let text = bundle.encode(crate::yaml::Dialect::default());
        let key = |name: &str| bundle.get(&["certs", name, "key"]).unwrap().as_text().unwrap();
        let swapped = text.expose().replace(key("etcd"), key("k8s"));
        let swapped = Bundle::parse(&swapped, SourceId(1)).unwrap();
        assert_eq!(
            swapped.unusable_authorities(1_700_000_000),
            ["certs.etcd cannot be used: the key does not belong to the certificate"]
        );
    }
}
