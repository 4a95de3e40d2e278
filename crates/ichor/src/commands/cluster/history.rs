//! `ichor history`: what the journal says.

use std::fmt;

use engine::journal::{Entry, Journal as _, Record};
use plan::Goal;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::directory::{OpenedDirectory, STATE};
use crate::json_schema::{JsonSchema, SchemaOf, schema};
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings;
use crate::table::Table;
use crate::timestamp::Timestamp;
use crate::{Error, ExitStatus, audit};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Vec<Line<'_>>>::json_schema;

pub(super) async fn run(
    settings: &settings::History,
    live: &LiveCluster,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let directory = &live.directory;
    if settings.verify {
        return verify(directory, printer).await;
    }
    let records = directory.journal.read().await.map_err(engine::Error::from)?;
    printer.value(&History(&records), settings.output)
}

/// Checks that neither the journal nor the audit log was changed.
async fn verify(directory: &OpenedDirectory, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let records = directory.journal.verify().await.map_err(engine::Error::from)?;
    match audit::verify(&directory.root.join(STATE))? {
        Ok(lines) => {
            printer.note(&format!(
                "journal: {records} records, unmodified; audit log: {lines} lines, unmodified"
            ));
            Ok(ExitStatus::Done)
        }
        Err(line) => Err(Error::AuditChanged(line)),
    }
}

struct History<'a>(&'a [Record]);

/// A record with its time as all commands print times.
#[derive(Serialize)]
struct Line<'a> {
    number: u64,
    at: Timestamp,
    entry: &'a Entry,
}

schema!(Line<'_>, plain { number, at, entry });

impl JsonSchema for &Entry {
    /// The name of what happened, with what belongs to it.
    fn json_schema() -> Value {
        json!({"type": "object", "additionalProperties": {"type": "object"}})
    }
}

impl Serialize for History<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|Record { number, at, entry }| Line {
            number: *number,
            at: Timestamp::from_seconds(at.0),
            entry,
        }))
    }
}

impl fmt::Display for History<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["NUMBER", "TIME", "PLAN", "WHAT"];
        let mut table = Table::new(head.map(str::to_owned).to_vec());
        for Record { number, at, entry } in self.0 {
            let (plan, what) = match entry {
                Entry::PlanApproved(approval) => {
                    (Some(approval.plan), format!("approved by {}", approval.by))
                }
                Entry::PlanStarted { plan, goal, holder, fencing } => {
                    let end = if *goal == Goal::Destroyed {
                        " the destruction of the cluster"
                    } else {
                        ""
                    };
                    let lease = fencing.map_or(String::new(), |number| format!(", lease {number}"));
                    (Some(*plan), format!("started{end} by {holder}{lease}"))
                }
                Entry::StepStarted { plan, step, verb, on, effect: _ } => {
                    (Some(*plan), format!("step {step}: {verb} {on}"))
                }
                Entry::StepDone { plan, step } => (Some(*plan), format!("step {step} done")),
                Entry::StepFailed { plan, step, code, message } => {
                    (Some(*plan), format!("step {step} failed[{code}]: {message}"))
                }
                Entry::MachineConfiguring { machine } => {
                    (None, format!("{machine}: sending its configuration"))
                }
                Entry::MachineRejected { machine } => {
                    (None, format!("{machine} rejected its configuration"))
                }
                Entry::MachineRecorded { machine, node, member: None } => {
                    (None, format!("{machine} is node {node}"))
                }
                Entry::MachineRecorded { machine, node, member: Some(member) } => {
                    (None, format!("{machine} is node {node}, etcd member {member}"))
                }
                Entry::MachineResetting { machine } => (None, format!("{machine}: resetting")),
                Entry::MachineProviding { machine, generation } => {
                    (None, format!("{machine}, generation {generation}: providing"))
                }
                Entry::MachineDestroying { machine, generation } => {
                    (None, format!("{machine}, generation {generation}: destroying"))
                }
                Entry::MachineDestroyed { machine, generation } => {
                    (None, format!("{machine}, generation {generation}, was destroyed"))
                }
                Entry::EtcdBootstrapping { machine } => {
                    (None, format!("{machine}: bootstrapping etcd"))
                }
                Entry::MachineForgotten { machine } => (None, format!("{machine} was reset")),
                Entry::PlanEnded { plan, complete: true } => (Some(*plan), "complete".to_owned()),
                Entry::PlanEnded { plan, complete: false } => (Some(*plan), "stopped".to_owned()),
                Entry::CancelRequested { plan } => (Some(*plan), "asked to stop".to_owned()),
                Entry::PlanCancelled { plan } => (Some(*plan), "abandoned".to_owned()),
            };
            table.push(vec![
                number.to_string(),
                Timestamp::from_seconds(at.0).to_string(),
                plan.map(|plan| plan.short()).unwrap_or_default(),
                what,
            ]);
        }
        table.fmt(f)
    }
}
