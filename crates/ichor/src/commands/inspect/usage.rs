//! `ichor usage`: the disk usage of directories of machines.

use serde::Serialize;
use talos_api::proto::machine::{DiskUsageInfo, DiskUsageRequest};
use talos_api::{CallError, Limits, Node, NodeError};
use talos_config::spell_bytes;

use crate::args::OutputFormat;
use crate::args::inspect::UsageArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Row, Rows};
use crate::{Error, ExitStatus, nodes};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Usage>>::json_schema;

pub(super) async fn run(
    args: &UsageArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let output = args.output.format;
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let request = DiskUsageRequest {
        // The paths themselves are the first level.
        recursion_depth: args.depth.saturating_add(1),
        all: args.all,
        threshold: args.threshold,
        paths: args.paths.clone(),
    };
    let ask = move |node: Node| {
        let request = request.clone();
        async move { usage(&node, request).await }
    };
    let (answers, mut failures) = nodes.call_each(ask).await.split();
    let mut entries = Vec::new();
    let mut succeeded = 0;
    for (node, infos) in answers {
        let mut missing = Vec::new();
        for info in infos {
            match Usage::new(info, args.humanize) {
                Ok(what) => entries.push(NodeRow { node: node.clone(), what }),
                Err(reason) => missing.push(NodeError { node: node.clone(), reason }),
            }
        }
        succeeded += usize::from(missing.is_empty());
        failures.extend(missing);
    }
    if !entries.is_empty() || succeeded > 0 || output != OutputFormat::Table {
        printer.value(&Rows(entries), output)?;
    }
    Ok(nodes::report(failures, succeeded, printer))
}

async fn usage(node: &Node, request: DiskUsageRequest) -> Result<Vec<DiskUsageInfo>, NodeError> {
    let replies = node.retrying(|node| {
        let request = request.clone();
        async move {
            let usage = |node: Node| async move { node.machine().disk_usage(request).await };
            // The machine is silent while it adds up a large directory.
            let stream = node.limited(Limits::FILES).open(usage).await?;
            stream.without_idle_timeout().collect().await
        }
    });
    replies.await
}

#[derive(Debug, Serialize)]
struct Usage {
    /// In bytes.
    size: i64,
    name: String,
    #[serde(skip)]
    humanize: bool,
}

schema!(Usage, camel { size, name } skip { humanize });

impl Usage {
    fn new(info: DiskUsageInfo, humanize: bool) -> Result<Self, CallError> {
        let DiskUsageInfo { metadata, name, size, error, relative_name } = info;
        let error_of_call = metadata.map(|metadata| metadata.error).unwrap_or_default();
        if !error_of_call.is_empty() {
            return Err(CallError::told(error_of_call));
        }
        if !error.is_empty() {
            let path = if name.is_empty() { relative_name } else { name };
            let names_it = path.is_empty() || error.contains(&path);
            return Err(CallError::told(if names_it { error } else { format!("{path}: {error}") }));
        }
        Ok(Self { size, name: relative_name, humanize })
    }
}

impl Row for Usage {
    const COLUMNS: &'static [&'static str] = &["SIZE", "NAME"];

    fn cells(&self) -> Vec<String> {
        let size = if self.humanize {
            spell_bytes(u64::try_from(self.size).unwrap_or_default())
        } else {
            self.size.to_string()
        };
        vec![size, self.name.clone()]
    }
}
