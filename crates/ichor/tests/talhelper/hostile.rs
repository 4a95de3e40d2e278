//! Files of a directory that somebody else wrote.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::recorded::PATH;
use crate::sandbox::{Said, Sandbox};

#[test]
fn cluster_name_is_no_path() {
    let (sandbox, said) = run(&talconfig("../../../pwn", "v1.34.1"), &["talhelper", "genconfig"]);
    assert_eq!(said.codes, [1]);
    assert!(said.stderr.contains("is outside of the output directory"), "{}", said.stderr);
    assert!(!sandbox.work().join("../pwn-n1.yaml").exists());
    assert_eq!(sandbox.files().keys().next(), None, "nothing is written");
}

#[test]
fn commands_are_quoted_for_a_shell() {
    let named = talconfig("x$$(touch PWNED)'\\\"", "v1.34.1");
    let released = talconfig("c1", "v1.34.1-$$(touch${IFS:-x}PWNED)");
    for (files, arguments, expected) in [
        (&named, &["apply"][..], "--file=./clusterconfig/'x$(touch PWNED)'\\''\"-n1.yaml'"),
        (&released, &["upgrade-k8s"][..], "--to='v1.34.1-$(touchxPWNED)'"),
    ] {
        let words: Vec<&str> =
            ["talhelper", "gencommand"].iter().chain(arguments).copied().collect();
        let (sandbox, said) = run(files, &words);
        if expected.starts_with("--to") {
            assert!(!said.stdout.contains("--to=v1.34.1-$("), "{}", said.stdout);
        } else {
            assert!(said.stdout.contains(expected), "{}{}", said.stdout, said.stderr);
        }
        let shell = Command::new("sh")
            .args(["-c", &format!("talosctl() {{ :; }}; {}", said.stdout)])
            .current_dir(sandbox.work())
            .status()
            .expect("a shell");
        assert!(shell.success());
        assert!(!sandbox.work().join("PWNED").exists());
    }
}

/// Each of these took minutes or gigabytes: the limit of time of a test is what is compared with.
#[test]
fn small_files_cost_little() {
    let doubling: Vec<String> =
        (1..60).map(|line| format!("A{line}: $A{0}$A{0}\n", line - 1)).collect();
    let lines: Vec<String> = (0..100_000).map(|line| format!("A{line}: 1\n")).collect();
    let keys = "x: 1\n".repeat(100_000);
    for (name, text, expected) in [
        ("talenv.yaml", format!("A0: 0123456789\n{}", doubling.concat()), "make this one too long"),
        ("talenv.yaml", lines.concat(), "A99999 is set and never used"),
        ("talconfig.yaml", keys, "the key is there already"),
    ] {
        let mut files = talconfig("c1", "v1.34.1");
        files.insert(name.to_owned(), text);
        let (_, said) = run(&files, &["lint"]);
        assert!(said.stdout.contains(expected), "{name}: {:.500}{:.500}", said.stdout, said.stderr);
    }
}

fn talconfig(name: &str, kubernetes: &str) -> BTreeMap<String, String> {
    let text = format!(
        "clusterName: \"{name}\"\ntalosVersion: v1.13.0\nkubernetesVersion: \"{kubernetes}\"\nendpoint: \
         https://10.0.0.1:6443\nnodes:\n  - hostname: n1\n    ipAddress: 10.0.0.11\n    controlPlane: true\n    \
         installDisk: /dev/sda\n"
    );
    BTreeMap::from([("talconfig.yaml".to_owned(), text)])
}

fn run(files: &BTreeMap<String, String>, words: &[&str]) -> (Sandbox, Said) {
    let sandbox = Sandbox::new(files);
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut said = Said::default();
    let program = Path::new(env!("CARGO_BIN_EXE_ichor"));
    sandbox.run(program, &words, &BTreeMap::new(), PATH, &mut said);
    (sandbox, said)
}
