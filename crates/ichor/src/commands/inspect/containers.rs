//! `ichor containers` and `ichor stats`: what runs in containers, and what it uses.

use serde::Serialize;
use talos_api::proto::common::ContainerDriver;
use talos_api::proto::machine::{ContainerInfo, ContainersRequest, Stat, StatsRequest};
use talos_api::{Node, NodeError};

use crate::args::inspect::{ContainersArgs, StatsArgs};
use crate::nodes::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::table::Row;
use crate::{Error, ExitStatus};

pub(super) async fn list(
    args: &ContainersArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.connection, surroundings)?;
    let (namespace, driver) = of(args.kubernetes);
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
    machines.ask(ask).await.show::<Container>(rows, args.output.format, printer)
}

pub(super) async fn stats(
    args: &StatsArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.connection, surroundings)?;
    let (namespace, driver) = of(args.kubernetes);
    let ask = move |node: Node| async move {
        let request = StatsRequest { namespace: namespace.to_owned(), driver: driver.into() };
        let reply = node.retrying(|node| {
            let request = request.clone();
            async move { node.call(node.machine().stats(request)).await }
        });
        Ok::<_, NodeError>(node.single_reply(reply.await?.messages)?.stats)
    };
    let rows = |mut stats: Vec<Stat>| {
        stats.sort_by(|one, other| one.id.cmp(&other.id));
        stats.into_iter().map(Usage::from).collect()
    };
    machines.ask(ask).await.show::<Usage>(rows, args.output.format, printer)
}

/// Which containers are meant: those of Talos itself, or those of Kubernetes.
fn of(kubernetes: bool) -> (&'static str, ContainerDriver) {
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

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    namespace: String,
    id: String,
    pod_id: String,
    name: String,
    /// In bytes.
    memory: u64,
    /// In nanoseconds since the container began.
    cpu: u64,
}

impl From<Stat> for Usage {
    fn from(stat: Stat) -> Self {
        let Stat { namespace, id, memory_usage: memory, cpu_usage: cpu, pod_id, name } = stat;
        Self { namespace, id, pod_id, name, memory, cpu }
    }
}

impl Row for Usage {
    const COLUMNS: &'static [&'static str] = &["NAMESPACE", "ID", "MEMORY(MB)", "CPU"];

    fn cells(&self) -> Vec<String> {
        let Self { namespace, id, pod_id, memory, cpu, .. } = self;
        #[expect(clippy::cast_precision_loss, reason = "two digits of it are shown")]
        let megabytes = *memory as f64 * 1e-6;
        let id = indented(id, pod_id);
        vec![namespace.clone(), id, format!("{megabytes:.2}"), cpu.to_string()]
    }
}

/// A container stands below its sandbox.
fn indented(id: &str, pod_id: &str) -> String {
    if id == pod_id { id.to_owned() } else { format!("└─ {id}") }
}
