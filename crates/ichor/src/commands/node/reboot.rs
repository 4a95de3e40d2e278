//! `ichor node reboot`: machines boot again, one after the other.

use talos_api::Feature;
use talos_api::proto::machine::RebootRequest;
use talos_api::proto::machine::reboot_request::Mode;

use super::Deed;
use crate::args::{Reboot, RebootMode};
use crate::machines::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &Reboot,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.reach, surroundings)?;
    let deed = Deed { verb: "reboot", sure: Some(args.sure), surroundings };
    let mode = match args.mode {
        RebootMode::Default => Mode::Default,
        RebootMode::Powercycle => Mode::Powercycle,
        RebootMode::Force => Mode::Force,
    };
    let act = async |node: &talos_api::Node, printer: &mut Printer| {
        if mode == Mode::Force {
            node.require(Feature::ForcedReboot).await?;
        }
        let before = node.boot_id().await?;
        let request = RebootRequest { mode: mode.into() };
        node.call(node.machine().reboot(request)).await?;
        printer.note(&format!("{}: reboots", node.name()));
        let _ = before;
        Ok(())
    };
    deed.to_each(&machines, printer, act).await
}
