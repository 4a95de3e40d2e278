//! The ledger: the state that the entries of a journal add up to.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Digest, MachineName, MemberId, NodeIdentity, Timestamp};
use plan::{Approval, Goal, StepNumber};
use serde::{Deserialize, Serialize};

use super::{Entry, StepEffect};

/// The ledger: the state that the entries of a journal add up to.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Ledger {
    /// The installation that each machine was when it was last changed.
    pub recorded: BTreeMap<MachineName, NodeIdentity>,
    /// The members of etcd that were seen and not reset since, with their machines.
    pub members: BTreeMap<MemberId, MachineName>,
    /// Machines that were handed their first configuration and have not been recorded since, and when that was.
    pub configuring: BTreeMap<MachineName, Timestamp>,
    /// The generation of each machine that its provider was last asked for, or has to be asked for next.
    pub generations: BTreeMap<MachineName, u32>,
    /// Machines that were disturbed and have not been seen in service since, and when that was.
    pub disturbed: BTreeMap<MachineName, Timestamp>,
    /// Steps of the last plan that disturb a machine and are under way, with the mark that it had before.
    disturbing: BTreeMap<StepNumber, (MachineName, Option<Timestamp>)>,
    /// Steps of the last plan that wait for a machine to be in service.
    awaiting: BTreeMap<StepNumber, MachineName>,
    /// Machines that were about to be reset, and have been neither forgotten nor recorded since.
    pub resetting: BTreeSet<MachineName>,
    /// The machine that etcd was begun on, until a member of it is recorded.
    pub bootstrapping: Option<MachineName>,
    /// The last approval.
    pub approved: Option<Approval>,
    /// The last plan that was started, did not come to a good end, and was not abandoned.
    pub unfinished: Option<Unfinished>,
    /// The engine that started the last plan.
    pub holder: String,
    /// The last plan that was asked to start no further step, or abandoned, and has not been started since. A command
    /// that carried it out makes no other plan.
    pub cancelled: Option<Digest>,
}

/// A plan that was interrupted, or has failed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Unfinished {
    /// The plan.
    pub plan: Digest,
    /// The goal.
    pub goal: Goal,
}

