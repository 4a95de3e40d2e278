//! Command lines as scripts write them: what the library of talhelper makes of flags, and what we do.

use std::collections::BTreeMap;
use std::path::Path;

use testkit::peers;

use crate::sandbox::{Said, Sandbox};

#[test]
#[ignore = "level golden: needs talhelper (cargo xtask test)"]
fn flags_are_read_as_talhelper_reads_them() {
    let theirs = peers::program("talhelper");
    let files = BTreeMap::from([
        ("talconfig.yaml".to_owned(), TALCONFIG.to_owned()),
        ("other.yaml".to_owned(), TALCONFIG.replace("home", "other")),
    ]);
    let run = |program: &Path, before: &[&str], line: &str| {
        let sandbox = Sandbox::new(&files);
        let words = before.iter().copied().chain(line.split_whitespace());
        let words: Vec<String> = words.map(str::to_owned).collect();
        let mut said = Said::default();
        sandbox.run(program, &words, &BTreeMap::new(), "", &mut said);
        let names: Vec<String> = sandbox.files().into_keys().collect();
        // What follows an error is a hint, or help in words of our own.
        let stderr = said.stderr.lines().next().unwrap_or_default().to_owned();
        (said.codes, said.stdout, stderr, names)
    };
    for line in LINES {
        let ours = run(Path::new(env!("CARGO_BIN_EXE_ichor")), &["talhelper"], line);
        assert_eq!(ours, run(&theirs, &[], line), "{line}");
    }
}

const LINES: &[&str] = &[
    // Flags of a group before its verb.
    "gencommand -n cp-1 apply",
    "gencommand --config-file other.yaml apply -n cp-1",
    "gencommand -c other.yaml upgrade --offline-mode",
    "gencommand -n nobody -n cp-1 apply",
    "genurl --offline-mode installer",
    "genurl -n cp-1 --offline-mode image --arch arm64",
    "-d=false gencommand apply -n w-1",
    // Of several the last counts; a list grows.
    "gencommand apply -o a -o b",
    "gencommand apply --extra-flags --a --extra-flags=--b,--c",
    "gencommand apply -n cp-1 --node w-1",
    "genconfig --offline-mode --offline-mode -s SECRET -o one -o two",
    // Switches with values.
    "genurl installer --offline-mode=true",
    "genurl installer --offline-mode=1 --secure-boot=F",
    "genconfig -s SECRET --offline-mode=TRUE --dry-run=false",
    "genconfig -s SECRET --offline-mode --no-gitignore=t",
    "genconfig -s SECRET --offline-mode -n=0",
    "genurl installer --offline-mode=maybe",
    "genconfig --dry-run=",
    "genconfig -n=2",
    // Values that look like flags.
    "gencommand apply -o -n",
    "gencommand apply --out-dir --node",
    "genurl installer --offline-mode -k -console",
    // What is not there.
    "gencommand apply -o",
    "gencommand apply --out-dir",
    "gencommand apply -n",
    "genconfig --no-such-flag",
    "genconfig -x",
    "genconfig -o d -x",
    "gencommand --no-such-flag apply",
    "gencommand apply rest",
    "genurl installer --offline-mode rest",
    "genconfig rest",
    "nothing",
];

const TALCONFIG: &str = "\
clusterName: home
talosVersion: v1.12.0
kubernetesVersion: v1.35.0
endpoint: https://127.91.0.11:6443
nodes:
  - hostname: cp-1
    ipAddress: 127.91.0.11
    controlPlane: true
    installDisk: /dev/sda
  - hostname: w-1
    ipAddress: 127.91.0.21
    controlPlane: false
    installDisk: /dev/sda
";
