//! The JSON schema of a talconfig, beside the one that talhelper writes.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use testkit::peers;

use crate::sandbox::{Said, Sandbox};

/// Ours has more: keys that talhelper reads and its schema forgets.
#[test]
#[ignore = "level golden: needs talhelper (cargo xtask test)"]
fn the_schema_knows_every_key_of_talhelpers_with_its_type() {
    let theirs = schema(&peers::program("talhelper"), &[]);
    let ours = schema(Path::new(env!("CARGO_BIN_EXE_ichor")), &["talhelper"]);
    assert!(theirs.len() > 700, "{} keys", theirs.len());
    for (key, kind) in &theirs {
        let own = ours.get(key).unwrap_or_else(|| panic!("{key} is missing"));
        let is_text = TEXTS.iter().any(|name| key.ends_with(&format!("/{name}")));
        let kind = if is_text { "string" } else { kind };
        assert!(kind.is_empty() || own == kind, "{key} is {own}, and {kind} to talhelper");
    }
}

/// Texts in every file; talhelper's schema has the numbers that stand for them in Go.
const TEXTS: [&str; 5] =
    ["size", "persistentKeepaliveInterval", "bootloader", "provider", "volumeType"];

/// Every key with its type, as far as it says one.
fn schema(program: &Path, before: &[&str]) -> BTreeMap<String, String> {
    let sandbox = Sandbox::new(&BTreeMap::new());
    let words = before.iter().chain(&["genschema", "--file", "schema.json"]);
    let words: Vec<String> = words.map(|word| (*word).to_owned()).collect();
    let mut said = Said::default();
    sandbox.run(program, &words, &BTreeMap::new(), "", &mut said);
    assert_eq!(said.codes, [0], "{said:?}");
    assert_eq!(sandbox.mode("schema.json"), "0644");
    let text = &sandbox.files()["schema.json"];
    let schema: Value = serde_json::from_str(text).expect("JSON");
    let mut keys = BTreeMap::new();
    collect(&schema, &schema, "", &mut keys);
    keys
}

fn collect(schema: &Value, whole: &Value, path: &str, keys: &mut BTreeMap<String, String>) {
    let schema = match schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        Some(name) => &whole["$defs"][name],
        None => schema,
    };
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}/{key}");
        let kind = value["type"].as_str().unwrap_or_default();
        keys.insert(path.clone(), kind.to_owned());
        collect(value, whole, &path, keys);
    }
    if schema["items"].is_object() {
        collect(&schema["items"], whole, path, keys);
    }
}
