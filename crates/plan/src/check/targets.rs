//! Rules about one step and its machine: who it is, what it has, what it gets.

use super::{Check, Findings};
use crate::inventory::{MachineFacts, Standing};
use crate::reboot::RebootClass;
use crate::render::Rendering;
use crate::rule::Rule;
use crate::step::{Action, ApplyMode, Gate, Precondition, Step};

impl Check<'_> {
    pub(super) fn targets(&self, findings: &mut Findings) {
        for (machine, steps) in self.graph.machines() {
            let known = self.against.spec.machine(machine).is_some();
            let facts = self.against.inventory.machines.get(machine);
            let rendering = self.against.desired.get(machine);
            let (Some(facts), Some(rendering), true) = (facts, rendering, known) else {
                let message = format!("{machine} is no machine of the spec that was looked at");
                findings.about_step(Rule::IdentityMachine, steps[0], message, "make a new plan");
                continue;
            };
            self.installation(steps[0], facts, findings);
            keeps(steps[0], rendering, findings);
            for step in steps {
                complete(step, findings);
                self.windows(step, findings);
                self.standing(step, facts, findings);
                self.preconditions(step, facts, findings);
                self.config(step, rendering, findings);
                self.disk(step, facts, rendering, findings);
                if step.action == Action::ResetMachine {
                    let message = format!("{machine} would lose its configuration and data");
                    let hint = "a plan resets machines only to end the cluster: make a new plan";
                    findings.about_step(Rule::DestroyGoal, step, message, hint);
                }
            }
        }
    }

    /// A machine that is ours is the installation that was recorded.
    pub(super) fn installation(&self, step: &Step, facts: &MachineFacts, findings: &mut Findings) {
        let (now, machine) = (self.against.inventory.taken, &step.machine);
        let ours = facts.standing.current(now) == Some(&Standing::Ours);
        if let (true, Some(recorded), Some(node)) = (ours, &facts.recorded, facts.node.current(now))
            && recorded != node
        {
            let message = format!("{machine} is installation {node}, and {recorded} was recorded");
            let hint =
                "is its address right? If it was installed anew, use --override identity.node";
            findings.about_machine(Rule::IdentityNode, machine, message, hint);
        }
    }

    /// A step suits the machine that is there.
    pub(super) fn standing(&self, step: &Step, facts: &MachineFacts, findings: &mut Findings) {
        let now = self.against.inventory.taken;
        let machine = &step.machine;
        let standing = match facts.standing.current(now) {
            Some(Standing::Another) => {
                let message = format!("{machine} carries the configuration of another cluster");
                let hint = "is its address right?";
                return findings.about_step(Rule::IdentityForeign, step, message, hint);
            }
            Some(standing) => *standing,
            None => {
                let why = facts.standing.why_not(now);
                let message = format!("{machine} cannot be seen now: {why}");
                let hint = "make a new plan, which leaves it out";
                return findings.about_step(Rule::FactsCurrent, step, message, hint);
            }
        };
        let configures = |other: &&&Step| {
            matches!(other.action, Action::ApplyConfig { mode: ApplyMode::Maintenance, .. })
                && self.graph.precedes(other, step)
        };
        let suits = match &step.action {
            Action::ApplyConfig { mode: ApplyMode::Maintenance, .. } => {
                standing == Standing::Maintenance
            }
            Action::ApplyConfig { mode: ApplyMode::NoReboot | ApplyMode::Staged, .. }
            | Action::HandOverLeadership
            | Action::RebootMachine
            | Action::ResetMachine => standing == Standing::Ours,
            Action::BootstrapEtcd
            | Action::AwaitVoter
            | Action::AwaitNode { .. }
            | Action::FetchKubeconfig => {
                standing == Standing::Ours || self.graph.on(machine).iter().any(|s| configures(&s))
            }
        };
        let for_control_planes = matches!(
            step.action,
            Action::AwaitVoter | Action::HandOverLeadership | Action::FetchKubeconfig
        );
        if for_control_planes && !self.is_control_plane(step) {
            let message =
                format!("{} does not suit {machine}, which is a worker", step.action.verb());
            findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
        }
        if !suits {
            let state = match standing {
                Standing::Maintenance => "waits for configuration",
                Standing::Ours | Standing::Another => "is configured already",
            };
            let message = format!("{} does not suit {machine}, which {state}", step.action.verb());
            findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
        }
    }

    /// A step assumes what was seen, and says so.
    pub(super) fn preconditions(&self, step: &Step, facts: &MachineFacts, findings: &mut Findings) {
        let inventory = self.against.inventory;
        let now = inventory.taken;
        let node = || facts.node.current(now).cloned().map(Precondition::NodeIs);
        let wanted: Vec<Option<Precondition>> = match &step.action {
            Action::ApplyConfig { mode: ApplyMode::Maintenance, .. } => {
                vec![Some(Precondition::InMaintenance)]
            }
            Action::ApplyConfig { .. } => {
                let config = facts.config.current(now).copied().map(Precondition::ConfigIs);
                vec![node(), config]
            }
            Action::RebootMachine => {
                vec![node(), facts.boot.current(now).cloned().map(Precondition::BootIs)]
            }
            Action::HandOverLeadership => {
                let member = inventory.etcd.current(now).and_then(|etcd| etcd.on(&step.machine));
                vec![member.map(|(id, _)| Precondition::MemberIs(id))]
            }
            Action::ResetMachine => vec![node()],
            Action::BootstrapEtcd => vec![Some(Precondition::NoMembers)],
            Action::AwaitVoter | Action::AwaitNode { .. } | Action::FetchKubeconfig => Vec::new(),
        };
        let mut missing = wanted.iter().filter(|wanted| {
            wanted.as_ref().is_none_or(|wanted| !step.preconditions.contains(wanted))
        });
        if let Some(missing) = missing.next() {
            let message = missing.as_ref().map_or_else(
                || format!("what {} has to be is not known now", step.machine),
                |wanted| format!("it has to insist on: {wanted}"),
            );
            findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
        }
    }

    /// A machine gets the configuration of the spec, in the way that the change needs.
    fn config(&self, step: &Step, rendering: &Rendering, findings: &mut Findings) {
        let change = rendering.change.as_ref();
        let class = change.map(|change| change.class);
        let machine = &step.machine;
        if let Action::ApplyConfig { config, mode, changes } = &step.action {
            let shown = match mode {
                ApplyMode::Maintenance => changes.is_empty(),
                ApplyMode::NoReboot | ApplyMode::Staged => {
                    change.is_some_and(|change| change.fields == *changes)
                }
            };
            if *config != rendering.digest || !shown {
                let message = format!("the configuration is not what the spec gives {machine} now");
                findings.about_step(Rule::ConfigDigest, step, message, "make a new plan");
            }
        }
        let right = match &step.action {
            Action::ApplyConfig { mode: ApplyMode::NoReboot, .. } => {
                class == Some(RebootClass::WithoutReboot)
            }
            Action::ApplyConfig { mode: ApplyMode::Staged, .. } => {
                let follows = |other: &&&Step| {
                    other.action == Action::RebootMachine && self.graph.precedes(step, other)
                };
                class == Some(RebootClass::WithReboot)
                    && self.graph.on(machine).iter().any(|other| follows(&other))
            }
            Action::RebootMachine => class == Some(RebootClass::WithReboot),
            _ => true,
        };
        if !right {
            let class = class.map_or_else(|| "not known".to_owned(), |class| class.to_string());
            let message =
                format!("{} does not suit the change, which is {class}", step.action.verb());
            findings.about_step(Rule::ConfigReboot, step, message, "make a new plan");
        }
    }

    /// A machine that Talos is installed on has the disk for it.
    fn disk(
        &self,
        step: &Step,
        facts: &MachineFacts,
        rendering: &Rendering,
        findings: &mut Findings,
    ) {
        let disks = facts.disks.current(self.against.inventory.taken);
        let missing = disks.and_then(|disks| rendering.disk.missing(disks));
        if let (Action::ApplyConfig { mode: ApplyMode::Maintenance, .. }, Some(why)) =
            (&step.action, missing)
        {
            let message = format!("{}: {why}", step.machine);
            let hint = "`ichor disks --insecure` shows what there is; name one of them";
            findings.about_step(Rule::InstallDisk, step, message, hint);
        }
    }

    fn windows(&self, step: &Step, findings: &mut Findings) {
        let windows = &self.against.spec.policy.windows;
        let waits = step.gates.iter().any(|gate| {
            let Gate::Windows(given) = gate;
            given == windows
        });
        if step.action.is_disruptive() && !windows.is_empty() && !waits {
            let message = format!("{} would be disturbed outside the windows", step.machine);
            let hint = "make a new plan, or use --override window.missing";
            findings.about_step(Rule::WindowMissing, step, message, hint);
        }
    }
}

/// A machine keeps its role, and its Kubernetes.
fn keeps(step: &Step, rendering: &Rendering, findings: &mut Findings) {
    let machine = &step.machine;
    let Some(change) = &rendering.change else { return };
    if change.changes_role {
        let message = format!("{machine} would change between control plane and worker");
        let hint = "remove it from the cluster and add it again in its new role";
        findings.about_machine(Rule::ConfigRole, machine, message, hint);
    }
    if change.changes_kubernetes {
        let message = format!(
            "{machine} would get another release of Kubernetes by a mere change of its files"
        );
        let hint = "`ichor upgrade k8s` does it in the right order";
        findings.about_machine(Rule::ConfigKubernetes, machine, message, hint);
    }
}

pub(super) fn complete(step: &Step, findings: &mut Findings) {
    let empty = |text: &str| text.trim().is_empty();
    let missing = if step.time_out.duration().is_zero() {
        "a time-out"
    } else if empty(&step.leaves) {
        "what it leaves behind"
    } else if empty(&step.recovery) {
        "a recovery command"
    } else {
        return;
    };
    findings.about_step(
        Rule::StepIncomplete,
        step,
        format!("it lacks {missing}"),
        "make a new plan",
    );
}
