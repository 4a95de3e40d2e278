//! `ichor stats`: the CPU time and the memory that containers use.

use serde::Serialize;
use talos_api::proto::machine::{Stat, StatsRequest};
use talos_api::{Node, NodeError};

use super::containers::{indented, namespace_and_driver};
use crate::args::inspect::StatsArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Usage>>::json_schema;

pub(super) async fn run(
    args: &StatsArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let (namespace, driver) = namespace_and_driver(args.kubernetes);
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
    nodes.call_each(ask).await.show::<Usage>(rows, args.output.format, printer)
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

schema!(Usage, camel { namespace, id, pod_id, name, memory, cpu });

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
