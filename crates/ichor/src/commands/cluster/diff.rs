//! `ichor diff` without files: what the machines have beside what they should have.

use std::fmt;

use engine::compare_live;
use plan::{ConfigChange, MachineName};
use serde::Serialize;

use super::interactive::NonInteractive;
use crate::args::OutputFormat;
use crate::commands::files::diff::{Report, Row};
use crate::json_schema::{JsonSchema, SchemaOf, schema};
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
    let machine = |name: &String| live.directory.machine(name).map(|machine| &machine.name);
    let unknown = names.iter().find(|name| machine(name).is_none());
    if let Some(unknown) = unknown {
        let known: Vec<&str> = spec.machines().map(|(machine, _)| machine.name.as_str()).collect();
        return Err(Error::Usage {
            message: format!("the cluster has no machine {unknown:?}"),
            hint: format!("it has {}", known.join(", ")),
        });
    }
    let wanted: Vec<&MachineName> = names.iter().filter_map(machine).collect();
    let ports = live.ports(&NonInteractive, &NonInteractive);
    let mut compared = compare_live(&live.directory.cluster, &ports).await?;
    let mut differences = Live(Vec::new());
    for (machine, _) in spec.machines() {
        let meant = names.is_empty() || wanted.contains(&&machine.name);
        if let Some(compared) = compared.remove(&machine.name).filter(|_| meant) {
            differences.0.push(Machine::new(machine.name.to_string(), compared));
        }
    }
    if *output == OutputFormat::Table {
        for Machine { machine, not_compared, .. } in &differences.0 {
            if let Some(why) = not_compared {
                printer.note(&format!("{machine}: {why}"));
            }
        }
    }
    let differs = differences.0.iter().any(|machine| !machine.differences.0.is_empty());
    if differs || *output != OutputFormat::Table {
        printer.value(&differences, *output)?;
    }
    Ok(if differences.0.iter().all(|machine| machine.not_compared.is_some()) {
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
    change: Option<String>,
    differences: Report,
    /// Reason why nothing could be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<String>,
}

schema!(Machine, camel { machine, change, differences } optional { not_compared });

impl Machine {
    fn new(machine: String, compared: engine::Compared) -> Self {
        match compared {
            Ok(ConfigChange { class, fields, .. }) => Self {
                machine,
                change: Some(class.to_string()),
                differences: Report(fields.into_iter().map(Row::from).collect()),
                not_compared: None,
            },
            Err(why) => {
                let differences = Report(Vec::new());
                Self { machine, change: None, differences, not_compared: Some(why) }
            }
        }
    }
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differing = self.0.iter().filter(|machine| !machine.differences.0.is_empty());
        for (index, Machine { machine, change, differences, .. }) in differing.enumerate() {
            let begin = if index == 0 { "" } else { "\n\n" };
            write!(f, "{begin}{machine} ({})", change.as_deref().unwrap_or_default())?;
            for line in differences.to_string().lines() {
                write!(f, "\n  {line}")?;
            }
        }
        Ok(())
    }
}
