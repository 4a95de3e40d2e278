//! `ichor mounts`: the mounted file systems of machines.

use serde::Serialize;
use talos_api::proto::machine::MountStat;
use talos_api::{Node, NodeError};

use crate::args::inspect::MountsArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Mount>>::json_schema;

pub(super) async fn run(
    args: &MountsArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    nodes.call_each(mounts).await.show(|mounts| mounts, args.output.format, printer)
}

/// Asks a machine for its mounts that take space.
pub(super) async fn mounts(node: Node) -> Result<Vec<Mount>, NodeError> {
    let reply = node.retrying(|node| async move { node.call(node.machine().mounts(())).await });
    let mounts = node.single_reply(reply.await?.messages)?.stats.into_iter().map(Mount::from);
    // Those of the kernel have no size, and no share of it is used.
    Ok(mounts.filter(|mount| mount.size > 0 || mount.available > 0).collect())
}

/// A mount; sizes are in bytes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mount {
    filesystem: String,
    size: u64,
    available: u64,
    mounted_on: String,
}

schema!(Mount, camel { filesystem, size, available, mounted_on });

impl From<MountStat> for Mount {
    fn from(MountStat { filesystem, size, available, mounted_on }: MountStat) -> Self {
        Self { filesystem, size, available, mounted_on }
    }
}

impl Row for Mount {
    const COLUMNS: &'static [&'static str] =
        &["FILESYSTEM", "SIZE(GB)", "USED(GB)", "AVAILABLE(GB)", "PERCENT USED", "MOUNTED ON"];

    #[expect(clippy::cast_precision_loss, reason = "two digits of it are shown")]
    fn cells(&self) -> Vec<String> {
        let Self { filesystem, size, available, mounted_on } = self;
        let gigabytes = |bytes: u64| format!("{:.2}", bytes as f64 * 1e-9);
        let used = 100.0 - 100.0 * (*available as f64 / *size as f64);
        vec![
            filesystem.clone(),
            gigabytes(*size),
            gigabytes(size.wrapping_sub(*available)),
            gigabytes(*available),
            format!("{used:.2}%"),
            mounted_on.clone(),
        ]
    }
}
