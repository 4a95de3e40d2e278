//! `ichor logs`: what services and containers write.

use serde::Serialize;
use talos_api::proto::common::{ContainerDriver, Data};
use talos_api::proto::machine::LogsRequest;
use talos_api::{Node, NodeError, Stream};

use super::lines;
use crate::args::OutputFormat;
use crate::args::inspect::LogsArgs;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::Row;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &LogsArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let Some(id) = args.id.clone() else {
        let names = |ids: Vec<String>| ids.into_iter().map(|id| Log { id }).collect();
        return nodes.call_each(names_of_logs).await.show(names, OutputFormat::Table, printer);
    };
    let (namespace, driver) = if args.kubernetes {
        ("k8s.io", ContainerDriver::Cri)
    } else {
        ("system", ContainerDriver::Containerd)
    };
    let request = LogsRequest {
        namespace: namespace.to_owned(),
        id,
        driver: driver.into(),
        follow: args.follow,
        tail_lines: args.tail,
    };
    let open = move |node: Node| {
        let request = request.clone();
        async move { open(&node, request).await }
    };
    lines::show(&nodes, args.follow, open, printer).await
}

async fn open(node: &Node, request: LogsRequest) -> Result<Stream<Data>, NodeError> {
    node.open(|node| async move { node.machine().logs(request).await }).await
}

async fn names_of_logs(node: Node) -> Result<Vec<String>, NodeError> {
    let reply =
        node.retrying(|node| async move { node.call(node.machine().logs_containers(())).await });
    let mut ids = node.single_reply(reply.await?.messages)?.ids;
    ids.sort();
    Ok(ids)
}

#[derive(Serialize)]
struct Log {
    id: String,
}

impl Row for Log {
    const COLUMNS: &'static [&'static str] = &["LOG"];

    fn cells(&self) -> Vec<String> {
        vec![self.id.clone()]
    }
}
