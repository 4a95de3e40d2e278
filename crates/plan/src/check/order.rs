//! Rules about what may happen at the same time, and what must come first.

use std::collections::BTreeMap;

use super::{Check, Findings};
use crate::names::{FailureDomain, MachineName};
use crate::rule::Rule;
use crate::step::{Action, ApplyMode, Step};

impl Check<'_> {
    pub(super) fn order(&self, findings: &mut Findings) {
        self.awaits(findings);
        self.control_planes(findings);
        self.leader(findings);
        self.workers(findings);
        self.batches(findings);
    }

    /// Whatever is done to a machine, somebody waits until it serves again.
    fn awaits(&self, findings: &mut Findings) {
        for step in self.graph.steps {
            let disturbs = step.action.is_disruptive()
                || matches!(step.action, Action::ApplyConfig { mode: ApplyMode::Maintenance, .. });
            if !disturbs {
                continue;
            }
            let lacks = |wait: fn(&Action) -> bool| {
                let mut on = self.graph.on(&step.machine).iter();
                !on.any(|other| wait(&other.action) && self.graph.precedes(step, other))
            };
            let missing = if lacks(awaits_node) {
                "to serve in Kubernetes again"
            } else if self.is_control_plane(step) && lacks(awaits_voter) {
                "to vote in etcd again"
            } else {
                continue;
            };
            let message = format!("nothing waits for {} {missing}", step.machine);
            findings.about_step(Rule::OrderAwait, step, message, "make a new plan");
        }
    }

    /// Steps on control planes happen one after the other, each machine being waited for.
    fn control_planes(&self, findings: &mut Findings) {
        let bootstrap = self.graph.steps.iter().find(|step| step.action == Action::BootstrapEtcd);
        let chain = self.chain(findings);
        // Before there is a cluster, nobody is served who would notice.
        let serves =
            |step: &Step| bootstrap.is_none_or(|bootstrap| !self.graph.precedes(step, bootstrap));
        let disturbing: Vec<&Step> =
            chain.into_iter().filter(|step| step.action.is_disruptive() && serves(step)).collect();
        for (index, second) in disturbing.iter().enumerate() {
            for first in disturbing[..index].iter().filter(|first| first.machine != second.machine)
            {
                let waited = |wait: fn(&Action) -> bool| {
                    self.graph.on(&first.machine).iter().any(|other| {
                        wait(&other.action)
                            && self.graph.precedes(first, other)
                            && self.graph.precedes(other, second)
                    })
                };
                if !waited(awaits_node) || !waited(awaits_voter) {
                    let message = format!("{} is not waited for before that", first.machine);
                    let hint = "control planes are changed one at a time: make a new plan";
                    findings.about_step(Rule::OrderControlPlanes, second, message, hint);
                    break;
                }
            }
        }
    }

    /// The steps that touch etcd, which happen one after the other.
    pub(super) fn chain(&self, findings: &mut Findings) -> Vec<&Step> {
        let touches = |step: &&Step| self.is_control_plane(step) && touches_etcd(&step.action);
        let chain: Vec<&Step> = self.graph.steps.iter().filter(touches).collect();
        for pair in chain.windows(2) {
            if !self.graph.precedes(pair[0], pair[1]) {
                let message = format!(
                    "{} may be changed at the same time as {}",
                    pair[1].machine, pair[0].machine
                );
                let hint = "control planes are changed one at a time: make a new plan";
                findings.about_step(Rule::OrderControlPlanes, pair[1], message, hint);
            }
        }
        chain
    }

    /// The leader of etcd is the last control plane to be disturbed, and hands over before it reboots.
    fn leader(&self, findings: &mut Findings) {
        let inventory = self.against.inventory;
        let Some(etcd) = inventory.etcd.current(inventory.taken) else { return };
        let leader = etcd.leader.and_then(|id| etcd.members.get(&id)?.machine.as_ref());
        let Some(leader) = leader else { return };
        let several =
            etcd.members.values().filter(|member| member.voter && member.started).count() > 1;
        for step in self.graph.on(leader).iter().filter(|step| step.action.is_disruptive()) {
            let later = self.graph.steps.iter().find(|other| {
                other.action.is_disruptive()
                    && self.is_control_plane(other)
                    && other.machine != *leader
                    && !self.graph.precedes(other, step)
            });
            if let Some(later) = later {
                let message = format!("{leader} leads etcd and comes before {}", later.machine);
                let hint = "make a new plan, or use --override order.leader";
                findings.about_step(Rule::OrderLeader, step, message, hint);
            }
            let hands_over = |other: &&&Step| {
                other.action == Action::HandOverLeadership && self.graph.precedes(other, step)
            };
            let kept = !self.graph.on(leader).iter().any(|other| hands_over(&other));
            if several && step.action == Action::RebootMachine && kept {
                let message = format!("{leader} leads etcd and would reboot without handing over");
                let hint = "make a new plan, or use --override order.leader";
                findings.about_step(Rule::OrderLeader, step, message, hint);
            }
        }
    }

    /// Workers are disturbed after the control planes.
    fn workers(&self, findings: &mut Findings) {
        let disturbing = || self.graph.steps.iter().filter(|step| step.action.is_disruptive());
        let control_planes: Vec<&Step> =
            disturbing().filter(|step| self.is_control_plane(step)).collect();
        for step in disturbing().filter(|step| !self.is_control_plane(step)) {
            let early = control_planes.iter().find(|other| !self.graph.precedes(other, step));
            if let Some(other) = early {
                let message =
                    format!("{} is disturbed before control plane {}", step.machine, other.machine);
                let hint = "make a new plan, or use --override order.workers";
                findings.about_step(Rule::OrderWorkers, step, message, hint);
            }
        }
    }

    /// Workers that may be disturbed at the same time are few, and fail together anyway.
    fn batches(&self, findings: &mut Findings) {
        let spec = self.against.spec;
        let domains: BTreeMap<&MachineName, _> =
            spec.machines().map(|(machine, _)| (&machine.name, machine.domain.as_ref())).collect();
        let mut times: Vec<Time<'_>> = Vec::new();
        for (machine, steps) in self.graph.machines() {
            let begins = steps.iter().find(|step| step.action.is_disruptive());
            let ends = steps.iter().rfind(|step| awaits_node(&step.action));
            if let (Some(begins), Some(ends)) = (begins, ends)
                && !self.is_control_plane(begins)
            {
                let domain = domains.get(machine).copied().flatten();
                times.push(Time { begins, ends, domain: domain.map(FailureDomain::as_str) });
            }
        }
        let most = usize::try_from(spec.policy.workers_at_once).unwrap_or(usize::MAX);
        for one in &times {
            let apart = |other: &Time<'_>| {
                self.graph.precedes(one.ends, other.begins)
                    || self.graph.precedes(other.ends, one.begins)
            };
            let together: Vec<&Time<'_>> = times.iter().filter(|other| !apart(other)).collect();
            let machine = &one.begins.machine;
            if together.len() > most {
                let message = format!(
                    "{machine} may be disturbed together with {} others, and {most} at once are allowed",
                    together.len() - 1
                );
                let hint = "raise policy.workersAtOnce, or use --override batch.size";
                findings.about_step(Rule::BatchSize, one.begins, message, hint);
            }
            if let Some(other) = together.iter().find(|other| other.domain != one.domain) {
                let message = format!(
                    "{machine} and {} of another failure domain may be disturbed together",
                    other.begins.machine
                );
                let hint = "make a new plan, or use --override batch.domain";
                findings.about_step(Rule::BatchDomain, one.begins, message, hint);
            }
        }
    }
}

/// From the first step that disturbs a worker to the last one that waits for it.
struct Time<'a> {
    begins: &'a Step,
    ends: &'a Step,
    domain: Option<&'a str>,
}

fn awaits_node(action: &Action) -> bool {
    matches!(action, Action::AwaitNode { .. })
}

fn awaits_voter(action: &Action) -> bool {
    matches!(action, Action::AwaitVoter)
}

/// Whether a step on a control plane may change what etcd is or does.
pub(super) fn touches_etcd(action: &Action) -> bool {
    match action {
        Action::ApplyConfig { mode: ApplyMode::NoReboot | ApplyMode::Staged, .. }
        | Action::BootstrapEtcd
        | Action::AwaitVoter
        | Action::HandOverLeadership
        | Action::RebootMachine
        | Action::ResetMachine => true,
        Action::ApplyConfig { mode: ApplyMode::Maintenance, .. }
        | Action::AwaitNode { .. }
        | Action::FetchKubeconfig => false,
    }
}
