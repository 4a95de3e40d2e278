//! Rules about machines that do not serve although they should: they count among those that may be at once.
//!
//! Whether a machine serves is judged by facts alone. A machine that is out of service may be disturbed as it is;
//! another one only after a step has waited for it, or as long as there are few enough.

use std::collections::BTreeMap;

use domain::{FailureDomain, MachineName, NodeState, Ownership, Target};

use super::etcd::votes;
use super::order::{Domains, Time};
use super::{Check, Findings};
use crate::action::Awaited;
use crate::finding::Finding;
use crate::plan::overridden;
use crate::planner::expects_ready;
use crate::rule::Rule;
use crate::step::Step;

impl<'a> Check<'a> {
    /// No control plane is disturbed while another one does not serve.
    pub(super) fn service(&self, findings: &mut Findings) {
        let begins = self.bootstraps().next();
        let disturbing = self.etcd_steps().filter(|step| {
            step.action.nature().disturbs
                && begins.is_none_or(|begins| !self.graph.precedes(step, begins))
                && !self.is_out(step)
        });
        for step in disturbing {
            let is_control_plane = |name: &MachineName| self.input.spec.is_control_plane(name);
            for (name, why) in self.out.iter().filter(|(name, _)| is_control_plane(name)) {
                let voter = self.is_silent_voter(name);
                let waits = |awaited| self.waits(name, awaited, step);
                if !waits(Awaited::Node) || voter && !waits(Awaited::Voter) {
                    findings.push(passed(step, name, why));
                }
            }
        }
    }

    /// A worker is disturbed beside those that do not serve, as long as all of them are few enough.
    pub(super) fn beside(
        &self,
        time: &Time<'_>,
        together: &[&Time<'_>],
        domains: &Domains<'_>,
        findings: &mut Findings,
    ) {
        if self.is_out(time.begins) {
            return;
        }
        let spec = self.input.spec;
        let mut out: Vec<(&MachineName, &String)> = Vec::new();
        for (name, why) in self.out.iter().filter(|(name, _)| !spec.is_control_plane(name)) {
            let counted = together.iter().any(|other| other.begins.on.machine() == Some(name));
            let domain = domains.get(*name).copied().flatten().map(FailureDomain::as_str);
            if counted || domain != time.domain || self.waits(name, Awaited::Node, time.begins) {
                continue;
            }
            out.push((name, why));
        }
        let most = usize::try_from(spec.policy.workers_at_once).unwrap_or(usize::MAX);
        let meant =
            |name: &MachineName| overridden(self.overrides, Rule::OrderOutOfService, Some(name));
        let unmeant = out.iter().filter(|(name, _)| !meant(name)).count();
        if together.len() + unmeant > most {
            out.retain(|(name, _)| !meant(name));
        } else if together.len() + out.len() <= most {
            return;
        }
        findings.0.extend(out.iter().map(|(name, why)| passed(time.begins, name, why)));
    }

    /// Returns whether the machine of a step does not serve although it should, and nothing says that this does not
    /// matter.
    pub(super) fn is_out(&self, step: &Step) -> bool {
        step.on.machine().is_some_and(|name| {
            self.out.contains_key(name)
                && !overridden(self.overrides, Rule::OrderOutOfService, Some(name))
        })
    }

    /// Returns whether a machine is waited for before a step.
    fn waits(&self, name: &MachineName, awaited: Awaited, before: &Step) -> bool {
        self.graph.on(&Target::from(name)).iter().any(|other| {
            other.action.nature().awaits == Some(awaited) && self.graph.precedes(other, before)
        })
    }

    /// Returns the machines that do not serve although they should. Before etcd has begun nothing does.
    pub(super) fn out_of_service(&self) -> BTreeMap<&'a MachineName, String> {
        if self.bootstraps().next().is_some() {
            return BTreeMap::new();
        }
        let machines = self.input.spec.machines().map(|(machine, _)| &machine.name);
        machines.filter_map(|name| Some((name, self.why_out(name)?))).collect()
    }

    fn why_out(&self, name: &MachineName) -> Option<String> {
        let inventory = self.input.inventory;
        let now = inventory.taken;
        let facts = inventory.machines.get(name)?;
        let node = facts.kubernetes.current(now).copied();
        let member = self.has_voter(name);
        let known = facts.recorded.is_some()
            || member
            || matches!(node, Some(NodeState::Ready | NodeState::NotReady));
        let why = match facts.ownership.current(now) {
            Some(Ownership::Booting) => return None,
            Some(Ownership::Away) => "it is not back yet".to_owned(),
            Some(
                Ownership::Foreign
                | Ownership::Maintenance
                | Ownership::NotProvided
                | Ownership::Provided,
            )
            | None
                if !known =>
            {
                return None;
            }
            Some(ownership @ (Ownership::NotProvided | Ownership::Provided)) => {
                format!("it is {ownership}")
            }
            Some(Ownership::Foreign) => "it is foreign".to_owned(),
            Some(Ownership::Maintenance) => "it is in maintenance".to_owned(),
            None => facts.ownership.why_not(now),
            Some(Ownership::Ours) => {
                let unwell = facts.unwell.current(now).is_some_and(|unwell| !unwell.is_empty());
                let reason = match node {
                    _ if self.is_silent_voter(name) => "its member of etcd is not healthy",
                    Some(NodeState::Absent) => "its node is not registered",
                    Some(NodeState::NotReady) if expects_ready(self.input.spec) => {
                        "its node is not ready"
                    }
                    _ if unwell => "a part of Kubernetes on it is not well",
                    _ if facts.disturbed.is_some() => "it was disturbed, and not seen since",
                    _ => return None,
                };
                reason.to_owned()
            }
        };
        Some(why)
    }

    fn has_voter(&self, name: &MachineName) -> bool {
        let inventory = self.input.inventory;
        let etcd = inventory.etcd.current(inventory.taken);
        let own = |machine: Option<&MachineName>| machine == Some(name);
        etcd.is_some_and(|etcd| {
            etcd.members.values().any(|member| member.voter && own(member.machine.as_ref()))
        })
    }

    /// Returns whether a machine has voters, none of which can vote.
    fn is_silent_voter(&self, name: &MachineName) -> bool {
        let inventory = self.input.inventory;
        let Some(etcd) = inventory.etcd.current(inventory.taken) else { return false };
        let mut own = etcd
            .members
            .values()
            .filter(|member| member.voter && member.machine.as_ref() == Some(name))
            .peekable();
        own.peek().is_some() && own.all(|member| !votes(member))
    }
}

fn passed(step: &Step, machine: &MachineName, why: &str) -> Finding {
    Finding::beside_out_of_service(machine, &step.on, machine, why).in_step(step)
}
