//! What breaks a safety rule, and the words for it. Planner and checker judge apart, and say the same.

use std::borrow::Cow;

use domain::{MachineName, NodeIdentity, Target};
use talos_config::Coded;

use crate::ErrorKind;
use crate::rule::Rule;
use crate::step::{QuorumProof, Step, StepNumber};

/// A rule that is broken, by what, and what to do about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// By which step, if it is one.
    pub step: Option<StepNumber>,
    /// The target, unless it is about the plan as a whole.
    pub on: Option<Target>,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

impl Finding {
    /// Returns a finding about the plan as a whole.
    pub(crate) fn about_plan(
        rule: Rule,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { rule, step: None, on: None, message: message.into(), hint: hint.into() }
    }

    /// Returns a finding about a machine.
    pub(crate) fn about(
        on: impl Into<Target>,
        rule: Rule,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { on: Some(on.into()), ..Self::about_plan(rule, message, hint) }
    }

    /// Adds the step by which the rule is broken.
    pub(crate) fn in_step(self, step: &Step) -> Self {
        Self { step: Some(step.number), ..self }
    }

    /// Returns the machine, if it is about one.
    pub fn machine(&self) -> Option<&MachineName> {
        self.on.as_ref().and_then(Target::machine)
    }

    pub(crate) fn foreign(on: impl Into<Target>) -> Self {
        let on = on.into();
        let message = format!("{on} carries the configuration of another cluster");
        let hint =
            "check its address in the spec; only its own cluster's credentials can release it";
        Self::about(on, Rule::IdentityForeign, message, hint)
    }

    /// A machine that was recorded is in maintenance: any machine at its address could now stand for it.
    pub(crate) fn in_maintenance_again(on: impl Into<Target>) -> Self {
        let on = on.into();
        let message = format!("{on} was recorded as ours and says that it is in maintenance");
        let hint =
            format!("if it was reset or installed anew, use --override identity.maintenance={on}");
        Self::about(on, Rule::IdentityMaintenance, message, hint)
    }

    pub(crate) fn another_installation(
        on: impl Into<Target>,
        node: &NodeIdentity,
        recorded: &NodeIdentity,
    ) -> Self {
        let on = on.into();
        let message = format!("{on} is installation {node}, and {recorded} was recorded");
        let hint = format!(
            "is its address right? If it was installed anew, use --override identity.node={on}"
        );
        Self::about(on, Rule::IdentityNode, message, hint)
    }

    /// Two names for one installation: each would get two configurations in turn.
    pub(crate) fn one_installation_twice(names: &[&MachineName], node: &NodeIdentity) -> Self {
        let list: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        let message = format!("{} are one installation, {node}", list.join(" and "));
        let hint =
            "give each machine an address of its own; the address of a VIP moves between machines";
        match names.first() {
            Some(first) => Self::about(*first, Rule::IdentityTwice, message, hint),
            None => Self::about_plan(Rule::IdentityTwice, message, hint),
        }
    }

    /// A machine that was recorded, and that its provider does not have any more.
    pub(crate) fn gone(on: impl Into<Target>) -> Self {
        let on = on.into();
        let message = format!("{on} was recorded as ours, and its provider does not have it");
        let hint = format!(
            "if it was destroyed and shall be made again, use --override identity.gone={on}"
        );
        Self::about(on, Rule::IdentityGone, message, hint)
    }

    /// A control plane that cannot be judged may hold the etcd of this cluster.
    pub(crate) fn may_hold_etcd(name: &MachineName, why: &str) -> Self {
        let message = format!("{name} is unreachable ({why}) and may hold an etcd already");
        let hint = "start it, take it out of the spec, or use --override bootstrap.unseen";
        Self::about(name, Rule::BootstrapUnseen, message, hint)
    }

    pub(crate) fn configured_elsewhere(name: &MachineName) -> Self {
        let message = format!("{name} is configured already, and not from this directory");
        let hint =
            "another person may be creating this cluster; if not, use --override create.configured";
        Self::about(name, Rule::CreateConfigured, message, hint)
    }

    pub(crate) fn etcd_has_begun(evidence: &str) -> Self {
        let message = format!("etcd has begun before: {evidence}");
        let hint = "put the old control planes back into the spec, or restore a snapshot; if that etcd is gone for \
                    good, use --override bootstrap.again";
        Self::about_plan(Rule::BootstrapAgain, message, hint)
    }

    /// A bootstrap that was started elsewhere: its member may appear at any moment.
    pub(crate) fn bootstrap_elsewhere(on: &MachineName) -> Self {
        let message = format!("a bootstrap was started on {on}, and its member was not seen since");
        let hint = "bring that machine back; if it was reset, use --override bootstrap.again";
        Self::about_plan(Rule::BootstrapAgain, message, hint)
    }