impl Ledger {
    /// Takes in the next entry, which was written at a moment.
    pub fn fold(&mut self, at: Timestamp, entry: &Entry) {
        match entry {
            Entry::PlanStarted { plan, goal, holder, .. } => {
                self.awaiting.clear();
                self.disturbing.clear();
                self.unfinished = Some(Unfinished { plan: *plan, goal: *goal });
                self.holder.clone_from(holder);
                self.cancelled = self.cancelled.filter(|cancelled| cancelled != plan);
            }
            Entry::PlanEnded { plan, complete: true } => self.end(*plan),
            Entry::PlanCancelled { plan } => {
                self.end(*plan);
                // What was abandoned excuses nothing: a machine that is in maintenance later is looked at by a person.
                self.resetting.clear();
                self.cancelled = Some(*plan);
            }
            Entry::CancelRequested { plan } => self.cancelled = Some(*plan),
            Entry::MachineConfiguring { machine } => {
                self.forget(machine);
                self.configuring.insert(machine.clone(), at);
            }
            Entry::MachineRejected { machine } => {
                self.configuring.remove(machine);
            }
            Entry::MachineResetting { machine } => {
                self.resetting.insert(machine.clone());
            }
            Entry::MachineRecorded { machine, node, member } => {
                self.configuring.remove(machine);
                self.resetting.remove(machine);
                self.recorded.insert(machine.clone(), node.clone());
                if let Some(member) = member {
                    self.bootstrapping = None;
                    self.members.retain(|_, on| on != machine);
                    self.members.insert(*member, machine.clone());
                }
            }
            Entry::MachineProviding { machine, generation } => {
                // Members stay, unless it was us who destroyed it: a machine that was lost at its provider is not evidence that
                // etcd has not begun.
                if self.resetting.contains(machine) {
                    self.forget(machine);
                }
                self.forget_installation(machine);
                self.generations.insert(machine.clone(), *generation);
            }
            Entry::MachineDestroying { machine, generation } => {
                if self.is_newest(machine, *generation) {
                    self.generations.insert(machine.clone(), *generation);
                    self.resetting.insert(machine.clone());
                }
            }
            Entry::MachineDestroyed { machine, generation } => {
                if self.is_newest(machine, *generation) {
                    self.destroyed(machine, *generation);
                }
            }
            Entry::EtcdBootstrapping { machine } => self.bootstrapping = Some(machine.clone()),
            Entry::MachineForgotten { machine } => self.forget(machine),
            Entry::StepStarted { step, on, effect, .. } => {
                let Some(machine) = on.machine().cloned() else { return };
                match effect {
                    Some(StepEffect::Disturbs) => {
                        let before = self.disturbed.insert(machine.clone(), at);
                        self.disturbing.insert(*step, (machine, before));
                    }
                    Some(StepEffect::AwaitsService) => {
                        self.awaiting.insert(*step, machine);
                    }
                    None => {}
                }
            }
            // It was refused before its call: the machine is as it was.
            Entry::StepFailed { step, code, .. } if NOT_DONE.contains(&code.as_str()) => {
                match self.disturbing.remove(step) {
                    Some((machine, Some(before))) => drop(self.disturbed.insert(machine, before)),
                    Some((machine, None)) => drop(self.disturbed.remove(&machine)),
                    None => {}
                }
            }
            Entry::StepDone { step, .. } => {
                self.disturbing.remove(step);
                if let Some(machine) = self.awaiting.remove(step) {
                    self.disturbed.remove(&machine);
                }
            }
            Entry::PlanApproved(approval) => self.approved = Some(approval.clone()),
            Entry::StepFailed { .. } | Entry::PlanEnded { complete: false, .. } => {}
        }
    }

    fn end(&mut self, plan: Digest) {
        self.unfinished = self.unfinished.filter(|unfinished| unfinished.plan != plan);
    }

    /// A machine without configuration is not an installation and has no member.
    fn forget(&mut self, machine: &MachineName) {
        self.forget_installation(machine);
        self.members.retain(|_, on| on != machine);
        self.bootstrapping = self.bootstrapping.take().filter(|on| on != machine);
    }

    fn forget_installation(&mut self, machine: &MachineName) {
        self.recorded.remove(machine);
        self.configuring.remove(machine);
        self.resetting.remove(machine);
        self.disturbed.remove(machine);
    }

    /// Returns whether this generation is the newest known.
    fn is_newest(&self, machine: &MachineName, generation: u32) -> bool {
        self.generations.get(machine).is_none_or(|newest| generation >= *newest)
    }

    /// A machine is gone, and the next one of its name is another one.
    fn destroyed(&mut self, machine: &MachineName, generation: u32) {
        self.forget(machine);
        self.generations.insert(machine.clone(), generation + 1);
    }

    /// Takes in that a machine was seen in maintenance, or that its provider does not have it: what was about to
    /// reset or destroy it has done so.
    pub(crate) fn saw_reset(&mut self, machine: &MachineName) {
        if self.resetting.contains(machine) {
            self.fold(Timestamp::default(), &self.reset_entry(machine));
        }
    }

    /// Returns the entry of a machine that was about to be reset or destroyed, and was.
    pub(crate) fn reset_entry(&self, machine: &MachineName) -> Entry {
        let machine = machine.clone();
        match self.generations.get(&machine).copied() {
            Some(generation) => Entry::MachineDestroyed { machine, generation },
            None => Entry::MachineForgotten { machine },
        }
    }
}

/// Codes of steps that have failed and certainly not called their machine.
const NOT_DONE: [&str; 2] = [crate::error::PRECONDITION, crate::error::LEASE_UNAVAILABLE];
