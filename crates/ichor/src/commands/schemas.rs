//! JSON Schemas of what commands print with `-o json`, by the names of the commands.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::files::{diff, explain, generate, lint, validate};
use super::{cluster, config, extensions, inspect, version};
use crate::json_schema::SchemaOf;

/// Returns a JSON Schema for each command that prints data, by its words with hyphens between them, and of `refusal`, which
/// commands print where a safety rule refuses a plan. Where a command prints on and on, each line has it.
pub fn schemas() -> BTreeMap<&'static str, Value> {
    let own: &[(&'static str, SchemaOf)] = &[
        ("config-contexts", config::CONTEXTS),
        ("config-info", config::INFO),
        ("diff", diff_of_either),
        ("explain", explain::SCHEMA),
        ("extensions", extensions::SCHEMA),
        ("gen-schematic", generate::schematic::SCHEMA),
        ("lint", lint::SCHEMA),
        ("node-apply-config", diff::OF_NODES),
        ("node-edit", diff::OF_NODES),
        ("node-patch", diff::OF_NODES),
        ("validate", validate::SCHEMA),
        ("version", version::SCHEMA),
    ];
    let all = own.iter().chain(inspect::SCHEMAS).chain(cluster::SCHEMAS);
    all.map(|(name, schema)| (*name, titled(name, schema()))).collect()
}

/// Two files, or machines beside their files.
fn diff_of_either() -> Value {
    json!({"anyOf": [diff::SCHEMA(), cluster::LIVE_DIFF()]})
}

fn titled(name: &str, mut schema: Value) -> Value {
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(format!("ichor {} -o json", name.replace('-', " ")));
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resources are what a machine has.
    const WITHOUT: &[&str] = &["get"];

    #[test]
    fn every_command_that_prints_data_has_a_schema() {
        let schemas = schemas();
        let mut commands = vec![(String::new(), crate::args::command())];
        let (mut missing, mut seen) = (Vec::new(), 0);
        while let Some((name, command)) = commands.pop() {
            let mut arguments = command.get_arguments();
            if arguments.any(|argument| argument.get_id() == "format") {
                seen += 1;
                let has_schema = schemas.contains_key(name.as_str());
                missing.extend(
                    (!has_schema && !WITHOUT.contains(&name.as_str())).then(|| name.clone()),
                );
            }
            for below in command.get_subcommands() {
                let words = [name.as_str(), below.get_name()];
                let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
                commands.push((words.join("-"), below.clone()));
            }
        }
        assert!(seen >= 30, "{seen}");
        assert_eq!(missing, [""; 0]);
    }
}
