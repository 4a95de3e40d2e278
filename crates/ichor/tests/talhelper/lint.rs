//! `ichor lint` on directories in which something silently goes wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use insta::assert_snapshot;
use serde::Deserialize;

use crate::recorded::{self, Case, NEED_SOPS, PATH};
use crate::sandbox::{Said, Sandbox};

/// Directories that talhelper is content with. Whatever is in the snapshot was read by a person and is meant so.
#[test]
fn recorded_cases() {
    let cases = recorded::cases().filter(|case| !NEED_SOPS.contains(&case.name.as_str()));
    let remarks: Vec<String> = cases.filter_map(|case| of_case(&case)).collect();
    assert_snapshot!(remarks.join("\n"));
}

#[test]
fn a_directory_in_which_much_is_wrong() {
    assert_snapshot!(lint(&WRONG, &[]));
}

#[test]
fn a_directory_in_which_much_is_wrong_as_data() {
    assert_snapshot!(lint(&WRONG[..1], &["-o", "json"]));
}

#[test]
fn a_directory_in_which_nothing_is_wrong() {
    assert_snapshot!(lint(&RIGHT, &["--strict"]));
}

#[test]
fn warnings_count_when_it_is_strict() {
    let questionable = ("patches/old.yaml", "machine: {}\n");
    let files: Vec<_> = RIGHT.into_iter().chain([questionable]).collect();
    assert_snapshot!(lint(&files, &[]));
    assert!(lint(&files, &["--strict"]).starts_with("exit: 1\n"));
}

/// Operations are told only where the configuration has several documents.
#[test]
fn operations_fit_a_configuration_of_one_document() {
    let older = RIGHT.map(|(name, text)| {
        let text = text.replace("v1.13.0", "v1.11.0").replace("v1.34.1", "v1.33.1");
        (name, text.replace("machine: {sysctls: {a: b}}", OPERATIONS))
    });
    let older: Vec<(&str, &str)> =
        older.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_snapshot!(lint(&older, &[]));
    let newer =
        RIGHT.map(|(name, text)| (name, text.replace("machine: {sysctls: {a: b}}", OPERATIONS)));
    let newer: Vec<(&str, &str)> =
        newer.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert!(lint(&newer, &[]).contains("error[lint.json-patch]"));
}

#[test]
fn a_native_directory() {
    assert_snapshot!(lint(
        &[
            (
                "ichor.yaml",
                "ichor: v1\ncluster: c1\ntalos: v1.13.9\ncontrolPlane:\n  machines:\n    - \
                 {name: n1, address: 10.0.0.11}\n  patches: [patches/a.yaml, patches/nowhere.yaml]\n\
                 patches:\n  - patches/a.yaml\n  - patches/operations.yaml\n",
            ),
            ("patches/a.yaml", "machine:\n  sysctl: {a: b}\n"),
            ("patches/operations.yaml", OPERATIONS),
            ("patches/deep/old.yml", "machine: {}\n"),
        ],
        &[],
    ));
}

#[test]
fn a_directory_without_a_cluster() {
    let said = lint(&[("readme.txt", "")], &["-C", "."]);
    assert_snapshot!(said);
}

#[test]
fn help() {
    assert_snapshot!(lint(&[], &["--help"]));
}

/// What is said about a case that talhelper makes configuration of; nothing where nothing is said. Secrets are
/// given to these cases on the command line.
fn of_case(case: &Case) -> Option<String> {
    let generates = case.argv.iter().any(|words| words.first().is_some_and(|it| it == "genconfig"));
    let succeeds = case.codes.iter().all(|code| *code == 0);
    if !generates || !succeeds || !case.input.contains_key("talconfig.yaml") {
        return None;
    }
    let sandbox = Sandbox::new(&case.input);
    let mut said = Said::default();
    let words = ["lint".to_owned(), "--output=json".to_owned()];
    sandbox.run(Path::new(env!("CARGO_BIN_EXE_ichor")), &words, &case.env, PATH, &mut said);
    let remarks: Vec<Remark> = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|_| panic!("{}: {}{}", case.name, said.stdout, said.stderr));
    let told = remarks.into_iter().filter(|remark| remark.code != "lint.no-secrets");
    let lines: Vec<String> = told.map(|remark| remark.to_string()).collect();
    (!lines.is_empty()).then(|| format!("{}\n{}", case.name, lines.join("\n")))
}

