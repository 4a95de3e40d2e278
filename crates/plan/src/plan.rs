//! Plans: immutable values whose state is in their type.
//!
//! A planner or a file gives a [`Draft`]; the checker makes it [`Checked`]; an approval of exactly this
//! plan, by its hash, makes it [`Approved`]. Only such a plan can be executed.

use domain::{ClusterName, Digest, MachineName, Target, Timestamp};
use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use talos_config::{Coded, codes};

use crate::rule::Rule;
use crate::step::{Step, StepNumber};

/// A plan in a state.
#[derive(Clone, Debug)]
pub struct Plan<State> {
    body: Body,
    hash: Digest,
    state: State,
}

/// The state of a plan that is not checked yet.
#[derive(Clone, Copy, Debug)]
pub struct Draft(());

/// It keeps every rule, or overrides it by name.
#[derive(Clone, Debug)]
pub struct Checked(Vec<Rule>);

/// The state of a plan after a person said that exactly this plan may be run.
#[derive(Clone, Debug)]
pub struct Approved(Approval);

/// The content of a plan.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Body {
    /// The name of the cluster that it is for.
    pub cluster: ClusterName,
    /// The identity of the cluster: a digest under the key of its vault.
    pub identity: Digest,
    /// The goal.
    #[serde(default, skip_serializing_if = "Goal::is_spec")]
    pub goal: Goal,
    /// The time when it was made.
    pub made: Timestamp,
    /// The plan that stopped before this one, if one did.
    pub parent: Option<Digest>,
    /// Rules that do not hold for it.
    pub overrides: Vec<Override>,
    /// The steps, each after those that it waits for.
    pub steps: Vec<Step>,
    /// The machines that it leaves alone although they may not be as they should.
    pub skipped: Vec<Skipped>,
}

/// The goal of a plan.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// The cluster that the spec describes.
    #[default]
    Spec,
    /// Its end: every machine waits for configuration, and nothing is left of etcd.
    Destroyed,
}

impl Goal {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_spec(&self) -> bool {
        *self == Self::Spec
    }
}

/// A rule that does not hold for one plan, or for one machine of it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// The name of the rule.
    pub rule: String,
    /// The machine that it does not hold for; all of them when none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineName>,
    /// The reason.
    pub reason: String,
}

/// Something that a plan leaves alone although it may not be as it should.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    /// A machine of the spec, or what etcd or Kubernetes have beyond the spec.
    pub on: Target,
    /// The name of the rule that keeps it out, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { on, rule, why } = self;
        match rule {
            Some(rule) => write!(f, "{on}: {rule}: {why}"),
            None => write!(f, "{on}: {why}"),
        }
    }
}

/// The approval of a plan.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// The hash of the plan.
    pub plan: Digest,
    /// The person.
    pub by: String,
    /// The time.
    pub at: Timestamp,
}

/// The reason why a plan is not approved.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ApprovalError {
    /// The approval is for another plan.
    #[error("the approval is for plan {}, and this is {}", .approved.short(), .plan.short())]
    AnotherPlan {
        /// The plan that was approved.
        approved: Digest,
        /// The plan that is to be run.
        plan: Digest,
    },
    /// No person is named.
    #[error("the approval names no person")]
    Nobody,
}

impl Coded for ApprovalError {
    codes! {
        Self::AnotherPlan { .. } => "approval.another-plan", NeedsPerson;
        Self::Nobody => "approval.nobody", NeedsPerson;
    }
}

impl Plan<Draft> {
    /// Returns a plan that is not checked yet.
    pub fn draft(body: Body) -> Self {
        // Maps have texts for keys, so writing cannot fail.
        let hash = Digest::of(&serde_json::to_string(&body).unwrap_or_default());
        Self { body, hash, state: Draft(()) }
    }

    /// For the checker alone: nothing is left that breaks a rule but `overridden`.
    pub(crate) fn checked(self, overridden: Vec<Rule>) -> Plan<Checked> {
        let Self { body, hash, state: Draft(()) } = self;
        Plan { body, hash, state: Checked(overridden) }
    }
}

impl Plan<Checked> {
    /// Returns the rules that it breaks and overrides by name.
    pub fn overridden(&self) -> &[Rule] {
        &self.state.0
    }

    /// Takes an approval of exactly this plan.
    pub fn approve(self, approval: Approval) -> Result<Plan<Approved>, ApprovalError> {
        if approval.plan != self.hash {
            return Err(ApprovalError::AnotherPlan { approved: approval.plan, plan: self.hash });
        }
        if approval.by.trim().is_empty() {
            return Err(ApprovalError::Nobody);
        }
        Ok(Plan { body: self.body, hash: self.hash, state: Approved(approval) })
    }
}

impl<State> Plan<State> {
    /// Returns the same plan, to be checked again.
    pub fn into_draft(self) -> Plan<Draft> {
        Plan { body: self.body, hash: self.hash, state: Draft(()) }
    }

    /// Returns whether it overrides a rule, for everything or for one machine.
    pub fn overrides(&self, rule: Rule, machine: Option<&MachineName>) -> bool {
        self.body.overrides(rule, machine)
    }
}

impl Plan<Approved> {
    /// Returns its approval.
    pub fn approval(&self) -> &Approval {
        &self.state.0
    }
}

impl<State> Plan<State> {
    /// Returns its content.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Returns its hash: any change of its content gives another one.
    pub fn hash(&self) -> Digest {
        self.hash
    }

    /// Returns its steps.
    pub fn steps(&self) -> &[Step] {
        &self.body.steps
    }

    /// Returns a step by its number.
    pub fn step(&self, number: StepNumber) -> Option<&Step> {
        self.body.steps.iter().find(|step| step.number == number)
    }

    /// Returns the machines that it touches, each once, in the order of the steps.
    pub fn machines(&self) -> Vec<&MachineName> {
        let mut seen = BTreeSet::new();
        let named = self.body.steps.iter().filter_map(|step| step.on.machine());
        named.filter(|name| seen.insert(*name)).collect()
    }
}

impl Body {
    /// Returns whether a rule is overridden, for everything or for one machine.
    pub(crate) fn overrides(&self, rule: Rule, machine: Option<&MachineName>) -> bool {
        overridden(&self.overrides, rule, machine)
    }
}

/// Returns whether a rule is among those that shall not hold, and may be: for everything, or for this machine.
pub(crate) fn overridden(
    overrides: &[Override],
    rule: Rule,
    machine: Option<&MachineName>,
) -> bool {
    rule.can_be_overridden()
        && overrides.iter().filter(|given| given.rule == rule.name()).any(|given| {
            match &given.machine {
                None => !rule.is_for_one_machine(),
                scope => scope.as_ref() == machine,
            }
        })
}
