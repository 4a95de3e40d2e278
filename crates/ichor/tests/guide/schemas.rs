//! What commands print with `-o json` is what their schema says: the targets that run `ichor` pass what it printed through
//! [`check`].

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

/// Compares what a command line printed with the schema of its command. Panics where they differ.
pub(crate) fn check(words: &[&str], code: i32, stdout: &str) {
    let is_json = words.windows(2).any(|two| matches!(two, ["-o" | "--output", "json"]));
    if !is_json || stdout.is_empty() || matches!(words.first(), Some(&"talhelper" | &"get")) {
        return;
    }
    let name = if code == 4 { "refusal".to_owned() } else { command(words) };
    let Some(schema) = SCHEMAS.get(name.as_str()) else { panic!("{words:?} has no schema") };
    // What goes on and on is a line for each.
    let is_stream = matches!(name.as_str(), "events" | "apply" | "resume" | "destroy");
    let texts = if is_stream { stdout.lines().collect() } else { vec![stdout] };
    for text in texts {
        let data: Value = serde_json::from_str(text).expect("JSON");
        let problems = testkit::json_schema::problems(schema, &data);
        assert!(problems.is_empty(), "{words:?} by {name}: {problems:#?}\n{data:#}");
    }
}

/// The longest name of a command that begins the line.
fn command(words: &[&str]) -> String {
    let named = words.iter().take_while(|word| !word.starts_with('-')).copied();
    let words: Vec<&str> = named.collect();
    let names = (1..=words.len()).rev().map(|count| words[..count].join("-"));
    names.into_iter().find(|name| SCHEMAS.contains_key(name.as_str())).unwrap_or_default()
}

static SCHEMAS: LazyLock<BTreeMap<&'static str, Value>> = LazyLock::new(ichor::schemas);