/// One line of what is said.
#[derive(Deserialize)]
struct Remark {
    file: String,
    #[serde(default)]
    line: u32,
    #[serde(default)]
    column: u32,
    level: String,
    code: String,
    message: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, level, code, message } = self;
        write!(f, "  {file}:{line}:{column} {level} {code}: {message}")
    }
}

/// What is said about files, and how it ends.
fn lint(files: &[(&str, &str)], arguments: &[&str]) -> String {
    let files: BTreeMap<String, String> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let sandbox = Sandbox::new(&files);
    let words: Vec<String> =
        ["lint"].iter().chain(arguments).map(|word| (*word).to_owned()).collect();
    let mut said = Said::default();
    let program = Path::new(env!("CARGO_BIN_EXE_ichor"));
    sandbox.run(program, &words, &BTreeMap::new(), PATH, &mut said);
    assert!(!format!("{}{}", said.stdout, said.stderr).contains("hunter"), "a secret is shown");
    let Said { stdout, stderr, codes } = said;
    format!("exit: {}\n---- stdout\n{stdout}---- stderr\n{stderr}", codes[0])
}

const OPERATIONS: &str = "[{op: add, path: /machine/sysctls, value: {a: hunter2}}]";

const RIGHT: [(&str, &str); 4] = [
    (
        "talconfig.yaml",
        "\
clusterName: c1
talosVersion: ${talosVersion}
kubernetesVersion: v1.34.1
endpoint: https://10.0.0.1:6443
anchors: &names [a.example.org]
additionalMachineCertSans: *names
nodes:
  - hostname: n1
    ipAddress: 10.0.0.11
    controlPlane: true
    installDisk: /dev/sda
    patches:
      - '@./patches/a.yaml'
      - 'machine: {sysctls: {a: b}}'
",
    ),
    ("patches/a.yaml", "# ${A} is not set\nmachine:\n  nodeLabels:\n    $$patch: delete\n"),
    ("talenv.yaml", "talosVersion: v1.13.0\n"),
    ("talsecret.yaml", "cluster: {}\n"),
];

const WRONG: [(&str, &str); 6] = [
    (
        "talconfig.yaml",
        "\
clusterName: c1
talosVersion: v1.13.0
kubernetesVersion: v1.34.1
endpoint: https://10.0.0.1:6443
schematic: {customization: {}}
patches:
  - \"@./patches/all.yaml\"
  - '[{op: add, path: /machine/sysctls, value: {a: hunter2}}]'
  - |
    machine:
      sysctls: {a: hunter3}
      kubelett: {}
controlPlane:
  nodeLabels: {rack: \"1\"}
  ingressFirewall: {}
nodes:
  - hostname: n1
    ipAddress: 10.0.0.11
    controlPlane: true
    installDisk: /dev/sda
    networkInterface: []
    patches:
      - \"@./patches/all.yaml\"
      - \"@./patches/nowhere.yaml\"
      - 'machine: {kubelet: {image: hunter4}}'
  - hostname: n1
    ipAddress: 10.0.0.12
    controlPlane: true
    installDisk: 0123
    nodeLabels: {zone: \"2\"}
",
    ),
    ("patches/all.yaml", "machine:\n  kubelet: {image: hunter5}\n  instal: {wipe: true}\n"),
    ("patches/unused.yaml", "machine: {}\n"),
    ("talenv.yaml", "NAME: x\nlist:\n  - hunter6\n"),
    ("talsecret.yaml", "cluster: {}\n"),
    ("talsecret.sops.yaml", "cluster: {}\n"),
];
