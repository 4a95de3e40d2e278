//! Log lines: which there are, where they go, and that none of them holds a secret.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::talos::{APPLY_CONFIGURATION, Script, Talos, loopback};
use crate::{Home, Said};

#[test]
fn log_lines_hold_no_secret() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let secrets = home.read("secrets.yaml");
    let canaries = canaries(&secrets);
    assert!(canaries.len() > 10, "{} canaries", canaries.len());
    let mut lines = 0;
    let mut check = |said: Said, line: &str| {
        lines += said.stderr.lines().filter(|line| line.contains(" DEBUG ")).count();
        for (name, text) in [("stdout", &said.stdout), ("stderr", &said.stderr)] {
            for canary in &canaries {
                assert!(!text.contains(canary.as_str()), "{line}: {canary} in {name}");
            }
        }
    };
    // The machine gets its configuration, with all secrets, and refuses it.
    let machine = Talos::start(listener, &secrets, Script::Refuses);
    check(home.run("-vv apply --yes").ends_with(1), "apply");
    assert_eq!(machine.count(APPLY_CONFIGURATION), 1);
    machine.boot();
    for line in [
        "status",
        "plan",
        "health --timeout 1s",
        "version -n cp-1",
        "services -n cp-1 --deadline 2s",
        "kubeconfig -n cp-1 --deadline 2s",
        "get members -n cp-1 --deadline 2s",
        "node reboot -n cp-1 --yes --deadline 2s",
        "gen config home https://10.0.0.1:6443 --with-secrets secrets.yaml -o made",
        "validate",
        "lint",
        "import -o elsewhere",
        "destroy --yes --reason test",
    ] {
        // Configuration is for stdout and files: what is logged beside it is not.
        check(home.run(&format!("-vv {line}")), line);
        check(home.run(&format!("{line} -vv --log-format json")), line);
    }
    assert!(lines > 20, "{lines} lines");
}

#[test]
fn calls_to_machines_are_logged_with_method_duration_and_outcome() {
    let (home, _machine) = cluster(Script::Member);
    for line in ["-vv --log-format json status", "status -v -v --log-format=json"] {
        let said = home.run(line);
        let lines: Vec<Value> =
            said.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let reply = lines.iter().find(|line| {
            line["message"] == "replied" && line["call"]["method"] == "cosi.resource.State/Get"
        });
        let reply = reply.unwrap_or_else(|| panic!("no reply: {said:?}"));
        assert!(reply["ms"].is_u64() && reply["call"]["machine"].is_string(), "{reply}");
        assert!(reply["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{reply}");
        assert_eq!(
            (&reply["level"], &reply["target"]),
            (&"debug".into(), &"talos_api::node".into())
        );
        assert!(lines.iter().any(|line| line["message"] == "observed"), "{said:?}");
    }
    // Steps, not calls.
    let said = home.run("-v status");
    assert!(said.stderr.contains(" INFO  engine::event: observed machines=1"), "{said:?}");
    assert!(!said.stderr.contains("DEBUG"), "{said:?}");
    assert_eq!(said.stdout, home.run("status").stdout);
}

#[test]
fn log_filter_comes_from_the_environment() {
    let (home, _machine) = cluster(Script::Member);
    let run = |filter: &str| {
        let output = home.command("status").env("ICHOR_LOG", filter).output().expect("ichor");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    };
    let (_, stderr) = run("talos_api=debug");
    assert!(stderr.contains(" talos_api::node: replied "), "{stderr}");
    assert!(!stderr.contains(" engine::"), "{stderr}");
    assert!(!run("").1.contains(" INFO "));
    let (code, stderr) = run("h2=trace");
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stderr.contains("error[usage]: ICHOR_LOG=\"h2=trace\": \"h2\" does not log"),
        "{stderr}"
    );
}

#[test]
fn quiet_leaves_data_and_errors() {
    let (home, _machine) = cluster(Script::Member);
    let quiet = home.run("-q gen ca --organization quiet").ends_with(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let again = home.run("gen ca --organization quiet -q").ends_with(3);
    assert!(again.stderr.starts_with("error["), "{again:?}");
    assert_eq!(home.run("-q status").stdout, home.run("status").stdout);
}

/// Every value of the secrets, and what is in it where it is base64 of text.
fn canaries(secrets: &str) -> BTreeSet<String> {
    let values =
        secrets.lines().filter_map(|line| line.split_once(": ")).map(|(_, value)| value.trim());
    let decoded = |value: &str| {
        let text = String::from_utf8(STANDARD.decode(value).ok()?).ok()?;
        text.lines().nth(1).map(str::to_owned)
    };
    let is_certificate = |value: &&str| {
        STANDARD.decode(value).is_ok_and(|text| text.starts_with(b"-----BEGIN CERTIFICATE"))
    };
    values
        .filter(|value| value.len() > 8 && !is_certificate(value))
        .flat_map(|value| std::iter::once(value.to_owned()).chain(decoded(value)))
        .collect()
}

fn cluster(script: Script) -> (Home, Talos) {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), script);
    (home, machine)
}
