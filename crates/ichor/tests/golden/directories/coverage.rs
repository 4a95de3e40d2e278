//! Whether the seeds that are compared by default show everything there is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Directory, FAULTS, all_combinations};

/// Keys come from the tables by which a talconfig is read, so that a new one cannot be forgotten.
#[test]
fn the_default_seeds_show_every_key_combination_and_fault() {
    let mut wanted = Keys::default();
    wanted.ask(&talconfig::json_schema(), "");
    let mut found = Keys::default();
    let mut names = BTreeSet::new();
    for seed in 0..SEEDS {
        let directory = Directory::new(seed);
        let Directory { changes, is_random, fault, shown, talconfig, .. } = &directory;
        let runs_again = shown.contains("a dry run over what is there");
        assert_eq!(changes.is_empty(), !runs_again, "seed {seed}: {shown:?}");
        let has_secrets = !shown.iter().any(|name| WITHOUT_SECRETS.contains(name));
        assert_eq!(*is_random, !has_secrets, "seed {seed}: {shown:?}");
        match fault {
            Some(fault) => names.extend([*fault]),
            None => {
                found.look(talconfig, "");
                names.extend(shown.iter().copied());
            }
        }
    }
    let faults = FAULTS.iter().map(|fault| fault.name);
    let all = faults.chain(all_combinations().map(|combination| combination.name));
    let mut missing: Vec<String> =
        all.filter(|name| !names.contains(name)).map(str::to_owned).collect();
    missing.extend(wanted.names.difference(&found.names).cloned());
    for (list, lengths) in &wanted.lists {
        let found = found.lists.get(list).cloned().unwrap_or_default();
        missing.extend(lengths.difference(&found).map(|length| format!("{list}: {length} of it")));
    }
    assert!(missing.is_empty(), "not shown by {SEEDS} seeds:\n{}", missing.join("\n"));
}

/// The keys of a talconfig by their paths, and how many elements lists have: none, one or more.
#[derive(Default)]
struct Keys {
    names: BTreeSet<String>,
    lists: BTreeMap<String, BTreeSet<usize>>,
}

impl Keys {
    /// Adds what a schema has.
    fn ask(&mut self, schema: &Value, path: &str) {
        for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
            let path = below(path, key);
            if schema["type"] == "array" {
                let list = of_machine(&path);
                let exception = LENGTHS.iter().find(|(name, _)| *name == list);
                let lengths = exception.map_or(ANY_LENGTH, |(_, lengths)| *lengths);
                self.lists.insert(list, lengths.iter().copied().collect());
                self.ask(&schema["items"], &path);
            } else {
                self.ask(schema, &path);
            }
            self.names.insert(path);
        }
    }

    /// Adds what a talconfig has.
    fn look(&mut self, value: &Value, path: &str) {
        match value {
            Value::Object(keys) => {
                for (key, value) in keys {
                    let path = below(path, key);
                    self.look(value, &path);
                    self.names.insert(path);
                }
            }
            Value::Array(items) => {
                self.lists.entry(of_machine(path)).or_default().insert(items.len().min(2));
                for item in items {
                    self.look(item, path);
                }
            }
            _ => {}
        }
    }
}

/// The path of a key. What is further inside a machine is the same in a group.
fn below(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        _ => format!("{}/{key}", of_machine(path)),
    }
}

fn of_machine(path: &str) -> String {
    match path.split_once('/') {
        Some(("nodes" | "controlPlane" | "worker", rest)) => format!("machine/{rest}"),
        _ => path.to_owned(),
    }
}

/// As many as are compared when nobody asks for others.
const SEEDS: u64 = 500;

const WITHOUT_SECRETS: [&str; 2] = ["no secrets", "secrets that are not where they should be"];

/// None, one, and more than one.
const ANY_LENGTH: &[usize] = &[0, 1, 2];

/// Lists that cannot be of every length where nothing is wrong.
const LENGTHS: &[(&str, &[usize])] = &[
    ("machine/ingressFirewall/rules/portSelector/ports", &[1, 2]),
    ("machine/networkInterfaces/bond/arpIPTarget", &[0]),
    ("machine/userVolumes/encryption/keys", &[1, 2]),
    ("machine/volumes/encryption/keys", &[1, 2]),
    ("nodes", &[1, 2]),
];
