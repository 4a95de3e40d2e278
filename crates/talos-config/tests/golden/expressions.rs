//! The table of expressions, each beside what the real talosctl says of it in the place it stands in.
//! That we say the same is a unit test of the module, which nothing outside can call.

use std::process::Command;

use testkit::peers;

#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn the_table_is_what_talosctl_says() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let table = include_str!("../data/expressions.txt");
    for row in table.lines().filter(|row| !row.starts_with('#')) {
        let (place, rest) = row.split_once(" : ").expect("a place");
        let (expression, written) = rest.split_once(" => ").expect("an answer");
        let (kind, fields, before) = document(place);
        // Text in quotes as JSON has it is also YAML.
        let quoted = serde_json::to_string(&expression.replace('⏎', "\n")).expect("a string");
        let fields = fields.replace('?', &quoted);
        let said = validate(&format!("apiVersion: v1alpha1\nkind: {kind}\n{fields}\n"));
        let said = said.replace('\n', "⏎");
        let told = said.strip_prefix(&format!("1 error occurred:⏎\t* {before}: "));
        let told = told.map_or(said.as_str(), |told| told.trim_end_matches('⏎'));
        if told != if written == "ok" { "" } else { written } {
            wrong.push(format!("{row}\n  talosctl says {told}"));
        }
        count += 1;
    }
    assert!(count > 300, "{count}");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// A kind, its fields with `?` for the expression, and what its errors begin with.
fn document(place: &str) -> (&'static str, &'static str, &'static str) {
    match place {
        "disk" => (
            "UserVolumeConfig",
            "name: a\nprovisioning: {minSize: 1GiB, diskSelector: {match: ?}}",
            "UserVolumeConfig/a: disk selector is invalid",
        ),
        "volume" => (
            "ExistingVolumeConfig",
            "name: a\ndiscovery: {volumeSelector: {match: ?}}",
            "ExistingVolumeConfig/a: volume selector is invalid",
        ),
        "member" => (
            "LVMVolumeGroupConfig",
            "name: a\nprovisioning: {volumeSelector: {match: ?}}",
            "LVMVolumeGroupConfig/a: provisioning.volumeSelector.match",
        ),
        "link" => (
            "LinkAliasConfig",
            "name: a\nselector: {match: ?}",
            "LinkAliasConfig/a: link selector is invalid",
        ),
        "trigger" => {
            ("OOMConfig", "triggerExpression: ?", "OOMConfig: OOM trigger expression is invalid")
        }
        "ranking" => (
            "OOMConfig",
            "cgroupRankingExpression: ?",
            "OOMConfig: OOM cgroup scoring expression is invalid",
        ),
        _ => panic!("no place is called {place}"),
    }
}

/// What `talosctl validate` has against a configuration; nothing if it is valid.
fn validate(config: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("config.yaml");
    fs_err::write(&path, config).expect("a file");
    let output = Command::new(peers::program("talosctl-1.14.1"))
        .args(["validate", "--mode", "metal", "--config"])
        .arg(path)
        .output()
        .expect("talosctl");
    if output.status.success() {
        return String::new();
    }
    String::from_utf8(output.stderr).expect("text")
}
