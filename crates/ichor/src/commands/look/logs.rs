//! `ichor logs`: what services and containers write.

use talos_api::proto::common::{ContainerDriver, Data};
use talos_api::proto::machine::LogsRequest;
use talos_api::{Node, NodeError, Stream};

use super::lines;
use crate::args::Logs;
use crate::machines::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &Logs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.reach, surroundings)?;
    let (namespace, driver) = if args.kubernetes {
        ("k8s.io", ContainerDriver::Cri)
    } else {
        ("system", ContainerDriver::Containerd)
    };
    let request = LogsRequest {
        namespace: namespace.to_owned(),
        id: args.id.clone(),
        driver: driver.into(),
        follow: args.follow,
        tail_lines: args.tail,
    };
    let open = move |node: Node| {
        let request = request.clone();
        async move { open(&node, request).await }
    };
    lines::show(&machines, args.follow, open, printer).await
}

async fn open(node: &Node, request: LogsRequest) -> Result<Stream<Data>, NodeError> {
    node.open(|node| async move { node.machine().logs(request).await }).await
}
