//! Commands that look at machines: one file for each. They change nothing, so they are never asked about.

mod archive;
mod certs;
mod containers;
mod cp;
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
mod read;
mod services;

use talos_api::proto::common::Data;
use talos_api::{NodeError, Stream};
use talos_config::spell_bytes;

use crate::args::{EtcdLook, ImageCommand, Look};
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus, runtime};

pub(super) fn run(
    command: &Look,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    runtime::run(async {
        match command {
            Look::Cp(args) => cp::run(args, surroundings, printer).await,
            Look::Dmesg(args) => dmesg::run(args, surroundings, printer).await,
            Look::Etcd(args) => match &args.what {
                EtcdLook::Alarms(args) => etcd::alarms(args, surroundings, printer).await,
                EtcdLook::Members(args) => etcd::members(args, surroundings, printer).await,
                EtcdLook::Snapshot(args) => etcd::snapshot::run(args, surroundings, printer).await,
                EtcdLook::Status(args) => etcd::status(args, surroundings, printer).await,
            },
            Look::Events(args) => events::run(args, surroundings, printer).await,
            Look::Kubeconfig(args) => kubeconfig::run(args, surroundings, printer).await,
            Look::Certs(args) => certs::run(args, surroundings, printer).await,
            Look::Containers(args) => containers::list(args, surroundings, printer).await,
            Look::Disks(args) => disks::run(args, surroundings, printer).await,
            Look::Get(args) => get::run(args, surroundings, printer).await,
            Look::Image { what: ImageCommand::List(args) } => {
                image::list(args, surroundings, printer).await
            }
            Look::Links(args) => links::run(args, surroundings, printer).await,
            Look::Logs(args) => logs::run(args, surroundings, printer).await,
            Look::Ls(args) => ls::run(args, surroundings, printer).await,
            Look::Read(args) => read::run(args, surroundings, printer).await,
            Look::Services(args) => services::run(args, surroundings, printer).await,
            Look::Stats(args) => containers::stats(args, surroundings, printer).await,
        }
    })
}

/// Bytes that take a while to come, with the amount of those that came shown.
struct Receiving<'a> {
    stream: Stream<Data>,
    printer: &'a mut Printer,
    received: u64,
}

impl Receiving<'_> {
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
