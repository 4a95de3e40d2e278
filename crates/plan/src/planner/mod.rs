//! From what is wanted and what was seen to the steps between them.
//!
//! In: a [`Request`]. Out: nothing to do, something to wait for, or a plan that nobody has checked yet; or
//! the rules that every plan would break. It plans for the creation of a cluster, for machines that join
//! it, for changes of configuration, and for the end of it.
//!
//! Always holds: the same request gives the same plan; a machine that cannot be seen is left out and never
//! holds up the others; steps on control planes form one chain, so that no two of them pause together.

mod builder;
mod destroy;
mod quorum;
mod survey;

use std::collections::BTreeMap;

use builder::{Builder, Extras};
use quorum::Voters;
use survey::{EtcdState, Situation, Survey, Surveyed};

use crate::digest::Digest;
use crate::inventory::{Inventory, NodeState};
use crate::names::MachineName;
use crate::plan::{Body, Draft, Goal, LeftOut, Override, Plan};
use crate::reboot::RebootClass;
use crate::render::{ConfigChange, Renderings};
use crate::rule::{Finding, Refusal};
use crate::spec::{ClusterSpec, Cni};
use crate::step::{Action, ApplyMode, Precondition, Step, StepNumber};

/// What a plan is made of.
#[derive(Clone)]
pub struct Request<'a> {
    /// What is wanted.
    pub spec: &'a ClusterSpec,
    /// Whether it is wanted, or its end.
    pub goal: Goal,
    /// The configuration of each machine, compared with what it has.
    pub desired: &'a Renderings,
    /// What was seen.
    pub inventory: &'a Inventory,
    /// Which cluster it is ([`DigestKey::cluster`](crate::DigestKey::cluster)).
    pub identity: Digest,
    /// The plan that stopped before.
    pub parent: Option<Digest>,
    /// Rules that shall not hold.
    pub overrides: &'a [Override],
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Planned {
    /// Everything is as it should be.
    Nothing,
    /// Nothing can be done for now, and not everything is as it should be.
    Wait(Vec<LeftOut>),
    /// This.
    Change(Plan<Draft>),
}

/// Makes a plan.
pub fn plan(request: &Request<'_>) -> Result<Planned, Refusal> {
    match request.goal {
        Goal::Spec => converge(request),
        Goal::Destroyed => destroy::destroy(request),
    }
}

fn converge(request: &Request<'_>) -> Result<Planned, Refusal> {
    let survey = Survey::new(request);
    let mut planner = Planner {
        request,
        builder: Builder::new(&request.spec.policy.windows),
        voters: survey.voters(),
        chain: None,
        own: BTreeMap::new(),
        findings: survey.findings.clone(),
        survey: &survey,
    };
    // Without a single control plane nobody could tell whether workers come back.
    if !planner.control_planes().is_empty() {
        planner.apply_in_maintenance();
        planner.begin();
        planner.change_control_planes();
        planner.change_workers();
        planner.fetch_kubeconfig();
        planner.await_the_rest();
    }
    let left_out = survey.left_out(request.spec);
    finished(request, planner.builder.steps, left_out, planner.findings)
}

/// The plan of these steps, unless a rule is broken that it does not override.
fn finished(
    request: &Request<'_>,
    steps: Vec<Step>,
    left_out: Vec<LeftOut>,
    mut findings: Vec<Finding>,
) -> Result<Planned, Refusal> {
    let body = Body {
        cluster: request.spec.cluster.clone(),
        identity: request.identity,
        goal: request.goal,
        made: request.inventory.taken,
        parent: request.parent,
        overrides: request.overrides.to_vec(),
        steps,
        left_out,
    };
    findings.retain(|finding| !body.overrides(finding.rule));
    if !findings.is_empty() {
        return Err(Refusal { findings });
    }
    Ok(match (body.steps.is_empty(), body.left_out.is_empty()) {
        (true, true) => Planned::Nothing,
        (true, false) => Planned::Wait(body.left_out),
        (false, _) => Planned::Change(Plan::draft(body)),
    })
}

struct Planner<'a> {
    request: &'a Request<'a>,
    survey: &'a Survey<'a>,
    builder: Builder<'a>,
    /// The voters as they will be after the steps so far; none when they are not known.
    voters: Option<Voters>,
    /// The last step on a control plane: the next one waits for it.
    chain: Option<StepNumber>,
    /// The last step on each machine.
    own: BTreeMap<&'a MachineName, StepNumber>,
    findings: Vec<Finding>,
}

impl<'a> Planner<'a> {
    /// Hands every machine that waits for configuration its own, all at the same time.
    fn apply_in_maintenance(&mut self) {
        for machine in &self.survey.machines {
            if matches!(machine.situation, Situation::Join) {
                let action = Action::ApplyConfig {
                    config: machine.digest,
                    mode: ApplyMode::Maintenance,
                    changes: Vec::new(),
                };
                let extras =
                    Extras { preconditions: vec![Precondition::InMaintenance], proof: None };
                self.step(action, machine, Vec::new(), extras);
            }
        }
    }

