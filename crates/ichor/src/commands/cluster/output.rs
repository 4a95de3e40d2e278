//! The data that cluster commands give to programs, beside those of `status`, `diff` and refusals. Names of fields, codes and
//! identifiers are a public interface; what is not known is null, and times are RFC 3339.

use engine::journal::{Entry, Record};
use engine::{Failure, Report};
use plan::{ClusterSpec, Goal, Skipped, Target};
use serde::Serialize;
use serde_json::{Value, json};

use super::refusal::address;
use crate::json_schema::{JsonSchema, schema, words};
use crate::timestamp::Timestamp;

/// A reason.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(super) struct Cause {
    /// Null for a target that no rule keeps out.
    pub(super) code: Option<String>,
    pub(super) message: String,
}

schema!(Cause, plain { code, message });

impl Cause {
    pub(super) fn new(code: &str, message: String) -> Self {
        Self { code: Some(code.to_owned()), message }
    }
}

/// A target that a plan leaves out.
#[derive(Debug, Serialize)]
pub(super) struct SkippedTarget {
    on: Target,
    address: Option<String>,
    reason: Cause,
}

impl SkippedTarget {
    pub(super) fn new(skipped: &Skipped, spec: &ClusterSpec) -> Self {
        let Skipped { on, rule, why } = skipped;
        Self {
            on: on.clone(),
            address: on.machine().and_then(|name| address(spec, name)),
            reason: Cause { code: rule.clone(), message: why.clone() },
        }
    }
}

/// The output of `plan` where there is no plan.
#[derive(Debug, Serialize)]
pub(super) struct NoPlan {
    /// Always null. A plan file has its plan here.
    plan: Option<()>,
    cluster: String,
    /// Empty: there is nothing to do. Otherwise nothing can be done for now.
    skipped: Vec<SkippedTarget>,
}

schema!(SkippedTarget, plain { on, address, reason });

impl JsonSchema for NoPlan {
    fn json_schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "plan": {"type": "null"},
                "cluster": {"type": "string"},
                "skipped": Vec::<SkippedTarget>::json_schema(),
            },
            "required": ["plan", "cluster", "skipped"],
            "additionalProperties": false,
        })
    }
}

impl NoPlan {
    pub(super) fn new(spec: &ClusterSpec, skipped: &[Skipped]) -> Self {
        let skipped = skipped.iter().map(|skipped| SkippedTarget::new(skipped, spec));
        Self { plan: None, cluster: spec.cluster.to_string(), skipped: skipped.collect() }
    }
}

/// The last item of the output of `apply`, `resume` and `destroy`, after the events.
#[derive(Debug, Serialize)]
#[serde(rename = "result", rename_all = "camelCase", tag = "event")]
pub(super) struct RunResult {
    outcome: RunOutcome,
    plan: Option<String>,
    /// Number of steps.
    done: usize,
    /// Number of steps.
    not_done: usize,
    failures: Vec<FailedStep>,
    skipped: Vec<SkippedTarget>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum RunOutcome {
    NothingToDo,
    Blocked,
    Complete,
    Incomplete,
    Interrupted,
}

#[derive(Debug, Serialize)]
struct FailedStep {
    step: u32,
    on: Target,
    reason: Cause,
    leaves: String,
    recovery: String,
}

impl RunResult {
    pub(super) fn nothing_to_do() -> Self {
        Self {
            outcome: RunOutcome::NothingToDo,
            plan: None,
            done: 0,
            not_done: 0,
            failures: Vec::new(),
            skipped: Vec::new(),
        }
    }

    pub(super) fn blocked(skipped: &[Skipped], spec: &ClusterSpec) -> Self {
        let skipped = skipped.iter().map(|skipped| SkippedTarget::new(skipped, spec)).collect();
        Self { outcome: RunOutcome::Blocked, skipped, ..Self::nothing_to_do() }
    }

