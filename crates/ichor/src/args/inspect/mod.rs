//! Commands that inspect machines and change nothing.

mod certs;
mod containers;
mod cp;
mod dependencies;
mod disks;
mod dmesg;
pub mod etcd;
mod events;
mod get;
mod image;
mod kubeconfig;
mod links;
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

pub use certs::CertsArgs;
pub use containers::ContainersArgs;
pub use cp::CpArgs;
pub use dependencies::{DependenciesArgs, InternalsCommand};
pub use disks::DisksArgs;
pub use dmesg::DmesgArgs;
pub use events::EventsArgs;
pub use get::{GetArgs, ResourceForm};
pub use image::{ImageCommand, ImageListArgs, ImageNamespace};
pub use kubeconfig::KubeconfigArgs;
pub use links::LinksArgs;
pub use logs::LogsArgs;
pub use ls::LsArgs;
pub use memory::MemoryArgs;
pub use mounts::MountsArgs;
pub use netstat::NetstatArgs;
pub use pcap::PcapArgs;
pub use processes::{ProcessOrder, ProcessesArgs};
pub use read::ReadArgs;
pub use services::ServicesArgs;
pub use stats::StatsArgs;
pub use support::SupportArgs;
pub use time::TimeArgs;
pub use usage::UsageArgs;

use clap::Subcommand;

use etcd::EtcdCommand;

/// Verbs that inspect machines.
#[derive(Clone, Debug, Subcommand)]
pub enum InspectCommand {
    Get(GetArgs),
    Disks(DisksArgs),
    Links(LinksArgs),
    Containers(ContainersArgs),
    Stats(StatsArgs),

    /// Show the container images of machines
    #[command(visible_alias = "images")]
    Image {
        #[command(subcommand)]
        command: ImageCommand,
    },

    #[command(visible_alias = "free")]
    Memory(MemoryArgs),

    #[command(visible_alias = "ps")]
    Processes(ProcessesArgs),

    #[command(visible_alias = "mount")]
    Mounts(MountsArgs),

    #[command(visible_alias = "ss")]
    Netstat(NetstatArgs),

    Time(TimeArgs),

    #[command(visible_alias = "du")]
    Usage(UsageArgs),

    #[command(visible_alias = "tcpdump")]
    Pcap(PcapArgs),

    Support(SupportArgs),

    /// Inspect the internals of Talos
    Inspect {
        #[command(subcommand)]
        command: InternalsCommand,
    },

    Certs(CertsArgs),

    #[command(visible_alias = "service")]
    Services(ServicesArgs),

    Logs(LogsArgs),
    Dmesg(DmesgArgs),
    Events(EventsArgs),

    #[command(visible_alias = "cat")]
    Read(ReadArgs),

    #[command(visible_alias = "list")]
    Ls(LsArgs),

    #[command(visible_alias = "copy")]
    Cp(CpArgs),

    /// Show the state of etcd, or save a snapshot
    Etcd {
        #[command(subcommand)]
        command: EtcdCommand,
    },

    Kubeconfig(KubeconfigArgs),
}
