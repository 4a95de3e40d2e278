//! Arguments of `ichor etcd`.

mod alarms;
mod members;
mod snapshot;
mod status;

pub use alarms::EtcdAlarmsArgs;
pub use members::EtcdMembersArgs;
pub use snapshot::EtcdSnapshotArgs;
pub use status::EtcdStatusArgs;

use clap::Subcommand;

/// Verbs of `ichor etcd`.
#[derive(Clone, Debug, Subcommand)]
pub enum EtcdCommand {
    Status(EtcdStatusArgs),

    #[command(visible_alias = "member")]
    Members(EtcdMembersArgs),

    #[command(visible_alias = "alarm")]
    Alarms(EtcdAlarmsArgs),

    Snapshot(EtcdSnapshotArgs),
}