    pub(super) fn new(report: &Report, spec: &ClusterSpec) -> Self {
        let failures = report.failures.iter().map(|failure| {
            let Failure { step, on, error, leaves, recovery } = failure;
            FailedStep {
                step: step.0,
                on: on.clone(),
                reason: Cause::new(error.code, error.to_string()),
                leaves: leaves.clone(),
                recovery: recovery.clone(),
            }
        });
        let skipped = report.skipped.iter().map(|skipped| SkippedTarget::new(skipped, spec));
        Self {
            outcome: match report.is_complete() {
                _ if report.stopped => RunOutcome::Interrupted,
                true => RunOutcome::Complete,
                false => RunOutcome::Incomplete,
            },
            plan: Some(report.plan.to_string()),
            done: report.done.len(),
            not_done: report.failures.len() + report.left.len(),
            failures: failures.collect(),
            skipped: skipped.collect(),
        }
    }
}

/// A record of the journal. Each kind of event has the fields that concern it.
#[derive(Debug, Default, Serialize)]
pub(super) struct HistoryRecord {
    pub(super) number: u64,
    pub(super) at: Timestamp,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plan: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<Goal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fencing: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<Target>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// The event for people.
    #[serde(skip)]
    pub(super) text: String,
}

schema!(HistoryRecord, plain { number, at, event }
    optional { plan, goal, by, holder, fencing, step, action, on, reason, generation, node, member, complete }
    skip { text });
words!(Goal { Spec, Destroyed });

impl JsonSchema for Target {
    /// The cluster, or one part of it by its name.
    fn json_schema() -> Value {
        json!({"type": ["object", "string"]})
    }
}

impl From<&Record> for HistoryRecord {
    fn from(record: &Record) -> Self {
        let Record { number, at, entry } = record;
        let at = Timestamp::from_seconds(at.0);
        Self { number: *number, at, ..Self::of(entry) }
    }
}

impl HistoryRecord {
    #[expect(clippy::too_many_lines, reason = "an arm for each entry")]
    fn of(entry: &Entry) -> Self {
        let of_machine = |event, machine: &plan::MachineName, text: String| Self {
            event,
            on: Some(machine.into()),
            text: format!("{machine}{text}"),
            ..Self::default()
        };
        let of_plan = |event, plan: &plan::Digest, text: &str| Self {
            event,
            plan: Some(plan.to_string()),
            text: text.to_owned(),
            ..Self::default()
        };
        match entry {
            Entry::PlanApproved(approval) => {
                let text = format!("approved by {}", approval.by);
                let by = Some(approval.by.clone());
                Self { by, ..of_plan("plan-approved", &approval.plan, &text) }
            }
            Entry::PlanStarted { plan, goal, holder, fencing } => {
                let end = match goal {
                    Goal::Destroyed => " the destruction of the cluster",
                    Goal::Spec => "",
                };
                let lease = fencing.map_or(String::new(), |number| format!(", lease {number}"));
                Self {
                    goal: Some(*goal),
                    holder: Some(holder.clone()),
                    fencing: *fencing,
                    ..of_plan("plan-started", plan, &format!("started{end} by {holder}{lease}"))
                }
            }
            Entry::StepStarted { plan, step, action, on, effect: _ } => Self {
                step: Some(step.0),
                action: Some(action.clone()),
                on: Some(on.clone()),
                ..of_plan("step-started", plan, &format!("step {step}: {action} {on}"))
            },
            Entry::StepDone { plan, step } => {
                let step_number = Some(step.0);
                Self {
                    step: step_number,
                    ..of_plan("step-done", plan, &format!("step {step} done"))
                }
            }
            Entry::StepFailed { plan, step, code, message } => Self {
                step: Some(step.0),
                reason: Some(Cause::new(code, message.clone())),
                ..of_plan("step-failed", plan, &format!("step {step} failed[{code}]: {message}"))
            },
            Entry::MachineConfiguring { machine } => {
                of_machine("machine-configuring", machine, ": sending its configuration".to_owned())
            }
            Entry::MachineRejected { machine } => {
                of_machine("machine-rejected", machine, " rejected its configuration".to_owned())
            }
            Entry::MachineRecorded { machine, node, member } => {
                let etcd = member.map_or(String::new(), |id| format!(", etcd member {id}"));
                Self {
                    node: Some(node.to_string()),
                    member: member.map(|member| member.to_string()),
                    ..of_machine("machine-recorded", machine, format!(" is node {node}{etcd}"))
                }
            }
            Entry::MachineResetting { machine } => {
                of_machine("machine-resetting", machine, ": resetting".to_owned())
            }
            Entry::MachineProviding { machine, generation } => Self {
                generation: Some(*generation),
                ..of_machine(
                    "machine-providing",
                    machine,
                    format!(", generation {generation}: providing"),
                )
            },
            Entry::MachineDestroying { machine, generation } => Self {
                generation: Some(*generation),
                ..of_machine(
                    "machine-destroying",
                    machine,
                    format!(", generation {generation}: destroying"),
                )
            },
            Entry::MachineDestroyed { machine, generation } => Self {
                generation: Some(*generation),
                ..of_machine(
                    "machine-destroyed",
                    machine,
                    format!(", generation {generation}, was destroyed"),
                )
            },
            Entry::EtcdBootstrapping { machine } => {
                of_machine("etcd-bootstrapping", machine, ": bootstrapping etcd".to_owned())
            }
            Entry::MachineForgotten { machine } => {
                of_machine("machine-forgotten", machine, " was reset".to_owned())
            }
            Entry::PlanEnded { plan, complete } => {
                let text = if *complete { "complete" } else { "stopped" };
                Self { complete: Some(*complete), ..of_plan("plan-ended", plan, text) }
            }
            Entry::CancelRequested { plan } => of_plan("cancel-requested", plan, "asked to stop"),
            Entry::PlanCancelled { plan } => of_plan("plan-cancelled", plan, "abandoned"),
        }
    }
}
