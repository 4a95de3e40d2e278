//! The settings of a configuration that a release does not know yet.

use std::collections::BTreeMap;

use crate::config::Config;
use crate::contract::Contract;
use crate::schema::{self, Field, Type};
use crate::value::{Data, Value};

impl Config {
    /// Returns what came with a later release than this one, by its path, with the release.
    pub fn newer_than(&self, contract: Contract) -> Vec<(String, Contract)> {
        let mut search = Search { contract, found: Vec::new() };
        for document in self.documents() {
            let (kind, name) = (document.kind, document.id());
            if kind.since > contract {
                search.found.push((name, kind.since));
            } else {
                search.object(kind.fields, &document.body, &name);
            }
        }
        search.found
    }
}

struct Search {
    contract: Contract,
    found: Vec<(String, Contract)>,
}

impl Search {
    fn object(&mut self, fields: &'static [Field], object: &BTreeMap<String, Value>, path: &str) {
        for (key, value) in object {
            // What has no field is free-form, and known to all.
            let Some(field) = schema::find(fields, key) else { continue };
            let path = format!("{path} {key}");
            match field.since.filter(|since| *since > self.contract) {
                Some(since) => self.found.push((path, since)),
                None => self.value(field.ty, value, &path),
            }
        }
    }

    fn value(&mut self, ty: Type, value: &Value, path: &str) {
        match (ty, &value.data) {
            (
                Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields),
                Data::Map(object),
            ) => self.object(fields, object, path),
            (
                Type::List(ty) | Type::StrictList(ty) | Type::KeyedList(ty, ..),
                Data::List(elements),
            ) => {
                for element in elements {
                    self.value(*ty, element, path);
                }
            }
            (Type::Map(ty), Data::Map(entries)) => {
                for value in entries.values() {
                    self.value(*ty, value, path);
                }
            }
            (Type::Choice(choice), Data::Text(word)) => {
                let later = choice.later.iter().find(|(later, _)| later == word);
                let newer = later.filter(|(_, since)| *since > self.contract);
                self.found.extend(newer.map(|(_, since)| (format!("{path} {word}"), *since)));
            }
            _ => {}
        }
    }
}

#[cfg(all(test, feature = "pki"))]
mod tests {
    use super::*;
    use crate::{Bundle, Generate, Options, RELEASES, Role, SecretSource, SourceId};

    #[test]
    fn what_is_generated_for_a_contract_is_known_to_its_release() {
        let mut random = |bytes: &mut [u8]| bytes.fill(7);
        let mut rsa = || unreachable!("the contract below has other keys");
        let mut source = SecretSource { now: 0, random: &mut random, rsa: &mut rsa };
        let secrets = Bundle::generate(Contract::new(1, 6), &mut source);
        for release in RELEASES {
            for role in [Role::ControlPlane, Role::Worker] {
                let generate = Generate {
                    cluster: "a",
                    endpoint: "https://a:6443",
                    kubernetes: "1.28.0",
                    contract: release.contract,
                    secrets: &secrets,
                    options: Options { kubespan: true, ..Options::default() },
                };
                let config = generate.config(role).unwrap();
                assert_eq!(config.newer_than(release.contract), [], "{}", release.contract);
            }
        }
    }

    #[test]
    fn newer_kinds_keys_and_words_are_named() {
        let text = "machine: {install: {disk: /dev/sda}}\n---\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: a\n---\napiVersion: v1alpha1\nkind: VRFConfig\nname: a\n";
        let config = Config::parse(text, SourceId::default()).unwrap();
        let named = |minor| {
            let newer = config.newer_than(Contract::new(1, minor));
            newer.into_iter().map(|(what, since)| format!("{what} {since}")).collect::<Vec<_>>()
        };
        assert_eq!(named(11), ["HostnameConfig v1.12", "VRFConfig/a v1.13"]);
        assert_eq!(named(12), ["VRFConfig/a v1.13"]);
        assert_eq!(named(13), [""; 0]);
    }
}
