//! `ichor status`: the machines of a cluster and their state.

use std::time::Duration;

use super::status_report::{Status, observe_status};
use crate::args::OutputFormat;
use crate::args::cluster::StatusArgs;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &StatusArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let live = LiveCluster::open(environment).await?;
    printer
        .progress(&format!("asking {} machines", live.directory.cluster.spec.machines().count()));
    Ok(show_status(&live, args, printer, false).await?.reached())
}

/// Shows the cluster, over and over where somebody keeps looking; with what runs on its machines where that is asked for.
pub(super) async fn show_status(
    live: &LiveCluster,
    args: &StatusArgs,
    printer: &mut Printer,
    with_components: bool,
) -> Result<Status, Error> {
    loop {
        let status = observe_status(live, with_components).await?;
        match args.output.format {
            OutputFormat::Table if args.watch => printer.screen(&status.live())?,
            output if args.watch => drop(printer.item(&status, output)?),
            output => drop(printer.value(&status, output)?),
        }
        if !args.watch {
            return Ok(status);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Often enough to see a machine boot.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(2);
