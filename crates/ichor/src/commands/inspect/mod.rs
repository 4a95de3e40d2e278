//! Commands that look at machines: one file for each. They change nothing, so they are never asked about.

mod archive;
mod certs;
mod containers;
mod cp;
mod dependencies;
pub(super) mod disks;
mod dmesg;
mod etcd;
mod events;
mod get;
mod image;
mod kubeconfig;
mod lines;
pub(super) mod links;
mod logs;
mod ls;
mod memory;
mod mounts;
mod netstat;
mod pcap;
mod processes;
mod read;
mod services;
mod stats;
mod support;
mod time;
mod usage;

use talos_api::proto::common::Data;
use talos_api::{NodeError, Stream};
use talos_config::spell_bytes;

use crate::args::inspect::etcd::EtcdCommand;
use crate::args::inspect::{ImageCommand, InspectCommand, InternalsCommand};
use crate::json_schema::SchemaOf;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus, runtime};

/// Schemas of what is printed, by the names of the commands.
pub(super) const SCHEMAS: &[(&str, SchemaOf)] = &[
    ("certs", certs::SCHEMA),
    ("containers", containers::SCHEMA),
    ("disks", disks::SCHEMA),
    ("etcd-alarms", etcd::alarms::SCHEMA),
    ("etcd-members", etcd::members::SCHEMA),
    ("etcd-status", etcd::status::SCHEMA),
    ("events", events::SCHEMA),
    ("image-list", image::SCHEMA),
    ("links", links::SCHEMA),
    ("ls", ls::SCHEMA),
    ("memory", memory::SCHEMA),
    ("mounts", mounts::SCHEMA),
    ("netstat", netstat::SCHEMA),
    ("processes", processes::SCHEMA),
    ("services", services::SCHEMA),
    ("stats", stats::SCHEMA),
    ("time", time::SCHEMA),
    ("usage", usage::SCHEMA),
];

pub(super) fn run(
    command: &InspectCommand,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    runtime::run(async {
        match command {
            InspectCommand::Cp(args) => cp::run(args, environment, printer).await,
            InspectCommand::Dmesg(args) => dmesg::run(args, environment, printer).await,
            InspectCommand::Etcd { command } => match command {
                EtcdCommand::Alarms(args) => etcd::alarms::run(args, environment, printer).await,
                EtcdCommand::Members(args) => etcd::members::run(args, environment, printer).await,
                EtcdCommand::Snapshot(args) => {
                    etcd::snapshot::run(args, environment, printer).await
                }
                EtcdCommand::Status(args) => etcd::status::run(args, environment, printer).await,
            },
            InspectCommand::Events(args) => events::run(args, environment, printer).await,
            InspectCommand::Kubeconfig(args) => kubeconfig::run(args, environment, printer).await,
            InspectCommand::Certs(args) => certs::run(args, environment, printer).await,
            InspectCommand::Containers(args) => containers::run(args, environment, printer).await,
            InspectCommand::Disks(args) => disks::run(args, environment, printer).await,
            InspectCommand::Get(args) => get::run(args, environment, printer).await,
            InspectCommand::Image { command: ImageCommand::List(args) } => {
                image::run(args, environment, printer).await
            }
            InspectCommand::Links(args) => links::run(args, environment, printer).await,
            InspectCommand::Logs(args) => logs::run(args, environment, printer).await,
            InspectCommand::Ls(args) => ls::run(args, environment, printer).await,
            InspectCommand::Inspect { command: InternalsCommand::Dependencies(args) } => {
                dependencies::run(args, environment, printer).await
            }
            InspectCommand::Memory(args) => memory::run(args, environment, printer).await,
            InspectCommand::Mounts(args) => mounts::run(args, environment, printer).await,
            InspectCommand::Netstat(args) => netstat::run(args, environment, printer).await,
            InspectCommand::Pcap(args) => pcap::run(args, environment, printer).await,
            InspectCommand::Processes(args) => processes::run(args, environment, printer).await,
            InspectCommand::Read(args) => read::run(args, environment, printer).await,
            InspectCommand::Services(args) => services::run(args, environment, printer).await,
            InspectCommand::Stats(args) => stats::run(args, environment, printer).await,
            InspectCommand::Support(args) => support::run(args, environment, printer).await,
            InspectCommand::Time(args) => time::run(args, environment, printer).await,
            InspectCommand::Usage(args) => usage::run(args, environment, printer).await,
        }
    })
}

/// Bytes that take a while to come, with the amount of those that came shown.
struct Download<'a> {
    stream: Stream<Data>,
    printer: &'a mut Printer,
    received: u64,
}

impl Download<'_> {
    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, NodeError> {
        let bytes = self.stream.bytes().await?;
        let before = spell_bytes(self.received);
        self.received += bytes.as_ref().map_or(0, Vec::len) as u64;
        let now = spell_bytes(self.received);
        if now != before {
            self.printer.progress(&format!("received {now}"));
        }
        Ok(bytes)
    }
}
