//! Rules about etcd: it is begun once, and it never loses its majority.
//!
//! The steps that touch etcd form a chain ([`order`](super::order) refuses a plan where they do not), so
//! there is one order in which they happen. They are followed one by one, and the members are counted
//! after each.

use super::order::touches_etcd;
use super::{Check, Findings};
use crate::inventory::{Etcd, MAX_LAG, Standing};
use crate::names::MachineName;
use crate::rule::Rule;
use crate::step::{Action, ApplyMode, Precondition, Proof, Step};

impl Check<'_> {
    pub(super) fn etcd(&self, findings: &mut Findings) {
        self.spec_keeps_voters(findings);
        self.bootstrap(findings);
        match self.members() {
            Some(members) => self.follow(members, findings),
            None => self.unknown(findings),
        }
    }

    /// The members that are there now; none when that is not known.
    fn members(&self) -> Option<Vec<Seat>> {
        let inventory = self.against.inventory;
        if let Some(Etcd { members, .. }) = inventory.etcd.current(inventory.taken) {
            let voters = members.values().filter(|member| member.voter);
            let seat = |member: &crate::inventory::Member| Seat {
                machine: member.machine.clone(),
                votes: member.started && matches!(member.lag, Some(0..=MAX_LAG)),
            };
            return Some(voters.map(seat).collect());
        }
        // Without an answer there are none if all that can be seen is machines that have never run.
        let (mut waiting, mut others) = (0, 0);
        for machine in &self.against.spec.control_plane.machines {
            let facts = inventory.machines.get(&machine.name);
            match facts.and_then(|facts| facts.standing.current(inventory.taken)) {
                Some(Standing::Maintenance) => waiting += 1,
                Some(Standing::Ours | Standing::Another) => others += 1,
                None => {}
            }
        }
        (waiting > 0 && others == 0).then(Vec::new)
    }

    fn follow(&self, mut seats: Vec<Seat>, findings: &mut Findings) {
        for step in self.steps() {
            let before = count(&seats);
            let name = &step.machine;
            let seat = seats.iter().position(|seat| seat.machine.as_ref() == Some(name));
            let waits = match (&step.action, seat) {
                (Action::BootstrapEtcd | Action::AwaitVoter, None) => {
                    seats.push(Seat { machine: Some(name.clone()), votes: true });
                    true
                }
                (Action::BootstrapEtcd | Action::AwaitVoter, Some(seat)) => {
                    seats[seat].votes = true;
                    true
                }
                (_, None) => {
                    if step.proof.is_some() {
                        let message = format!("{name} does not vote, and nothing is to be proved");
                        findings.about_step(Rule::QuorumProof, step, message, "make a new plan");
                    }
                    continue;
                }
                (_, Some(seat)) => {
                    if self.pauses(step) {
                        seats[seat].votes = false;
                    }
                    false
                }
            };
            let proof = count(&seats);
            proves(step, Some(proof), findings);
            if waits {
                continue;
            }
            if !step.preconditions.contains(&Precondition::AbleVoters(before.able)) {
                let message = format!("it has to insist on {} able voters", before.able);
                findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
            }
            majority(step, proof, findings);
        }
    }

    /// Of a plan that ends the cluster: what is left of etcd after each reset.
    pub(super) fn count_down(&self, findings: &mut Findings) {
        let mut seats = self.members();
        for step in self.graph.steps {
            let lost = seats.as_mut().and_then(|seats| {
                let seat =
                    seats.iter().position(|seat| seat.machine.as_ref() == Some(&step.machine))?;
                seats[seat].votes = false;
                Some(count(seats))
            });
            proves(step, lost, findings);
        }
    }

    fn unknown(&self, findings: &mut Findings) {
        for step in self.steps().filter(|step| !matches!(step.action, Action::AwaitVoter)) {
            let inventory = self.against.inventory;
            let why = inventory.etcd.why_not(inventory.taken);
            let message = format!(
                "the members of etcd are not known ({why}), and {} may be one",
                step.machine
            );
            let hint = "look at `ichor etcd members`; a cluster without quorum needs --override \
                        quorum.unknown";
            findings.about_step(Rule::QuorumUnknown, step, message, hint);
        }
        for step in self.steps().filter(|step| step.proof.is_some()) {
            let message = "the members of etcd are not known, and nothing can be proved".to_owned();
            findings.about_step(Rule::QuorumProof, step, message, "make a new plan");
        }
    }

    fn bootstrap(&self, findings: &mut Findings) {
        let mut steps = self.graph.steps.iter().filter(|step| step.action == Action::BootstrapEtcd);
        let Some(step) = steps.next() else { return };
        let machine = &step.machine;
        for step in steps.chain([step]).filter(|step| !self.is_control_plane(step)) {
            let message = format!("{} is a worker, and cannot begin a cluster", step.machine);
            let hint = "etcd begins on a control plane: make a new plan";
            findings.about_step(Rule::BootstrapControlPlane, step, message, hint);
        }
        let again =
            self.graph.steps.iter().filter(|step| step.action == Action::BootstrapEtcd).skip(1);
        for step in again {
            let message = format!("etcd begins on {machine} already");
            findings.about_step(Rule::BootstrapOnce, step, message, "make a new plan");
        }
        if self.members().is_none_or(|members| !members.is_empty()) || self.has_members() {
            let message = format!(
                "etcd has members already, or may have: beginning it on {machine} \
                                   would make a second cluster"
            );
            findings.about_step(Rule::BootstrapOnce, step, message, "make a new plan");
        }
        let inventory = self.against.inventory;
        for (machine, _) in self.against.spec.machines() {
            let name = &machine.name;
            let Some(facts) = inventory.machines.get(name) else { continue };
            match facts.standing.current(inventory.taken) {
                None if self.against.spec.is_control_plane(name) => {
                    let why = facts.standing.why_not(inventory.taken);
                    let message =
                        format!("{name} cannot be seen ({why}) and may hold an etcd already");
                    let hint =
                        "start it, take it out of the spec, or use --override bootstrap.unseen";
                    findings.about_machine(Rule::BootstrapUnseen, name, message, hint);
                }
                Some(Standing::Ours) if facts.recorded.is_none() => {
                    let message =
                        format!("{name} is configured already, and not from this directory");
                    let hint = "somebody else may be creating this cluster; if not, use --override \
                                create.configured";
                    findings.about_machine(Rule::CreateConfigured, name, message, hint);
                }
                _ => {}
            }
        }
    }

    /// Whether somebody is a member, be it one that does not vote yet.
    fn has_members(&self) -> bool {
        let inventory = self.against.inventory;
        inventory.etcd.current(inventory.taken).is_some_and(|etcd| !etcd.members.is_empty())
    }

    /// A spec without most of the voters cannot be reached.
    fn spec_keeps_voters(&self, findings: &mut Findings) {
        let inventory = self.against.inventory;
        if inventory.etcd.current(inventory.taken).is_none() {
            return;
        }
        let Some(seats) = self.members().filter(|seats| !seats.is_empty()) else { return };
        let kept = seats.iter().filter(|seat| {
            seat.machine.as_ref().is_some_and(|name| self.against.spec.is_control_plane(name))
        });
        let (kept, all) = (kept.count(), seats.len());
        if kept <= all / 2 {
            let message =
                format!("the spec keeps {kept} of {all} voters of etcd, which is no majority");
            let hint = "put the control planes back and remove one at a time with `ichor remove`";
            findings.about_plan(Rule::QuorumSpec, message, hint);
        }
    }

    /// The steps that touch etcd, in their order.
    fn steps(&self) -> impl Iterator<Item = &Step> {
        let touches = |step: &&Step| touches_etcd(&step.action) && self.is_control_plane(step);
        self.graph.steps.iter().filter(touches)
    }

    /// Whether a voter stops because of a step.
    fn pauses(&self, step: &Step) -> bool {
        match &step.action {
            Action::RebootMachine | Action::ResetMachine => true,
            Action::ApplyConfig { mode: ApplyMode::NoReboot, .. } => {
                let rendering = self.against.desired.get(&step.machine);
                let change = rendering.and_then(|rendering| rendering.change.as_ref());
                change.is_none_or(|change| change.pauses_etcd)
            }
            _ => false,
        }
    }
}