    /// Begins etcd where there is none, and lets control planes join.
    fn begin(&mut self) {
        let begins = matches!(self.survey.etcd, EtcdState::None);
        if begins {
            // What keeps etcd from starting may be in the configuration, so that comes first.
            for machine in self.control_planes() {
                if let Situation::Change(change) = machine.situation {
                    self.apply(machine, change);
                }
            }
            let Some(first) = self.control_planes().first().copied() else { return };
            self.survey.may_bootstrap(&mut self.findings);
            if let Some(voters) = &mut self.voters {
                voters.join(first.name);
            }
            let extras = Extras {
                preconditions: vec![Precondition::NoMembers],
                proof: self.voters.as_ref().map(Voters::count),
            };
            self.chained(Action::BootstrapEtcd, first, extras);
        }
        for machine in self.control_planes() {
            if begins || matches!(machine.situation, Situation::Join) {
                self.await_voter(machine);
            }
        }
    }

    /// One control plane after the other, the leader of etcd last.
    fn change_control_planes(&mut self) {
        if matches!(self.survey.etcd, EtcdState::None) {
            return;
        }
        let leader = self.survey.leader();
        let changed = |machine: &&Surveyed<'_>| matches!(machine.situation, Situation::Change(_));
        let mut machines: Vec<_> = self.control_planes().into_iter().filter(changed).collect();
        machines.sort_by_key(|machine| Some(machine.name) == leader.map(|(name, _)| name));
        for machine in machines {
            let Situation::Change(change) = machine.situation else { continue };
            let reboots = change.class == RebootClass::WithReboot;
            if let Some((name, member)) = leader
                && reboots
                && name == machine.name
                && self.voters.as_ref().is_some_and(Voters::has_another)
            {
                let mut extras = self.touched(machine, false);
                extras.preconditions.push(Precondition::MemberIs(member));
                self.chained(Action::HandOverLeadership, machine, extras);
            }
            self.apply(machine, change);
            self.await_voter(machine);
            self.await_node(machine);
        }
    }

    /// Workers in batches, each of one failure domain, after the control planes.
    fn change_workers(&mut self) {
        let mut domains: Vec<(Option<&str>, Vec<&'a Surveyed<'a>>)> = Vec::new();
        for machine in self.survey.machines.iter().filter(|machine| !machine.control_plane) {
            if !matches!(machine.situation, Situation::Change(_)) {
                continue;
            }
            match domains.iter_mut().find(|(domain, _)| *domain == machine.domain) {
                Some((_, members)) => members.push(machine),
                None => domains.push((machine.domain, vec![machine])),
            }
        }
        let at_once = usize::try_from(self.request.spec.policy.workers_at_once.max(1)).unwrap_or(1);
        let mut before: Vec<StepNumber> = self.chain.into_iter().collect();
        for batch in domains.iter().flat_map(|(_, members)| members.chunks(at_once)) {
            let mut done = Vec::new();
            for machine in batch {
                let Situation::Change(change) = machine.situation else { continue };
                let extras = Extras { preconditions: same(machine, change), proof: None };
                let mode = mode_of(change);
                self.step(apply_action(machine, change, mode), machine, before.clone(), extras);
                if mode == ApplyMode::Staged {
                    let extras = Extras { preconditions: same_boot(machine), proof: None };
                    self.step(Action::RebootMachine, machine, Vec::new(), extras);
                }
                let ready = self.ready();
                let wait = Action::AwaitNode { ready };
                done.push(self.step(wait, machine, Vec::new(), Extras::default()));
            }
            before = done;
        }
    }