    pub(crate) fn unknown_members(on: impl Into<Target>, why: &str) -> Self {
        let on = on.into();
        let message = format!("the members of etcd are not known ({why}), and {on} may be one");
        let hint = "look at `ichor etcd members`; a cluster without quorum needs --override quorum.unknown";
        Self::about(on, Rule::QuorumUnknown, message, hint)
    }

    pub(crate) fn spec_drops_voters(kept: usize, voters: usize) -> Self {
        let message = format!("the spec keeps {kept} of {voters} voters of etcd: no majority");
        let hint =
            "put the control planes back and remove one at a time with `ichor node reset -n NAME`";
        Self::about_plan(Rule::QuorumSpec, message, hint)
    }

    /// Members in two clusters of etcd cannot be counted together.
    pub(crate) fn split_etcd(apart: &str) -> Self {
        let message = format!("{apart} is in another etcd than the other control planes");
        let hint =
            "`ichor etcd members` shows both; decide which one has the data and reset the other";
        Self::about_plan(Rule::EtcdSplit, message, hint)
    }

    /// Too few voters are left while a machine is changed.
    pub(crate) fn no_majority(on: impl Into<Target>, left: QuorumProof) -> Self {
        let on = on.into();
        let QuorumProof { voters, healthy } = left;
        if voters == 1 {
            let message =
                format!("{on} is the only voter of etcd: the API is down while it pauses");
            let hint =
                "do it when that is acceptable, with --override quorum.only-voter --reason …";
            return Self::about(on, Rule::QuorumOnlyVoter, message, hint);
        }
        let message =
            format!("{healthy} of {voters} voters would be healthy while {on} is changed");
        let hint = "bring the other control planes back first; `ichor etcd members` shows them";
        Self::about(on, Rule::QuorumTolerance, message, hint)
    }

    /// `about` is the machine that would be disturbed, or the one that is out of service.
    pub(crate) fn beside_out_of_service(
        about: &MachineName,
        disturbed: &Target,
        out: &MachineName,
        why: &str,
    ) -> Self {
        let message = format!("{disturbed} is not changed while {out} is out of service: {why}");
        let hint = format!(
            "bring it back first; if it is gone for good, use --override order.out-of-service={out}"
        );
        Self::about(about, Rule::OrderOutOfService, message, hint)
    }

    pub(crate) fn another_role(on: impl Into<Target>) -> Self {
        let on = on.into();
        let message = format!("{on} would change between control plane and worker");
        let hint = "remove it from the cluster and add it again in its new role";
        Self::about(on, Rule::ConfigRole, message, hint)
    }

    pub(crate) fn another_kubernetes(on: impl Into<Target>) -> Self {
        let on = on.into();
        let message =
            format!("{on} would get another release of Kubernetes by a mere change of its files");
        let hint = "put the release of Kubernetes back: upgrading it is not supported yet";
        Self::about(on, Rule::ConfigKubernetes, message, hint)
    }

    pub(crate) fn no_disk(on: impl Into<Target>, why: &str) -> Self {
        let on = on.into();
        let hint = "`ichor disks --insecure` shows what there is; name one of them";
        Self::about(on, Rule::InstallDisk, why, hint)
    }

    /// A plan that ends the cluster, which is never made by accident.
    pub(crate) fn destroys(machines: usize) -> Self {
        let these =
            if machines == 1 { "1 machine".to_owned() } else { format!("{machines} machines") };
        let message = format!("{these} would lose configuration and data, and etcd its members");
        let hint = "`ichor destroy` asks whether that is meant, and says so in the plan";
        Self::about_plan(Rule::QuorumDestroy, message, hint)
    }
}

/// The refusal of a plan: at least one rule is broken.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("refused by {}", names(.findings))]
pub struct Refusal {
    /// Every rule that is broken and not overridden.
    pub findings: Vec<Finding>,
}

/// Its codes are the names of the rules; its own is the first one's.
impl Coded for Refusal {
    const CODES: &'static [&'static str] = &[];

    fn code(&self) -> &'static str {
        self.findings.first().map_or(Rule::OrderGraph, |finding| finding.rule).name()
    }

    /// It may go away only if every rule that is broken may.
    fn kind(&self) -> ErrorKind {
        let kinds = || self.findings.iter().map(|finding| finding.rule.kind());
        if kinds().any(|kind| kind == ErrorKind::Permanent) {
            ErrorKind::Permanent
        } else if kinds().any(|kind| kind == ErrorKind::NeedsPerson) {
            ErrorKind::NeedsPerson
        } else {
            ErrorKind::Retryable
        }
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        self.findings.first().map(|finding| finding.hint.as_str().into())
    }
}

fn names(findings: &[Finding]) -> String {
    let mut names: Vec<&str> = findings.iter().map(|finding| finding.rule.name()).collect();
    names.dedup();
    names.join(", ")
}
