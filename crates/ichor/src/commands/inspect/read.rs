//! `ichor read`: what a file on a machine holds.

use talos_api::proto::machine::ReadRequest;

use crate::args::inspect::ReadArgs;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &ReadArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let request = ReadRequest { path: args.path.clone() };
    let read = |node: talos_api::Node| async move { node.machine().read(request).await };
    let mut stream = nodes.single("read")?.open(read).await?;
    while let Some(bytes) = stream.bytes().await? {
        printer.bytes(&bytes)?;
    }
    Ok(ExitStatus::Done)
}
