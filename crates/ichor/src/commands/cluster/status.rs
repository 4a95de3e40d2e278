//! `ichor status`: the machines of a cluster and their state.

use std::time::Duration;

use super::interactive::count;
use super::named::named;
use super::status_report::{Status, observe_status};
use crate::args::OutputFormat;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    settings: &settings::Status,
    live: &LiveCluster,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    tell_asking(live, settings, printer);
    Ok(show_status(live, settings, printer, false).await?.reached())
}

/// Shows the status, repeatedly with `--watch`; with the components of machines if requested.
pub(super) async fn show_status(
    live: &LiveCluster,
    settings: &settings::Status,
    printer: &mut Printer,
    with_components: bool,
) -> Result<Status, Error> {
    let machines = named(&live.directory, &settings.machines)?;
    loop {
        let status = observe_status(live, &machines, with_components).await?;
        match settings.output {
            OutputFormat::Table if settings.watch => printer.screen(&status.live())?,
            output if settings.watch => drop(printer.item(&status, output)?),
            output => drop(printer.value(&status, output)?),
        }
        if !settings.watch {
            return Ok(status);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

pub(super) fn tell_asking(live: &LiveCluster, settings: &settings::Status, printer: &mut Printer) {
    let machines = match settings.machines.len() {
        0 => live.directory.cluster.spec.machines().count(),
        named => named,
    };
    printer.progress(&format!("asking {}", count(machines, "machine")));
}

/// Often enough to see a machine boot.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(2);
