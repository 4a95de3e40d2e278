//! Rules about one step and its machine: who it is, what it has, what it gets.

use std::collections::BTreeMap;

use domain::{ApplyMode, MachineFacts, MachineName, NodeIdentity, Ownership};

use super::{Check, Findings};
use crate::action::{Awaited, Needed, On, Outcome, TargetFacts};
use crate::finding::Finding;
use crate::planner::expects_ready;
use crate::reboot::RebootClass;
use crate::render::Rendering;
use crate::rule::Rule;
use crate::spec::Policy;
use crate::step::{Gate, Step};

impl Check<'_> {
    pub(super) fn targets(&self, findings: &mut Findings) {
        for (_, steps) in self.graph.targets() {
            let Some((facts, rendering)) = self.observed(steps[0], findings) else { continue };
            self.installation(steps[0], facts, findings);
            keeps(steps[0], rendering, findings);
            for step in steps {
                complete(step, &self.input.spec.policy, findings);
                self.windows(step, findings);
                self.ownership(step, facts, findings);
                self.preconditions(step, facts, findings);
                self.config(step, rendering, findings);
                self.disk(step, facts, rendering, findings);
                self.waits_for_ready(step, findings);
                self.class_and_generation(step, facts, findings);
            }
        }
    }

    /// No two machines are one installation.
    pub(super) fn installations(&self, findings: &mut Findings) {
        let inventory = self.input.inventory;
        let mut known: BTreeMap<&NodeIdentity, &MachineName> = BTreeMap::new();
        for (name, facts) in &inventory.machines {
            let Some(node) = facts.node.current(inventory.taken) else { continue };
            if let Some(first) = known.insert(node, name) {
                findings.push(Finding::one_installation_twice(&[first, name], node));
            }
        }
    }

    /// Returns the facts about a step's machine and the configuration that it should have. Steps on anything else
    /// than a machine of the spec are refused: no action suits such a target yet.
    pub(super) fn observed(
        &self,
        step: &Step,
        findings: &mut Findings,
    ) -> Option<(&MachineFacts, &Rendering)> {
        let found = step.on.machine().and_then(|name| {
            self.input.spec.machine(name)?;
            Some((self.input.inventory.machines.get(name)?, self.input.desired.get(name)?))
        });
        if found.is_none() {
            let message = format!("{} is not in the spec, or was not observed", step.on);
            findings.about_step(Rule::IdentityMachine, step, message, "make a new plan");
        }
        found
    }

    /// A machine that is ours is the installation that was recorded, and one in maintenance was not ours before.
    pub(super) fn installation(&self, step: &Step, facts: &MachineFacts, findings: &mut Findings) {
        let (now, machine) = (self.input.inventory.taken, &step.on);
        let Some(recorded) = &facts.recorded else { return };
        match facts.ownership.current(now) {
            Some(Ownership::Ours) => {
                let Some(node) = facts.node.current(now).filter(|node| *node != recorded) else {
                    return;
                };
                let finding = Finding::another_installation(machine.clone(), node, recorded);
                findings.push(finding.in_step(step));
            }
            Some(Ownership::Maintenance) => {
                findings.push(Finding::in_maintenance_again(machine.clone()).in_step(step));
            }
            Some(Ownership::NotProvided) => {
                findings.push(Finding::gone(machine.clone()).in_step(step));
            }
            Some(
                Ownership::Foreign | Ownership::Booting | Ownership::Away | Ownership::Provided,
            )
            | None => {}
        }
    }

    /// A step suits the machine that is there.
    pub(super) fn ownership(&self, step: &Step, facts: &MachineFacts, findings: &mut Findings) {
        let now = self.input.inventory.taken;
        let machine = &step.on;
        let on = step.action.nature().on;
        if on.needed() == Needed::Provided {
            // What goes back to its provider need not answer.
            if facts.instance.current(now).is_none_or(Option::is_none) {
                let message = format!("the provider does not have {machine}");
                findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
            }
            return;
        }
        let ownership = match facts.ownership.current(now) {
            Some(Ownership::Foreign) => {
                return findings.push(Finding::foreign(machine.clone()).in_step(step));
            }
            Some(ownership) => *ownership,
            None => {
                let why = facts.ownership.why_not(now);
                let message = format!("{machine} is unreachable now: {why}");
                let hint = "make a new plan, which skips it";
                return findings.about_step(Rule::FactsCurrent, step, message, hint);
            }
        };
        let joins = |other: &&Step| {
            other.action.nature().awaits == Some(Awaited::Machine)
                && self.graph.precedes(other, step)
        };
        let suits = match on.needed() {
            Needed::Is(needed) => ownership == needed,
            Needed::NotProvided => {
                matches!(ownership, Ownership::NotProvided | Ownership::Provided)
            }
            Needed::Provided => true,
            Needed::Joined => {
                matches!(ownership, Ownership::Ours | Ownership::Away)
                    || self.graph.on(machine).iter().any(joins)
            }
        };
        if matches!(on, On::ControlPlane(_)) && !self.is_control_plane(step) {
            let message =
                format!("{} does not suit {machine}, which is a worker", step.action.verb());
            findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
        }
        if !suits {
            let state = match ownership {
                Ownership::Maintenance => "is in maintenance",
                Ownership::Booting => "boots with its configuration",
                Ownership::Away => "is not back yet",
                Ownership::NotProvided => "is not there",
                Ownership::Provided => "has not answered yet",
                Ownership::Ours | Ownership::Foreign => "is configured already",
            };
            let message = format!("{} does not suit {machine}, which {state}", step.action.verb());
            findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
        }
    }

    /// A step assumes what was seen, and says so.
    pub(super) fn preconditions(&self, step: &Step, facts: &MachineFacts, findings: &mut Findings) {
        let inventory = self.input.inventory;
        let now = inventory.taken;
        let seen = TargetFacts { facts, etcd: inventory.etcd.current(now), on: &step.on, now };
        let wanted = step.action.assumes(&seen);
        let mut missing = wanted.iter().filter(|wanted| {
            wanted.as_ref().is_none_or(|wanted| !step.preconditions.contains(wanted))
        });
        if let Some(missing) = missing.next() {
            let message = missing.as_ref().map_or_else(
                || format!("what {} has to be is not known now", step.on),
                |wanted| format!("it has to insist on: {wanted}"),
            );
            findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
        }
    }

    /// A machine gets the configuration of the spec, in the way that the change needs.
    fn config(&self, step: &Step, rendering: &Rendering, findings: &mut Findings) {
        let change = rendering.change.as_ref();
        let class = change.map(|change| change.class);
        let machine = &step.on;
        let given = step.action.config();
        if let Some(given) = given {
            let shown = match given.mode {
                ApplyMode::Maintenance => given.changes.is_empty(),
                ApplyMode::NoReboot | ApplyMode::Staged => {
                    change.is_some_and(|change| change.fields == given.changes)
                }
            };
            if given.config != rendering.digest || !shown {
                let message = format!("the configuration is not what the spec gives {machine} now");
                findings.about_step(Rule::ConfigDigest, step, message, "make a new plan");
            }
        }
        let (mode, reboots) = (given.map(|given| given.mode), step.action.nature().reboots);
        let suits = match mode {
            Some(ApplyMode::Maintenance) => true,
            Some(ApplyMode::NoReboot) => class == Some(RebootClass::WithoutReboot),
            Some(ApplyMode::Staged) => class == Some(RebootClass::WithReboot),
            None => !reboots || class == Some(RebootClass::WithReboot),
        };
        let on_machine = self.graph.on(machine);
        let reboots_later = || {
            let reboot = |other: &&&Step| other.action.nature().reboots;
            on_machine.iter().filter(reboot).any(|other| self.graph.precedes(step, other))
        };
        let staged_before = || {
            let staged = |other: &&&Step| {
                other.action.config().is_some_and(|given| given.mode == ApplyMode::Staged)
            };
            on_machine.iter().filter(staged).any(|other| self.graph.precedes(other, step))
        };
        let message = if !suits {
            let class = class.map_or_else(|| "not known".to_owned(), |class| class.to_string());
            format!("{} does not suit the change, which is {class}", step.action.verb())
        } else if mode == Some(ApplyMode::Staged) && !reboots_later() {
            format!("nothing reboots {machine} after that")
        } else if reboots && !staged_before() {
            format!("no configuration waits for the reboot of {machine}")
        } else {
            return;
        };
        findings.about_step(Rule::ConfigReboot, step, message, "make a new plan");
    }

    /// A machine is made of the class that the spec gives, and another one only in the place of one that is gone.
    fn class_and_generation(&self, step: &Step, facts: &MachineFacts, findings: &mut Findings) {
        let Some(given) = step.action.provides() else { return };
        let spec = step.on.machine().and_then(|name| self.input.spec.machine(name));
        let class = spec.and_then(|(machine, _)| machine.class());
        let made = facts.instance.current(self.input.inventory.taken).and_then(Option::as_ref);
        let expected = match made {
            Some(made) => made.generation,
            None => (facts.generation + u32::from(facts.recorded.is_some())).max(1),
        };
        let message = if class != Some(&given.class) {
            format!("the spec does not make {} of the class {}", step.on, given.class)
        } else if given.generation != expected {
            format!("{} would be number {}, and {expected} is next", step.on, given.generation)
        } else if self.is_member(step) {
            let message = format!("etcd still counts a member of {}", step.on);
            let hint = "`ichor etcd members` shows it, `ichor node etcd remove-member ID` removes it; then `ichor plan`";
            return findings.about_step(Rule::FactsCurrent, step, message, hint);
        } else {
            return;
        };
        findings.about_step(Rule::ProvideClass, step, message, "make a new plan");
    }

    /// A wait for a node waits for as much as the network allows.
    fn waits_for_ready(&self, step: &Step, findings: &mut Findings) {
        let ready = expects_ready(self.input.spec);
        if step.action.waits_for_ready().is_some_and(|waits| waits != ready) {
            let message = if ready {
                format!("{} has to be ready, not only registered", step.on)
            } else {
                format!("{} cannot be ready before there is a network", step.on)
            };
            findings.about_step(Rule::OrderAwait, step, message, "make a new plan");
        }
    }

    /// A machine that Talos is installed on has the disk for it.
    fn disk(
        &self,
        step: &Step,
        facts: &MachineFacts,
        rendering: &Rendering,
        findings: &mut Findings,
    ) {
        let disks = facts.disks.current(self.input.inventory.taken);
        let missing = disks.and_then(|disks| rendering.disk.missing(disks));
        let installs =
            step.action.config().is_some_and(|given| given.mode == ApplyMode::Maintenance);
        if let Some(why) = missing.filter(|_| installs) {
            findings.push(Finding::no_disk(step.on.clone(), &why).in_step(step));
        }
    }

    fn windows(&self, step: &Step, findings: &mut Findings) {
        let windows = &self.input.spec.policy.windows;
        let waits = step.gates.iter().any(|gate| {
            let Gate::Windows(given) = gate;
            given == windows
        });
        if step.action.nature().disturbs && !windows.is_empty() && !waits {
            let message = format!("{} would be disturbed outside the windows", step.on);
            let hint = "make a new plan, or use --override window.missing";
            findings.about_step(Rule::WindowMissing, step, message, hint);
        }
    }
}

