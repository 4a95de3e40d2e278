//! `ichor history`: what the journal says.

use std::fmt;

use engine::journal::{Entry, Journal as _, Record};
use serde::Serialize;

use crate::args::HistoryArgs;
use crate::directory::Directory;
use crate::moment::Moment;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::table::Table;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &HistoryArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let directory = Directory::open(&surroundings.place).await?;
    let records = directory.journal.read().await.map_err(engine::Error::from)?;
    printer.value(&History(records), args.shown.output)
}

#[derive(Serialize)]
#[serde(transparent)]
struct History(Vec<Record>);

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["NUMBER", "TIME", "PLAN", "WHAT"];
        let mut table = Table::new(head.map(str::to_owned).to_vec());
        for Record { number, at, entry } in &self.0 {
            let (plan, what) = match entry {
                Entry::Approved(approval) => {
                    (Some(approval.plan), format!("approved by {}", approval.by))
                }
                Entry::Taken { plan, holder } => (Some(*plan), format!("begun by {holder}")),
                Entry::Intended { plan, step, what } => {
                    (Some(*plan), format!("step {step}: {what}"))
                }
                Entry::Did { plan, step } => (Some(*plan), format!("step {step} done")),
                Entry::Failed { plan, step, code, message } => {
                    (Some(*plan), format!("step {step} failed[{code}]: {message}"))
                }
                Entry::Configuring { machine } => {
                    (None, format!("{machine} is about to get its configuration"))
                }
                Entry::Recorded { machine, node } => (None, format!("{machine} is node {node}")),
                Entry::Ended { plan, complete: true } => (Some(*plan), "complete".to_owned()),
                Entry::Ended { plan, complete: false } => (Some(*plan), "stopped".to_owned()),
                Entry::Cancelled { plan } => (Some(*plan), "given up".to_owned()),
            };
            table.push(vec![
                number.to_string(),
                Moment::from_seconds(at.0).to_string(),
                plan.map(|plan| plan.short()).unwrap_or_default(),
                what,
            ]);
        }
        table.fmt(f)
    }
}
