//! From what is wanted and what was seen to the steps between them, one file for each kind of change.
//!
//! In: a [`PlanningInput`]. Out: nothing to do, something to wait for, or a plan that is not checked yet; or the rules
//! that every plan would break.
//!
//! Always holds: the same input gives the same plan; a machine that is unreachable, or that a rule keeps out, is
//! skipped, and holds up others only as far as it leaves too few in service; steps on control planes form one chain,
//! so that no two of them pause together; kinds of change that exclude each other
//! ([`Change::EXCLUSIVE`](crate::Change::EXCLUSIVE)) are never in one plan.

mod assessment;
mod await_remaining;
mod bootstrap;
mod builder;
mod configure;
mod destroy;
mod join;
mod provide;
mod quorum;
mod service;

use std::collections::{BTreeMap, BTreeSet};

use domain::{Digest, Inventory, MachineName};

use assessment::{Assessment, MachineAssessment};
use builder::{Builder, Extras};
use quorum::Voters;
pub use service::out_of_service_finding;

use crate::action::{Action, AwaitNode, AwaitVoter, TargetFacts};
use crate::finding::{Finding, Refusal};
use crate::plan::{Body, Draft, Goal, Override, Plan, Skipped};
use crate::render::Renderings;
use crate::spec::{ClusterSpec, Cni};
use crate::step::{Precondition, Step, StepNumber};

/// The input of a plan: it is made of this, and checked against it.
#[derive(Clone)]
pub struct PlanningInput<'a> {
    /// The spec.
    pub spec: &'a ClusterSpec,
    /// The goal: the spec, or the end of the cluster.
    pub goal: Goal,
    /// The configuration of each machine, compared with what it has.
    pub desired: &'a Renderings,
    /// The inventory.
    pub inventory: &'a Inventory,
    /// The identity of the cluster ([`DigestKey::cluster`](domain::DigestKey::cluster)).
    pub identity: Digest,
    /// The plan that stopped before.
    pub parent: Option<Digest>,
    /// Rules that shall not hold.
    pub overrides: &'a [Override],
}

/// The result of planning.
#[derive(Clone, Debug)]
pub enum Planned {
    /// The cluster matches its spec.
    Nothing,
    /// Nothing can be done for now, and the cluster does not match its spec.
    Blocked(Vec<Skipped>),
    /// This.
    Change(Plan<Draft>),
}

/// Makes a plan.
pub fn plan(input: &PlanningInput<'_>) -> Result<Planned, Refusal> {
    match input.goal {
        Goal::Spec => converge(input),
        Goal::Destroyed => destroy::plan(input),
    }
}

fn converge(input: &PlanningInput<'_>) -> Result<Planned, Refusal> {
    let assessment = Assessment::new(input);
    let mut planner = Planner {
        input,
        builder: Builder::new(&input.spec.policy),
        voters: assessment.voters(),
        chain: None,
        own: BTreeMap::new(),
        awaited: BTreeSet::new(),
        findings: assessment.findings.clone(),
        assessment: &assessment,
    };
    // Without a single control plane it cannot be told whether workers come back.
    if provide::plan(&mut planner) && assessment.control_planes().next().is_some() {
        join::plan(&mut planner);
        bootstrap::plan(&mut planner);
        configure::plan(&mut planner);
        await_remaining::plan(&mut planner);
    }
    let mut findings = planner.findings;
    let steps = planner.builder.steps;
    // What rules keep out is told with the plan; without one it is the reason why there is none.
    if steps.is_empty() {
        findings.extend(assessment.refused().cloned());
    }
    into_plan(input, steps, assessment.skipped(input.spec), findings)
}

/// Returns the plan of these steps, unless a rule is broken that it does not override.
fn into_plan(
    input: &PlanningInput<'_>,
    steps: Vec<Step>,
    skipped: Vec<Skipped>,
    mut findings: Vec<Finding>,
) -> Result<Planned, Refusal> {
    let body = Body {
        cluster: input.spec.cluster.clone(),
        identity: input.identity,
        goal: input.goal,
        made: input.inventory.taken,
        parent: input.parent,
        overrides: input.overrides.to_vec(),
        steps,
        skipped,
    };
    findings.retain(|finding| !body.overrides(finding.rule, finding.machine()));
    if !findings.is_empty() {
        return Err(Refusal { findings });
    }
    Ok(match (body.steps.is_empty(), body.skipped.is_empty()) {
        (true, true) => Planned::Nothing,
        (true, false) => Planned::Blocked(body.skipped),
        (false, _) => Planned::Change(Plan::draft(body)),
    })
}

/// A plan in the making.
struct Planner<'a> {
    input: &'a PlanningInput<'a>,
    assessment: &'a Assessment<'a>,
    builder: Builder<'a>,
    /// The voters as they will be after the steps so far; none when they are not known.
    voters: Option<Voters>,
    /// The last step on a control plane: the next one waits for it.
    chain: Option<StepNumber>,
    /// The last step on each machine.
    own: BTreeMap<&'a MachineName, StepNumber>,
    /// The machines whose service a step waits for.
    awaited: BTreeSet<&'a MachineName>,
    findings: Vec<Finding>,
}

impl<'a> Planner<'a> {
    fn await_voter(&mut self, machine: &'a MachineAssessment<'a>) {
        if let Some(voters) = &mut self.voters {
            voters.join(machine.name);
        }
        let proof = self.voters.as_ref().map(Voters::count);
        self.chained(AwaitVoter {}, machine, Extras { preconditions: Vec::new(), proof });
    }

    /// Waits until a control plane serves again, after all steps on control planes so far.
    fn await_control_plane(&mut self, machine: &'a MachineAssessment<'a>) {
        self.await_voter(machine);
        self.chained(self.await_node(), machine, Extras::default());
        self.awaited.insert(machine.name);
    }

    /// A step on a control plane, after all such steps so far.
    fn chained(
        &mut self,
        action: impl Into<Action>,
        machine: &'a MachineAssessment<'a>,
        extras: Extras,
    ) {
        let after = self.chain.into_iter().collect();
        self.chain = Some(self.step(action, machine, after, extras));
    }

    /// Adds a step, after all steps on the same machine so far, with everything that its action assumes.
    fn step(
        &mut self,
        action: impl Into<Action>,
        machine: &'a MachineAssessment<'a>,
        mut after: Vec<StepNumber>,
        mut extras: Extras,
    ) -> StepNumber {
        let action = action.into();
        after.extend(self.own.get(machine.name));
        extras.preconditions.extend(self.assumed(&action, machine));
        let number = self.builder.add(action, machine.name, after, extras);
        self.own.insert(machine.name, number);
        number
    }

    fn assumed(&self, action: &Action, machine: &MachineAssessment<'_>) -> Vec<Precondition> {
        let seen = TargetFacts {
            facts: machine.facts,
            etcd: self.input.inventory.etcd.current(machine.now),
            on: &machine.name.into(),
            now: machine.now,
        };
        action.assumes(&seen).into_iter().flatten().collect()
    }

    fn await_node(&self) -> AwaitNode {
        AwaitNode { ready: expects_ready(self.input.spec) }
    }
}

/// Returns whether nodes can become ready at all.
pub(crate) fn expects_ready(spec: &ClusterSpec) -> bool {
    spec.network.cni != Cni::None
}