/// A machine keeps its role, and its Kubernetes.
fn keeps(step: &Step, rendering: &Rendering, findings: &mut Findings) {
    let (machine, Some(change)) = (&step.on, &rendering.change) else { return };
    if change.changes_role {
        findings.push(Finding::another_role(machine.clone()).in_step(step));
    }
    if let Some(why) = rendering.too_new.as_ref().filter(|_| step.action.config().is_some()) {
        let message = format!("{machine} cannot take its configuration before its upgrade: {why}");
        let hint = format!("upgrade it first: `ichor node upgrade -n {machine}`");
        findings.about_step(Rule::ConfigRelease, step, message, &hint);
    }
    if change.changes_kubernetes {
        findings.push(Finding::another_kubernetes(machine.clone()).in_step(step));
    }
}

/// A step has the limits of its action, and says what it leaves behind.
pub(super) fn complete(step: &Step, policy: &Policy, findings: &mut Findings) {
    // People type what a failed step recommends: it is what the action says, and nothing else.
    let Outcome { leaves, recovery } = step.action.outcome(&step.on);
    let problem = if step.time_out != step.action.limits(policy).time_out {
        "its time-out is not that of the action and the policy"
    } else if step.leaves != leaves {
        "it does not say what it leaves behind"
    } else if step.recovery != recovery {
        "its recovery command is not that of the action"
    } else {
        return;
    };
    findings.about_step(Rule::StepIncomplete, step, problem.to_owned(), "make a new plan");
}
