//! `ichor containers`: what runs in containers.

use serde::Serialize;
use talos_api::proto::common::ContainerDriver;
use talos_api::proto::machine::{ContainerInfo, ContainersRequest};
use talos_api::{Node, NodeError};

use crate::args::inspect::ContainersArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Container>>::json_schema;

pub(super) async fn run(
    args: &ContainersArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let (namespace, driver) = namespace_and_driver(args.kubernetes);
    let ask = move |node: Node| async move {
        let request = ContainersRequest { namespace: namespace.to_owned(), driver: driver.into() };
        let reply = node.retrying(|node| {
            let request = request.clone();
            async move { node.call(node.machine().containers(request)).await }
        });
        Ok::<_, NodeError>(node.single_reply(reply.await?.messages)?.containers)
    };
    let rows = |mut containers: Vec<ContainerInfo>| {
        containers.sort_by(|one, other| one.id.cmp(&other.id));
        containers.into_iter().map(Container::from).collect()
    };
    nodes.call_each(ask).await.show::<Container>(rows, args.output.format, printer)
}

/// Returns namespace and driver of the containers of Kubernetes, or of those of Talos.
pub(super) fn namespace_and_driver(kubernetes: bool) -> (&'static str, ContainerDriver) {
    if kubernetes {
        ("k8s.io", ContainerDriver::Cri)
    } else {
        ("system", ContainerDriver::Containerd)
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    namespace: String,
    id: String,
    image: String,
    pid: u32,
    status: String,
    pod_id: String,
    name: String,
    network_namespace: String,
    internal_id: String,
    uid: String,
}

schema!(
    Container,
    camel { namespace, id, image, pid, status, pod_id, name, network_namespace, internal_id, uid }
);

impl From<ContainerInfo> for Container {
    fn from(info: ContainerInfo) -> Self {
        let ContainerInfo {
            namespace,
            id,
            image,
            pid,
            status,
            pod_id,
            name,
            network_namespace,
            internal_id,
            uid,
        } = info;
        Self {
            namespace,
            id,
            image,
            pid,
            status,
            pod_id,
            name,
            network_namespace,
            internal_id,
            uid,
        }
    }
}

impl Row for Container {
    const COLUMNS: &'static [&'static str] = &["NAMESPACE", "ID", "IMAGE", "PID", "STATUS"];

    fn cells(&self) -> Vec<String> {
        let Self { namespace, id, pod_id, image, pid, status, .. } = self;
        vec![
            namespace.clone(),
            indented(id, pod_id),
            image.clone(),
            pid.to_string(),
            status.clone(),
        ]
    }
}

/// A container stands below its sandbox.
pub(super) fn indented(id: &str, pod_id: &str) -> String {
    if id == pod_id { id.to_owned() } else { format!("└─ {id}") }
}
