//! The reference of steps: what every action declares about itself, as a page for people.

use std::fmt::Write;

use domain::Ownership;

use super::{Action, Awaited, ChangeKind, EtcdEffect, Needed, On};
use crate::spec::Policy;

/// The page, which is `docs/reference/steps.md`.
pub fn steps_reference() -> String {
    let mut page = HEAD.to_owned();
    for action in Action::samples() {
        let nature = action.nature();
        let (acts_on, needed) = match nature.on {
            On::Machine(needed) => ("machine", needed),
            On::ControlPlane(needed) => ("control plane", needed),
        };
        let awaited = |awaited: &[Awaited]| {
            let names: Vec<&str> =
                awaited.iter().map(|awaited| name_of_awaited(*awaited)).collect();
            if names.is_empty() { NONE.to_owned() } else { names.join(", ") }
        };
        let cells = [
            format!("`{}`", tag(&action)),
            action.verb().to_owned(),
            acts_on.to_owned(),
            name_of_needed(needed).to_owned(),
            nature.change.map_or(NONE, name_of_change).to_owned(),
            if nature.disturbs { "yes" } else { "no" }.to_owned(),
            name_of_effect(nature.etcd).to_owned(),
            awaited(nature.leaves_awaited),
            awaited(nature.awaits.as_slice()),
            action.limits(&Policy::default()).time_out.to_string(),
        ];
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
    page
}

/// What the action is called in a plan file.
fn tag(action: &Action) -> String {
    let value = serde_json::to_value(action).unwrap_or_default();
    value["do"].as_str().unwrap_or_default().to_owned()
}

fn name_of_needed(needed: Needed) -> &'static str {
    match needed {
        Needed::Is(Ownership::Maintenance) => "in maintenance",
        Needed::Is(Ownership::Ours) => "ours",
        Needed::Is(Ownership::Foreign) => "foreign",
        Needed::Is(Ownership::Booting) => "booting",
        Needed::Is(Ownership::Away) => "away",
        Needed::Is(Ownership::NotProvided) => "not provided",
        Needed::Is(Ownership::Provided) => "provided",
        Needed::Joined => "ours, away, or joined by a step before",
        Needed::NotProvided => "absent or starting",
        Needed::Provided => "provided, in any state",
    }
}

fn name_of_change(change: ChangeKind) -> &'static str {
    match change {
        ChangeKind::Provide => "provide",
        ChangeKind::Join => "join",
        ChangeKind::Bootstrap => "bootstrap",
        ChangeKind::Configure => "configure",
        ChangeKind::Destroy => "destroy",
    }
}

fn name_of_effect(effect: EtcdEffect) -> &'static str {
    match effect {
        EtcdEffect::None => NONE,
        EtcdEffect::Touch => "touches a member",
        EtcdEffect::Join => "a member joins",
        EtcdEffect::MoveLeader => "another member leads",
        EtcdEffect::Pause => "a member pauses",
        EtcdEffect::Begin => "the first member begins",
        EtcdEffect::Restore => "a member votes again",
    }
}

fn name_of_awaited(awaited: Awaited) -> &'static str {
    match awaited {
        Awaited::Machine => "machine",
        Awaited::Node => "node",
        Awaited::Voter => "voter",
    }
}

const NONE: &str = "–";

const HEAD: &str = "\
<!-- Made by `cargo xtask gen`; do not edit it by hand. -->

# Steps

A plan is made of these steps. Planner and checker know of a step what its row says; besides,
of a configuration its digest and mode, of a node whether it has to be ready, and of a machine of a provider its class,
generation and id.

* **Needed state**: `ours` knows the credentials of the cluster; `coming` was configured by this directory and still boots;
  `away` was disturbed by this directory and still has time to come back; `in maintenance` waits for its first
  configuration; a provider does not have what is `absent`, and has made what is `starting`, which has not answered yet.
* **Disturbs**: a machine may stop serving. Such steps wait for the windows of the policy, come in batches of workers, and
  control planes come before workers.
* **etcd**: what it means for etcd when it is done on a control plane. Steps with an effect follow one another.
* **Leaves awaited**: what a later step has to wait for on the same machine; only control planes vote.
* **Time-out**: after this the step has failed. That of a first configuration is `policy.installWithin`; the table has its
  default.

| action | shown as | acts on | needed state | kind of change | disturbs | etcd | leaves awaited | awaits | time-out |
|---|---|---|---|---|---|---|---|---|---|
";
