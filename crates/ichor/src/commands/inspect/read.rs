//! `ichor read`: what a file on a machine holds.

use talos_api::proto::machine::ReadRequest;

use crate::args::inspect::ReadArgs;
use crate::nodes::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &ReadArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.connection, surroundings)?;
    let request = ReadRequest { path: args.path.clone() };
    let read = |node: talos_api::Node| async move { node.machine().read(request).await };
    let mut stream = machines.only("read")?.open(read).await?;
    while let Some(bytes) = stream.bytes().await? {
        printer.bytes(&bytes)?;
    }
    Ok(ExitStatus::Done)
}
