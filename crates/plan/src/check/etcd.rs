//! Rules about etcd: it is begun once, and it never loses its majority.
//!
//! The steps that touch etcd form a chain ([`order`](super::order) refuses a plan where they do not), so
//! there is one order in which they happen. They are followed one by one, and the members are counted
//! after each.

use std::collections::BTreeMap;

use domain::{MAX_LAG, MachineName, Member, MemberId, NodeState, Ownership};

use super::{Check, Findings};
use crate::action::EtcdEffect;
use crate::finding::Finding;
use crate::rule::Rule;
use crate::step::{Precondition, QuorumProof, Step};

impl Check<'_> {
    pub(super) fn etcd(&self, findings: &mut Findings) {
        self.spec_keeps_voters(findings);
        self.is_one_etcd(findings);
        self.bootstrap(findings);
        match self.voters() {
            Some(members) => self.follow(members, findings),
            None => self.unknown(findings),
        }
    }

    /// Returns the voters that are there now; none when that is not known.
    fn voters(&self) -> Option<Vec<Seat>> {
        let inventory = self.input.inventory;
        let now = inventory.taken;
        let listed = inventory.etcd.current(now).map(|etcd| &etcd.members);
        if listed.is_none_or(BTreeMap::is_empty) && self.a_machine_has_a_member() {
            return None;
        }
        if let Some(members) = listed {
            let voters = members.values().filter(|member| member.voter);
            let seat =
                |member: &Member| Seat { machine: member.machine.clone(), votes: votes(member) };
            return Some(voters.map(seat).collect());
        }
        // Without an answer there are none if every control plane that was seen has never run an etcd.
        let (mut without, mut others) = (0, 0);
        for machine in &self.input.spec.control_plane.machines {
            let Some(facts) = inventory.machines.get(&machine.name) else { continue };
            match facts.ownership.current(now) {
                Some(Ownership::Maintenance | Ownership::Booting | Ownership::Provided) => {
                    without += 1;
                }
                // What is gone may have taken an etcd along.
                Some(Ownership::NotProvided) if facts.recorded.is_none() => without += 1,
                Some(Ownership::Ours) if matches!(facts.member.current(now), Some(None)) => {
                    without += 1;
                }
                Some(
                    Ownership::Ours | Ownership::Foreign | Ownership::Away | Ownership::NotProvided,
                ) => {
                    others += 1;
                }
                None => {}
            }
        }
        (without > 0 && others == 0).then(Vec::new)
    }

    fn follow(&self, mut seats: Vec<Seat>, findings: &mut Findings) {
        for step in self.etcd_steps() {
            let before = count(&seats);
            let name = step.on.machine();
            let on_machine = |seat: &&mut Seat| seat.machine.as_ref() == name;
            let own = |seat: &&Seat| seat.machine.as_ref() == name;
            let has_seat = seats.iter().any(|seat| own(&seat));
            let restores = match step.action.nature().etcd {
                EtcdEffect::Begin | EtcdEffect::Restore => {
                    // A machine runs one etcd, however many members are left of earlier ones.
                    let voting = seats.iter().filter(own).any(|seat| seat.votes);
                    match seats.iter_mut().find(on_machine) {
                        Some(seat) => seat.votes |= !voting,
                        None => seats.push(Seat { machine: name.cloned(), votes: true }),
                    }
                    true
                }
                EtcdEffect::Join if self.is_member(step) => {
                    let message = format!("etcd still counts a member of {}", step.on);
                    let hint = "remove the old member first, then make a new plan";
                    findings.about_step(Rule::FactsCurrent, step, message, hint);
                    continue;
                }
                _ if !has_seat => {
                    if step.proof.is_some() {
                        let message =
                            format!("{} does not vote, and nothing is to be proved", step.on);
                        findings.about_step(Rule::QuorumProof, step, message, "make a new plan");
                    }
                    continue;
                }
                EtcdEffect::Pause => {
                    seats.iter_mut().filter(on_machine).for_each(|seat| seat.votes = false);
                    false
                }
                EtcdEffect::None
                | EtcdEffect::Touch
                | EtcdEffect::Join
                | EtcdEffect::MoveLeader => false,
            };
            let proof = count(&seats);
            proves(step, Some(proof), findings);
            if restores {
                continue;
            }
            if !step.preconditions.contains(&Precondition::MinHealthyVoters(before.healthy)) {
                let message = format!("it has to insist on {} healthy voters", before.healthy);
                findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
            }
            majority(step, proof, findings);
        }
    }

    /// Returns whether etcd counts a member of a step's machine, be it one that does not vote.
    pub(super) fn is_member(&self, step: &Step) -> bool {
        let inventory = self.input.inventory;
        let etcd = inventory.etcd.current(inventory.taken);
        etcd.zip(step.on.machine()).is_some_and(|(etcd, name)| etcd.on(name).is_some())
    }

    /// Of a plan that ends the cluster: what is left of etcd after each reset.
    pub(super) fn count_down(&self, findings: &mut Findings) {
        let inventory = self.input.inventory;
        // What no member has told is not counted down either.
        let mut seats = self.voters().filter(|_| inventory.etcd.current(inventory.taken).is_some());
        for step in self.graph.steps {
            let lost = seats.as_mut().and_then(|seats| {
                let mut own = seats
                    .iter_mut()
                    .filter(|seat| seat.machine.as_ref() == step.on.machine())
                    .peekable();
                own.peek()?;
                own.for_each(|seat| seat.votes = false);
                Some(count(seats))
            });
            proves(step, lost, findings);
        }
    }

    fn unknown(&self, findings: &mut Findings) {
        let restores = |step: &&Step| step.action.nature().etcd == EtcdEffect::Restore;
        for step in self.etcd_steps().filter(|step| !restores(step)) {
            let inventory = self.input.inventory;
            let why = inventory.etcd.why_not(inventory.taken);
            findings.push(Finding::unknown_members(step.on.clone(), &why).in_step(step));
        }
        for step in self.etcd_steps().filter(|step| step.proof.is_some()) {
            let message = "the members of etcd are not known, and nothing can be proved".to_owned();
            findings.about_step(Rule::QuorumProof, step, message, "make a new plan");
        }
    }

    fn bootstrap(&self, findings: &mut Findings) {
        let mut steps = self.bootstraps();
        let Some(step) = steps.next() else { return };
        for again in steps {
            let message = format!("etcd begins on {} already", step.on);
            findings.about_step(Rule::BootstrapOnce, again, message, "make a new plan");
        }
        for step in self.bootstraps().filter(|step| !self.is_control_plane(step)) {
            let message = format!("{} is a worker, and cannot begin a cluster", step.on);
            let hint = "etcd begins on a control plane: make a new plan";
            findings.about_step(Rule::BootstrapControlPlane, step, message, hint);
        }
        if self.voters().is_none_or(|voters| !voters.is_empty()) || self.has_members() {
            let message = format!(
                "etcd has members already, or may have: beginning it on {} would make a second cluster",
                step.on
            );
            findings.about_step(Rule::BootstrapOnce, step, message, "make a new plan");
        }
        for (machine, _) in self.input.spec.machines() {
            self.may_have_etcd(&machine.name, findings);
        }
        self.begun_before(findings);
        self.bootstrapping_elsewhere(findings);
    }

    /// An etcd whose bootstrap was started may appear at any moment: a second one is started on the same machine or not
    /// at all.
    fn bootstrapping_elsewhere(&self, findings: &mut Findings) {
        let Some(before) = &self.input.inventory.bootstrapping else { return };
        for step in self.bootstraps().filter(|step| step.on.machine() != Some(before)) {
            findings.push(Finding::bootstrap_elsewhere(before).in_step(step));
        }
    }

    /// A machine that cannot be judged may hold the etcd of this cluster.
    fn may_have_etcd(&self, name: &MachineName, findings: &mut Findings) {
        let inventory = self.input.inventory;
        let Some(facts) = inventory.machines.get(name) else { return };
        let control_plane = self.input.spec.is_control_plane(name);
        match facts.ownership.current(inventory.taken) {
            ownership @ (None
            | Some(Ownership::Away | Ownership::NotProvided | Ownership::Provided))
                if control_plane =>
            {
                let why = match ownership {
                    None => facts.ownership.why_not(inventory.taken),
                    Some(_) => "it does not answer yet".to_owned(),
                };
                findings.push(Finding::may_hold_etcd(name, &why));
            }
            Some(Ownership::Foreign) if control_plane => {
                findings.push(Finding::foreign(name));
            }
            Some(Ownership::Maintenance) if control_plane && facts.recorded.is_some() => {
                findings.push(Finding::in_maintenance_again(name));
            }
            Some(Ownership::Ours) if facts.recorded.is_none() => {
                findings.push(Finding::configured_elsewhere(name));
            }
            _ => {}
        }
    }

    /// Refuses a second bootstrap on any evidence that this cluster's etcd was there before.
    fn begun_before(&self, findings: &mut Findings) {
        let inventory = self.input.inventory;
        let now = inventory.taken;
        let registered = inventory.machines.values().any(|facts| {
            facts.kubernetes.current(now).is_some_and(|state| *state != NodeState::Absent)
        });
        let evidence = if inventory.api.current(now).is_some_and(|answers| *answers) {
            "the Kubernetes API answers"
        } else if registered {
            "machines are registered in Kubernetes"
        } else if !inventory.begun.is_empty() {
            "the journal has members of it"
        } else {
            return;
        };
        findings.push(Finding::etcd_has_begun(evidence));
    }

    /// Returns whether a machine says that it has a member.
    fn a_machine_has_a_member(&self) -> bool {
        let inventory = self.input.inventory;
        let has_one = |member: &Option<MemberId>| member.is_some();
        let mut facts = inventory.machines.values();
        facts.any(|facts| facts.member.current(inventory.taken).is_some_and(has_one))
    }

    /// Returns whether there is a member, be it one that does not vote yet.
    fn has_members(&self) -> bool {
        let inventory = self.input.inventory;
        inventory.etcd.current(inventory.taken).is_some_and(|etcd| !etcd.members.is_empty())
    }

    /// Members in two clusters of etcd cannot be counted together.
    fn is_one_etcd(&self, findings: &mut Findings) {
        let inventory = self.input.inventory;
        for name in inventory.etcd.current(inventory.taken).iter().flat_map(|etcd| &etcd.apart) {
            findings.push(Finding::split_etcd(name.as_str()));
        }
    }

    /// A spec without most of the voters cannot be reached.
    fn spec_keeps_voters(&self, findings: &mut Findings) {
        let inventory = self.input.inventory;
        if inventory.etcd.current(inventory.taken).is_none() {
            return;
        }
        let Some(seats) = self.voters().filter(|seats| !seats.is_empty()) else { return };
        let kept = seats.iter().filter(|seat| {
            seat.machine.as_ref().is_some_and(|name| self.input.spec.is_control_plane(name))
        });
        let (kept, all) = (kept.count(), seats.len());
        if kept <= all / 2 {
            findings.push(Finding::spec_drops_voters(kept, all));
        }
    }
}

