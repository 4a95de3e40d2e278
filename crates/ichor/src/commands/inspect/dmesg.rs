//! `ichor dmesg`: what the kernels of machines say.

use talos_api::Node;
use talos_api::proto::machine::DmesgRequest;

use super::lines;
use crate::args::inspect::DmesgArgs;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &DmesgArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let request = DmesgRequest { follow: args.follow, tail: args.tail };
    let open = move |node: Node| async move {
        node.open(|node| async move { node.machine().dmesg(request).await }).await
    };
    lines::show(&nodes, args.follow, open, printer).await
}