    /// Credentials before the last waits: who has to look why something does not come up needs them.
    fn fetch_kubeconfig(&mut self) {
        let has_one = self.request.inventory.kubeconfig.current(self.request.inventory.taken);
        // Those from before the cluster are somebody else's.
        let is_new = self.builder.number_of(&Action::BootstrapEtcd).is_some();
        let exists = is_new || !matches!(self.survey.etcd, EtcdState::None);
        let able = |machine: &&&Surveyed<'_>| {
            self.voters.as_ref().is_none_or(|voters| voters.is_able(machine.name))
        };
        let from = self.control_planes().iter().find(able).copied();
        if (is_new || has_one == Some(&false))
            && exists
            && let Some(machine) = from
        {
            self.step(Action::FetchKubeconfig, machine, Vec::new(), Extras::default());
        }
    }

    /// Waits for what should be in service and is not, after everything that can be done. A machine whose
    /// etcd or kubelet does not come up then holds up nobody.
    fn await_the_rest(&mut self) {
        let now = self.request.inventory.taken;
        for machine in self.control_planes() {
            let known = self.voters.as_ref();
            if known.is_some_and(|voters| !voters.is_able(machine.name)) {
                self.await_voter(machine);
            }
        }
        for machine in &self.survey.machines {
            let in_service = || match machine.facts.kubernetes.current(now) {
                Some(NodeState::Ready) => true,
                Some(NodeState::NotReady) => !self.ready(),
                Some(NodeState::Absent) | None => false,
            };
            let awaited = match machine.situation {
                Situation::LeftOut(_) => true,
                // Where etcd was there before, the change has waited for its machine already.
                Situation::Change(_) => {
                    !machine.control_plane || !matches!(self.survey.etcd, EtcdState::None)
                }
                Situation::Join => false,
                Situation::Same => in_service(),
            };
            if !awaited {
                let begun = self.builder.number_of(&Action::BootstrapEtcd);
                let before = begun.into_iter().collect();
                let ready = self.ready();
                self.step(Action::AwaitNode { ready }, machine, before, Extras::default());
            }
        }
    }

    /// Hands a control plane its configuration and boots it again if that needs it.
    fn apply(&mut self, machine: &'a Surveyed<'a>, change: &ConfigChange) {
        let mode = mode_of(change);
        let pauses = mode == ApplyMode::NoReboot && change.pauses_etcd;
        let mut extras = self.touched(machine, pauses);
        extras.preconditions.extend(same(machine, change));
        self.chained(apply_action(machine, change, mode), machine, extras);
        if mode == ApplyMode::Staged {
            let mut extras = self.touched(machine, true);
            extras.preconditions.extend(same_boot(machine));
            self.chained(Action::RebootMachine, machine, extras);
        }
    }

    fn await_voter(&mut self, machine: &'a Surveyed<'a>) {
        if let Some(voters) = &mut self.voters {
            voters.join(machine.name);
        }
        let proof = self.voters.as_ref().map(Voters::count);
        self.chained(Action::AwaitVoter, machine, Extras { preconditions: Vec::new(), proof });
    }

    fn await_node(&mut self, machine: &'a Surveyed<'a>) {
        let ready = self.ready();
        self.chained(Action::AwaitNode { ready }, machine, Extras::default());
    }

    /// The proof and the precondition of a step that touches a voter, or the rule that it breaks.
    fn touched(&mut self, machine: &Surveyed<'_>, pauses: bool) -> Extras {
        let Some(voters) = &mut self.voters else {
            self.findings.push(self.survey.unknown_members(machine.name));
            return Extras::default();
        };
        if !voters.has(machine.name) {
            return Extras::default();
        }
        let before = voters.count();
        if pauses {
            voters.pause(machine.name);
        }
        let proof = voters.count();
        if let Some(finding) = quorum::lost(proof, machine.name) {
            self.findings.push(finding);
        }
        Extras { preconditions: vec![Precondition::AbleVoters(before.able)], proof: Some(proof) }
    }

    /// A step on a control plane, after all such steps so far.
    fn chained(&mut self, action: Action, machine: &'a Surveyed<'a>, extras: Extras) {
        let after = self.chain.into_iter().collect();
        self.chain = Some(self.step(action, machine, after, extras));
    }

    /// A step, after all steps on the same machine so far.
    fn step(
        &mut self,
        action: Action,
        machine: &'a Surveyed<'a>,
        mut after: Vec<StepNumber>,
        extras: Extras,
    ) -> StepNumber {
        after.extend(self.own.get(machine.name));
        let number = self.builder.add(action, machine.name, after, extras);
        self.own.insert(machine.name, number);
        number
    }

    /// The control planes that are not left out, in the order of the spec.
    fn control_planes(&self) -> Vec<&'a Surveyed<'a>> {
        let here = |machine: &&Surveyed<'_>| {
            machine.control_plane && !matches!(machine.situation, Situation::LeftOut(_))
        };
        self.survey.machines.iter().filter(here).collect()
    }

    /// Whether nodes can become ready at all.
    fn ready(&self) -> bool {
        self.request.spec.network.cni != Cni::None
    }
}

fn apply_action(machine: &Surveyed<'_>, change: &ConfigChange, mode: ApplyMode) -> Action {
    Action::ApplyConfig { config: machine.digest, mode, changes: change.fields.clone() }
}

fn mode_of(change: &ConfigChange) -> ApplyMode {
    match change.class {
        RebootClass::WithReboot => ApplyMode::Staged,
        RebootClass::WithoutReboot | RebootClass::Nothing => ApplyMode::NoReboot,
    }
}

/// The machine is still the one that was seen, with the configuration that it had.
fn same(machine: &Surveyed<'_>, change: &ConfigChange) -> Vec<Precondition> {
    let node = machine.node.cloned().map(Precondition::NodeIs);
    node.into_iter().chain([Precondition::ConfigIs(change.from)]).collect()
}

/// The machine is still in the boot that was seen.
fn same_boot(machine: &Surveyed<'_>) -> Vec<Precondition> {
    let node = machine.node.cloned().map(Precondition::NodeIs);
    node.into_iter().chain(machine.boot.cloned().map(Precondition::BootIs)).collect()
}
