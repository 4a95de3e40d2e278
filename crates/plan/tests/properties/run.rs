//! A plan that is carried out, in some order that it allows.

use std::collections::{BTreeMap, BTreeSet};

use plan::{
    Action, ApplyConfig, ApplyMode, Draft, MachineFacts, MachineName, MemberId, Ownership, Plan,
    Step, StepNumber, Target,
};
use proptest::sample::Index;

use crate::case::{Case, is_healthy};
use crate::world::NOW;

/// Carries a plan out, always taking one of the steps that may be taken, and watches machines and voters.
///
/// It has its own idea of what actions do, and counts members, not machines.
pub(crate) fn survives(case: &Case, plan: &Plan<Draft>, order: &[Index]) -> bool {
    let mut run = Run::new(case);
    let mut done: BTreeSet<StepNumber> = BTreeSet::new();
    for turn in 0..plan.steps().len() {
        let ready: Vec<&Step> = plan
            .steps()
            .iter()
            .filter(|step| !done.contains(&step.number))
            .filter(|step| step.after.iter().all(|before| done.contains(before)))
            .collect();
        let step = order[turn % order.len()].get(&ready);
        done.insert(step.number);
        let Target::Machine(name) = &step.on else { return false };
        if !run.step(&step.action, name) {
            return false;
        }
    }
    true
}

/// A cluster while a plan is carried out.
struct Run<'a> {
    case: &'a Case,
    /// The machines that know our credentials.
    ours: BTreeSet<MachineName>,
    /// The voters, and whether each is healthy.
    voters: BTreeMap<MemberId, bool>,
    /// The member that each machine runs; a machine runs one, whatever is left of earlier ones.
    runs: BTreeMap<MachineName, MemberId>,
    /// Machines that were rebooted and not awaited.
    away: BTreeSet<MachineName>,
    /// There was no etcd before: machines join it side by side.
    begins: bool,
    /// The control plane that is on its way into an etcd that was there.
    joining: Option<MachineName>,
    /// A control plane was made, and waits for its configuration.
    provides: bool,
    /// Machines that do not serve, be it from before or because of a step.
    out: BTreeSet<MachineName>,
}

impl<'a> Run<'a> {
    fn new(case: &'a Case) -> Self {
        let etcd = case.inventory.etcd.current(NOW).cloned().unwrap_or_default();
        let mut runs = BTreeMap::new();
        for (id, member) in &etcd.members {
            if let Some(name) = &member.machine
                && (member.started || !runs.contains_key(name))
            {
                runs.insert(name.clone(), *id);
            }
        }
        let voters = etcd.members.iter().filter(|(_, member)| member.voter);
        let ownership = |facts: &MachineFacts| facts.ownership.current(NOW).copied();
        let ours = case.inventory.machines.iter();
        let ours = ours.filter(|(_, facts)| {
            matches!(ownership(facts), Some(Ownership::Ours | Ownership::Away))
        });
        let begins = etcd.members.is_empty();
        let out = case.inventory.machines.keys().filter(|name| case.is_out(name)).cloned();
        Self {
            case,
            ours: ours.map(|(name, _)| name.clone()).collect(),
            out: out.collect(),
            voters: voters.map(|(id, member)| (*id, is_healthy(member))).collect(),
            runs,
            begins,
            away: BTreeSet::new(),
            joining: None,
            provides: false,
        }
    }

    /// Does what a step does; false when it must not be done now.
    fn step(&mut self, action: &Action, name: &MachineName) -> bool {
        let disturbs = match action {
            Action::ApplyConfig(given) => given.mode == ApplyMode::NoReboot,
            Action::RebootMachine(_) | Action::HandOverLeadership(_) => true,
            _ => false,
        };
        if disturbs && !self.begins && !self.out.contains(name) {
            let (beside, most) = self.case.beside(name);
            if beside.iter().filter(|other| self.out.contains(**other)).count() >= most {
                return false;
            }
            self.out.insert(name.clone());
        }
        if matches!(action, Action::AwaitNode(_)) {
            self.out.remove(name);
        }
        let facts = &self.case.inventory.machines[name];
        let ownership = facts.ownership.current(NOW).copied();
        match action {
            Action::ApplyConfig(ApplyConfig { mode: ApplyMode::Maintenance, .. }) => {
                let known = facts.recorded.is_none() || self.case.names(name);
                // Members join one at a time, and a machine joins once.
                let joins = self.case.spec.is_control_plane(name) && !self.begins;
                let free = !joins || self.joining.is_none() && !self.runs.contains_key(name);
                self.joining = joins.then(|| name.clone()).or(self.joining.take());
                self.ours.insert(name.clone());
                ownership == Some(Ownership::Maintenance) && known && free
            }
            Action::AwaitMachine(_) => {
                self.ours.insert(name.clone());
                ownership == Some(Ownership::Booting)
            }
            Action::ProvideMachine(given) => {
                let known = facts.recorded.is_none() || self.case.names(name);
                let made = facts.instance.current(NOW).cloned().flatten();
                // One that is there is kept, and one that was ours is never taken for its successor.
                let right = match made {
                    Some(made) => given.generation == made.generation,
                    None => {
                        let used = facts.recorded.as_ref().map_or(0, |_| facts.generation);
                        given.generation > used && given.generation >= facts.generation
                    }
                };
                let absent =
                    matches!(ownership, Some(Ownership::NotProvided | Ownership::Provided));
                self.provides |= self.case.spec.is_control_plane(name);
                absent && known && right && !self.runs.contains_key(name)
            }
            _ if !self.ours.contains(name) => false,
            Action::BootstrapEtcd(_) => {
                let inventory = &self.case.inventory;
                let begun =
                    inventory.api.current(NOW) == Some(&true) || !inventory.begun.is_empty();
                let first = self.voters.is_empty();
                self.restore(name);
                first && !begun && !self.provides
            }
            Action::AwaitVoter(_) => {
                self.restore(name);
                true
            }
            Action::RebootMachine(_) => {
                if !self.case.spec.is_control_plane(name) {
                    return true;
                }
                let alone = self.voters.is_empty() || self.away.iter().all(|away| away == name);
                self.away.insert(name.clone());
                if let Some(voter) = self.runs.get(name).and_then(|id| self.voters.get_mut(id)) {
                    *voter = false;
                }
                alone && self.has_majority_with(name)
            }
            Action::ApplyConfig(_) | Action::HandOverLeadership(_) => self.has_majority_with(name),
            Action::DestroyMachine(_) | Action::ResetMachine(_) => false,
            Action::AwaitNode(_) | Action::FetchKubeconfig(_) => true,
        }
    }

    fn restore(&mut self, name: &MachineName) {
        let next = MemberId(1_000 + self.runs.len() as u64);
        let id = *self.runs.entry(name.clone()).or_insert(next);
        self.voters.insert(id, true);
        self.away.remove(name);
        self.joining.take_if(|joining| joining == name);
    }

    /// Whether etcd keeps its majority, if the machine has a part in that.
    fn has_majority_with(&self, name: &MachineName) -> bool {
        let votes = self.runs.get(name).is_some_and(|id| self.voters.contains_key(id));
        !votes || self.voters.values().filter(|healthy| **healthy).count() * 2 > self.voters.len()
    }
}
