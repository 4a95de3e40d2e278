//! What commands of a cluster say, to people and to programs, and the status that they end with.

use serde_json::{Value, json};

use crate::Home;
use crate::api::{Machine, stranger};
use crate::talos::loopback;

#[test]
fn a_refusal_names_each_machine_with_its_reason() {
    let (first, second) = (loopback(), loopback());
    let home = Home::new(&[&first, &second]);
    let addresses =
        [&first, &second].map(|listener| listener.local_addr().expect("an address").ip());
    // They have a configuration, and another authority than this cluster.
    let _machines = [first, second]
        .map(|listener| Machine::start(listener, stranger, |_| Some(vec![vec![0xff]])));
    let expected = |effect: &str| {
        format!(
            "error[identity.foreign]: cp-1 ({}): carries the configuration of another cluster\n\
             error[identity.foreign]: w-1 ({}): carries the configuration of another cluster\n\
             {effect}\n\nhint: check its address in the spec; only its own cluster's credentials can release it\n",
            addresses[0], addresses[1]
        )
    };
    let planned = home.run("plan").ends_with(4);
    assert_eq!(planned.stderr, expected("refused by a safety rule: nothing was changed"));
    assert_eq!(planned.stdout, "");
    let applied = home.run("apply --yes").ends_with(4);
    assert_eq!(applied.stderr, expected("refused by a safety rule: no further step was started"));

    let planned = home.run("plan -o json").ends_with(4);
    let data: Value = serde_json::from_str(&planned.stdout).expect("JSON");
    let of = |machine: &str, address: String| {
        json!({
            "rule": "identity.foreign",
            "machine": machine,
            "address": address,
            "step": null,
            "message": format!("{machine} carries the configuration of another cluster"),
            "hint": "check its address in the spec; only its own cluster's credentials can release it",
            "overridable": false,
        })
    };
    let refused = [of("cp-1", addresses[0].to_string()), of("w-1", addresses[1].to_string())];
    assert_eq!(data, json!({ "refused": refused }));

    // Both are reached, and both are foreign.
    let status = home.run("status").ends_with(0);
    assert_eq!(status.stdout.matches("  foreign  ").count(), 2, "{status:?}");
}

#[test]
fn machines_that_are_unreachable_are_told_without_false_facts() {
    let home = unreachable();

    let status = home.run("status").ends_with(5);
    let lines: Vec<Vec<&str>> =
        status.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1][4..], ["unreachable", "-", "unknown", "unknown"], "{status:?}");
    assert_eq!(lines[2][3..], ["unreachable", "-", "-", "unknown"], "{status:?}");
    assert_eq!(status.stdout.lines().last(), Some("cp-1, w-1: connection refused"));
    assert!(status.stdout.lines().all(|line| line.len() <= 90), "{status:?}");
    assert_eq!(status.stderr, "");

    let status = home.run("status -o json").ends_with(5);
    let data: Value = serde_json::from_str(&status.stdout).expect("JSON");
    let first = &data["machines"][0];
    assert_eq!(first["state"], "unreachable");
    assert_eq!(first["role"], "control-plane");
    let reason = json!({"code": "machine.unreachable", "message": "connection refused"});
    assert_eq!(first["reason"], reason);
    for unknown in ["talos", "etcd", "node"] {
        assert_eq!(first[unknown], Value::Null, "{unknown}");
    }
    let at = data["at"].as_str().expect("a time");
    assert!(at.contains('T') && at.ends_with('Z'), "{at}");

    let health = home.run("health").ends_with(5);
    assert_eq!(health.stderr, "", "told once, below the table");
    let plan = home.run("plan").ends_with(5);
    assert!(plan.stderr.contains("skipped: w-1 (127."), "{plan:?}");
    assert!(!plan.stderr.contains("os error"), "{plan:?}");
    home.run("diff").ends_with(5);
}

#[test]
fn some_machines_that_are_unreachable_end_status_with_1() {
    let (first, second) = (loopback(), loopback());
    let home = Home::new(&[&first, &second]);
    let address = second.local_addr().expect("an address").ip().to_string();
    home.write("ichor.yaml", &home.read("ichor.yaml").replace(&address, "127.93.7.2"));
    let _machine = Machine::start(first, stranger, |_| Some(vec![vec![0xff]]));
    let status = home.run("status").ends_with(1);
    assert_eq!(status.stdout.lines().last(), Some("w-1: connection refused"));
}

#[test]
fn a_file_that_holds_no_plan_or_metrics_is_not_replaced() {
    let home = unreachable();
    let secrets = home.read("secrets.yaml");
    for line in ["plan --out secrets.yaml", "apply --yes --metrics secrets.yaml"] {
        let said = home.run(line).ends_with(3);
        assert!(said.stderr.contains("error[output.exists]"), "{said:?}");
        assert_eq!(home.read("secrets.yaml"), secrets);
    }
    // JSON with a format is not a plan.
    home.write("inventory.json", "{\"format\": \"ichor-inventory/v2\"}");
    let said = home.run("plan --out inventory.json").ends_with(3);
    assert!(said.stderr.contains("error[output.exists]"), "{said:?}");
    assert!(home.read("inventory.json").contains("ichor-inventory"));
    // Metrics that cannot be written do not hide the outcome.
    home.write("file", "");
    let said = home.run("apply --yes --metrics file/metrics");
    assert!(said.stderr.contains("skipped: cp-1 (127."), "{said:?}");
}

#[test]
fn an_override_has_a_reason_of_at_least_a_letter() {
    let home = unreachable();
    for line in [
        &["plan", "--override", "quorum.tolerance", "--reason", ""][..],
        &["node", "reboot", "-n", "cp-1", "--override", "quorum.tolerance", "--reason", ""],
    ] {
        let output = home.command("").args(line).output().expect("ichor");
        assert_eq!(output.status.code(), Some(3), "{line:?}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("--reason"), "{line:?}: {stderr}");
    }
}

#[test]
fn a_cluster_is_destroyed_only_with_a_reason() {
    let home = unreachable();
    for line in ["destroy --yes", "plan --destroy"] {
        let said = home.run(line).ends_with(3);
        let error = "error[usage]: destroying a cluster needs a reason";
        assert!(said.stderr.contains(error), "{said:?}");
    }
}

/// A cluster of two machines at addresses that nothing listens at.
fn unreachable() -> Home {
    let home = Home(tempfile::tempdir().expect("a directory"));
    let init = "init home --endpoint https://127.93.7.1:6443 --control-plane cp-1=127.93.7.1 --worker w-1=127.93.7.2";
    home.run(init).ends_with(0);
    home
}
