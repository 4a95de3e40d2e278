//! `ichor resume` after a destroy that was interrupted: the journal alone says what it was.

use engine::journal::{Entry, Record};
use plan::{Body, Digest, Draft, Goal, Override, Plan, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::Home;
use crate::talos::{APPLY_CONFIGURATION, RESET, Script, Talos, loopback};

#[test]
fn resume_of_a_destroy_without_its_plan_asks_and_sends_no_configuration() {
    let (home, machine) = interrupted(Digest::of("a plan whose file is gone"));
    assert!(!home.0.path().join(".ichor/plans").exists());

    let unasked = home.run("resume").ends_with(3);
    let question =
        "error[confirm.unasked]: destroy cluster home: 1 machine loses its configuration and data";
    assert!(unasked.stderr.contains(question), "{unasked:?}");
    assert_eq!((machine.count(RESET), machine.count(APPLY_CONFIGURATION)), (0, 0));

    let resumed = home.run("resume --yes").ends_with(0);
    assert!(resumed.stderr.contains("continuing after plan "), "{resumed:?}");
    assert_eq!((machine.count(RESET), machine.count(APPLY_CONFIGURATION)), (1, 0));
    let entries = home.entries();
    let destroys =
        |entry: &Entry| matches!(entry, Entry::PlanStarted { goal: Goal::Destroyed, .. });
    // The one that was interrupted, and the one that went on.
    assert_eq!(entries.iter().filter(|entry| destroys(entry)).count(), 2, "{entries:?}");
    assert!(
        entries.iter().any(|entry| matches!(entry, Entry::MachineForgotten { .. })),
        "{entries:?}"
    );
    assert!(matches!(entries.last(), Some(Entry::PlanEnded { complete: true, .. })), "{entries:?}");
    assert!(reason(&home).ends_with("overriding quorum.destroy because: no reason was given"));
    assert_eq!(home.outcomes(), ["begun", "done"]);
}

#[test]
fn resume_takes_its_reason_from_the_plan_of_that_hash_and_from_no_other() {
    let own = destroys("the hall is given back");
    let (home, machine) = interrupted(own.hash());
    home.write(&kept(own.hash()), &own.encode());
    home.run("resume --yes").ends_with(0);
    assert_eq!((machine.count(RESET), machine.count(APPLY_CONFIGURATION)), (1, 0));
    assert!(reason(&home).ends_with("because: the hall is given back"), "{}", reason(&home));

    // A plan that is valid by itself, under the name of another one.
    let (home, machine) = interrupted(own.hash());
    home.write(&kept(own.hash()), &destroys("planted").encode());
    home.run("resume --yes").ends_with(0);
    assert_eq!((machine.count(RESET), machine.count(APPLY_CONFIGURATION)), (1, 0));
    assert!(reason(&home).ends_with("because: no reason was given"), "{}", reason(&home));
    assert!(!home.read(".ichor/audit.jsonl").contains("planted"));
}

/// A cluster of one machine whose destroy was interrupted, as the journal has it.
fn interrupted(plan: Digest) -> (Home, Talos) {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Member);
    let (goal, holder) = (Goal::Destroyed, "tester".to_owned());
    let entry = Entry::PlanStarted { plan, goal, holder, fencing: None };
    let record = Record { number: 1, at: Timestamp(1_700_000_000), entry };
    let record = serde_json::to_string(&record).expect("JSON");
    home.write(".ichor/journal", &[line("ichor-journal/v2"), line(&record)].concat());
    (home, machine)
}

/// A line of a journal, with its checksum in front.
fn line(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let sum = digest[..8].iter().fold(String::new(), |sum, byte| format!("{sum}{byte:02x}"));
    format!("{sum} {text}\n")
}

/// A plan that ends the cluster, for a reason.
fn destroys(reason: &str) -> Plan<Draft> {
    Plan::draft(Body {
        cluster: "home".parse().expect("a name"),
        identity: Digest::of("home"),
        goal: Goal::Destroyed,
        made: Timestamp(0),
        parent: None,
        overrides: vec![Override {
            rule: "quorum.destroy".to_owned(),
            machine: None,
            reason: reason.to_owned(),
        }],
        steps: Vec::new(),
        skipped: Vec::new(),
    })
}

/// The file that a plan is kept in.
fn kept(plan: Digest) -> String {
    format!(".ichor/plans/{plan}.json")
}

/// The detail of the first plan in the audit log.
fn reason(home: &Home) -> String {
    let audited = home.audited();
    audited[0]["detail"].as_str().expect("text").to_owned()
}
