//! `ichor disks`: what a machine could be installed to, and what it is installed to.

use serde::Serialize;
use talos_api::proto::definitions::block::{DiskSpec, SystemDiskSpec};
use talos_api::proto::storage::{self, disk::DiskType};
use talos_api::{CallError, Node, NodeError};
use talos_config::spell_bytes;

use crate::args::inspect::DisksArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Disk>>::json_schema;

pub(super) async fn run(
    args: &DisksArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::connect_or_maintenance(&args.connection, &args.maintenance, environment)?;
    let rows = |disks: Vec<Disk>| disks;
    nodes.call_each(|node| async move { disks(&node).await }).await.show(
        rows,
        args.output.format,
        printer,
    )
}

/// The disks of a machine.
pub(in crate::commands) async fn disks(node: &Node) -> Result<Vec<Disk>, NodeError> {
    match resources(node).await {
        // Machines before 1.8 have no such resources.
        Err(NodeError { reason: CallError::Unsupported(_), .. }) => older(node).await,
        answer => answer,
    }
}

async fn resources(node: &Node) -> Result<Vec<Disk>, NodeError> {
    let disks = node.list::<DiskSpec>().await?;
    let system = node.get::<SystemDiskSpec>("system-disk").await?.unwrap_or_default();
    let disk = |(id, spec): (String, DiskSpec)| Disk {
        system_disk: id == system.disk_id,
        r#type: kind(&spec),
        device: spec.dev_path,
        model: spec.model,
        serial: spec.serial,
        uuid: spec.uuid,
        wwid: spec.wwid,
        size: spec.size,
        bus_path: spec.bus_path,
        transport: spec.transport,
        read_only: spec.readonly,
    };
    Ok(disks.into_iter().map(disk).collect())
}

async fn older(node: &Node) -> Result<Vec<Disk>, NodeError> {
    let reply = node.retrying(|node| async move { node.call(node.storage().disks(())).await });
    let disks = node.single_reply(reply.await?.messages)?.disks;
    let disk = |disk: storage::Disk| Disk {
        system_disk: disk.system_disk,
        r#type: name(disk.r#type()),
        device: disk.device_name,
        model: disk.model,
        serial: disk.serial,
        uuid: disk.uuid,
        wwid: disk.wwid,
        size: disk.size,
        bus_path: disk.bus_path,
        transport: String::new(),
        read_only: disk.readonly,
    };
    Ok(disks.into_iter().map(disk).collect())
}

/// Returns the type of a disk, by the rules of Talos' own call.
fn kind(disk: &DiskSpec) -> &'static str {
    name(match disk.transport.as_str() {
        _ if disk.cdrom => DiskType::Cd,
        "nvme" => DiskType::Nvme,
        "mmc" => DiskType::Sd,
        _ if disk.rotational => DiskType::Hdd,
        "" => DiskType::Unknown,
        _ => DiskType::Ssd,
    })
}

fn name(kind: DiskType) -> &'static str {
    kind.as_str_name()
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct Disk {
    pub(in crate::commands) device: String,
    pub(in crate::commands) model: String,
    pub(in crate::commands) serial: String,
    pub(in crate::commands) r#type: &'static str,
    pub(in crate::commands) uuid: String,
    pub(in crate::commands) wwid: String,
    /// In bytes.
    pub(in crate::commands) size: u64,
    pub(in crate::commands) bus_path: String,
    /// Transport; empty before Talos 1.8.
    pub(in crate::commands) transport: String,
    pub(in crate::commands) read_only: bool,
    pub(in crate::commands) system_disk: bool,
}

schema!(
    Disk,
    camel {
        device,
        model,
        serial,
        r#type,
        uuid,
        wwid,
        size,
        bus_path,
        transport,
        read_only,
        system_disk,
    }
);

impl Row for Disk {
    const COLUMNS: &'static [&'static str] = &[
        "DEV",
        "MODEL",
        "SERIAL",
        "TYPE",
        "UUID",
        "WWID",
        "SIZE",
        "BUS_PATH",
        "READ_ONLY",
        "SYSTEM_DISK",
    ];

    fn cells(&self) -> Vec<String> {
        let known = |text: &String| if text.is_empty() { "-".to_owned() } else { text.clone() };
        let mark = |is: bool| if is { "*" } else { "" }.to_owned();
        vec![
            self.device.clone(),
            known(&self.model),
            known(&self.serial),
            self.r#type.to_owned(),
            known(&self.uuid),
            known(&self.wwid),
            spell_bytes(self.size),
            self.bus_path.clone(),
            mark(self.read_only),
            mark(self.system_disk),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_told_by_how_they_are_attached() {
        let disk = |transport: &str, rotational, cdrom| DiskSpec {
            transport: transport.to_owned(),
            rotational,
            cdrom,
            ..Default::default()
        };
        for (disk, expected) in [
            (disk("nvme", false, false), "NVME"),
            (disk("mmc", false, false), "SD"),
            (disk("sata", true, false), "HDD"),
            (disk("sata", false, false), "SSD"),
            (disk("sata", true, true), "CD"),
            (disk("", false, false), "UNKNOWN"),
        ] {
            assert_eq!(kind(&disk), expected);
        }
    }
}
