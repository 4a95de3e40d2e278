//! `ichor dmesg`: what the kernels of machines say.

use talos_api::Node;
use talos_api::proto::machine::DmesgRequest;

use super::lines;
use crate::args::inspect::DmesgArgs;
use crate::nodes::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &DmesgArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.connection, surroundings)?;
    let request = DmesgRequest { follow: args.follow, tail: args.tail };
    let open = move |node: Node| async move {
        node.open(|node| async move { node.machine().dmesg(request).await }).await
    };
    lines::show(&machines, args.follow, open, printer).await
}
