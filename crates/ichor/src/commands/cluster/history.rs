//! `ichor history`: what the journal says.

use std::fmt;

use engine::journal::Journal as _;
use serde::Serialize;

use super::output::HistoryRecord;
use crate::args::OutputFormat;
use crate::directory::{OpenedDirectory, STATE};
use crate::json_schema::{JsonSchema as _, SchemaOf};
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings;
use crate::table::Table;
use crate::{Error, ExitStatus, audit};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Vec<HistoryRecord>>::json_schema;

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
    if records.is_empty() && settings.output == OutputFormat::Table {
        printer.note("nothing was done in this directory yet");
        return Ok(ExitStatus::Done);
    }
    let history = History(records.iter().map(HistoryRecord::from).collect());
    printer.value(&history, settings.output)
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

#[derive(Serialize)]
#[serde(transparent)]
struct History(Vec<HistoryRecord>);

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["NUMBER", "TIME", "PLAN", "WHAT"];
        let mut table = Table::new(head.map(str::to_owned).to_vec());
        for HistoryRecord { number, at, plan, text, .. } in &self.0 {
            let plan =
                plan.as_ref().map_or_else(String::new, |plan| plan.chars().take(12).collect());
            table.push(vec![number.to_string(), at.to_string(), plan, text.clone()]);
        }
        table.fmt(f)
    }
}