/// Returns whether a member is able to vote: started and caught up.
pub(super) fn votes(member: &Member) -> bool {
    member.started && matches!(member.lag, Some(0..=MAX_LAG))
}

/// The place of a voter, and whether it can vote now.
struct Seat {
    machine: Option<MachineName>,
    votes: bool,
}

/// A step claims what counting gives.
fn proves(step: &Step, counted: Option<QuorumProof>, findings: &mut Findings) {
    if step.proof == counted {
        return;
    }
    let text =
        |proof: Option<QuorumProof>| proof.map_or("nothing".to_owned(), |proof| proof.to_string());
    let message = format!("it claims {}; counted: {}", text(step.proof), text(counted));
    findings.about_step(Rule::QuorumProof, step, message, "make a new plan");
}

fn majority(step: &Step, proof: QuorumProof, findings: &mut Findings) {
    let QuorumProof { voters, healthy } = proof;
    if healthy <= voters / 2 {
        findings.push(Finding::no_majority(step.on.clone(), proof).in_step(step));
    }
}

fn count(seats: &[Seat]) -> QuorumProof {
    let mut proof = QuorumProof { voters: 0, healthy: 0 };
    for seat in seats {
        proof.voters += 1;
        proof.healthy += u32::from(seat.votes);
    }
    proof
}
