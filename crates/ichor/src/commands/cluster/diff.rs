//! `ichor diff` without files: what the machines have beside what they should have.

use std::fmt;

use engine::{NotCompared, compare_live};
use plan::{ConfigChange, RebootClass};
use serde::Serialize;

use super::interactive::NonInteractive;
use super::named::named;
use super::output::Cause;
use super::status_report::State;
use crate::args::OutputFormat;
use crate::commands::files::diff::{Report, Row};
use crate::json_schema::{JsonSchema, SchemaOf, schema, words};
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::Diff;
use crate::{Error, ExitStatus};

/// Schema of what is printed: for each machine.
pub(in crate::commands) const SCHEMA: SchemaOf = <Vec<Machine>>::json_schema;

/// Compares the machines that are named, or all of them.
pub(super) async fn run(
    settings: &Diff,
    live: &LiveCluster,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let Diff { machines: names, output } = settings;
    let spec = &live.directory.cluster.spec;
    let wanted = named(&live.directory, names)?;
    let ports = live.ports(&NonInteractive, &NonInteractive);
    let mut compared = compare_live(&live.directory.cluster, &ports).await?;
    let mut differences = Live(Vec::new());
    for (machine, _) in spec.machines() {
        let meant = wanted.is_empty() || wanted.contains(&machine.name);
        if let Some(compared) = compared.remove(&machine.name).filter(|_| meant) {
            differences.0.push(Machine::new(machine.name.to_string(), compared));
        }
    }
    if *output == OutputFormat::Table {
        for Machine { machine, not_compared, .. } in &differences.0 {
            if let Some(Cause { message, .. }) = not_compared {
                printer.reason(&format!("{machine}: {message}"));
            }
        }
    }
    let differs = differences.0.iter().any(|machine| !machine.differences.0.is_empty());
    if differs || *output != OutputFormat::Table {
        printer.value(&differences, *output)?;
    }
    Ok(if differences.0.iter().all(|machine| machine.is_unreachable) {
        ExitStatus::Unreachable
    } else if differences.0.iter().any(|machine| machine.not_compared.is_some()) {
        ExitStatus::Failed
    } else if differs {
        ExitStatus::Pending
    } else {
        ExitStatus::Done
    })
}

#[derive(Serialize)]
#[serde(transparent)]
struct Live(Vec<Machine>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Machine {
    machine: String,
    /// Reboot class of the change.
    change: Option<RebootClass>,
    differences: Report,
    /// Reason why nothing could be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<Cause>,
    #[serde(skip)]
    is_unreachable: bool,
}

words!(RebootClass { Nothing, WithoutReboot, WithReboot });
schema!(Machine, camel { machine, change, differences } optional { not_compared } skip { is_unreachable });

impl Machine {
    fn new(machine: String, compared: engine::Compared) -> Self {
        match compared {
            Ok(ConfigChange { class, fields, .. }) => Self {
                machine,
                change: Some(class),
                differences: Report(fields.into_iter().map(Row::from).collect()),
                not_compared: None,
                is_unreachable: false,
            },
            Err(NotCompared { ownership, why }) => Self {
                machine,
                change: None,
                differences: Report(Vec::new()),
                not_compared: Some(Cause::new(State::of(ownership.as_ref()).code(), why)),
                is_unreachable: ownership.is_none(),
            },
        }
    }
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differing = self.0.iter().filter(|machine| !machine.differences.0.is_empty());
        for (index, Machine { machine, change, differences, .. }) in differing.enumerate() {
            let begin = if index == 0 { "" } else { "\n\n" };
            write!(f, "{begin}{machine}")?;
            if let Some(change) = change {
                write!(f, " ({change})")?;
            }
            for line in differences.to_string().lines() {
                write!(f, "\n  {line}")?;
            }
        }
        Ok(())
    }
}