/// The place of a voter, and whether it can vote now.
struct Seat {
    machine: Option<MachineName>,
    votes: bool,
}

/// A step claims what counting gives.
fn proves(step: &Step, counted: Option<Proof>, findings: &mut Findings) {
    if step.proof == counted {
        return;
    }
    let text = |proof: Option<Proof>| proof.map_or("nothing".to_owned(), |proof| proof.to_string());
    let message = format!("it claims {}; counted: {}", text(step.proof), text(counted));
    findings.about_step(Rule::QuorumProof, step, message, "make a new plan");
}

fn majority(step: &Step, proof: Proof, findings: &mut Findings) {
    let Proof { voters, able } = proof;
    if able > voters / 2 {
        return;
    }
    let machine = &step.machine;
    if voters == 1 {
        let message =
            format!("{machine} is the only voter of etcd: the API is down while it pauses");
        let hint = "do it when that is acceptable, with --override quorum.only-voter --reason …";
        findings.about_step(Rule::QuorumOnlyVoter, step, message, hint);
    } else {
        let message = format!("{able} of {voters} voters would be able while {machine} is changed");
        let hint = "bring the other control planes back first; `ichor etcd members` shows them";
        findings.about_step(Rule::QuorumTolerance, step, message, hint);
    }
}

fn count(seats: &[Seat]) -> Proof {
    let mut proof = Proof { voters: 0, able: 0 };
    for seat in seats {
        proof.voters += 1;
        proof.able += u32::from(seat.votes);
    }
    proof
}
