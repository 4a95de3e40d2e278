//! Arguments of `ichor node etcd`.

mod alarms;
mod defrag;
mod forfeit_leadership;
mod leave;
mod recover;
mod remove_member;

pub use alarms::{EtcdDisarmAlarmsArgs, NodeEtcdAlarmsCommand};
pub use defrag::EtcdDefragArgs;
pub use forfeit_leadership::EtcdForfeitLeadershipArgs;
pub use leave::EtcdLeaveArgs;
pub use recover::EtcdRecoverArgs;
pub use remove_member::EtcdRemoveMemberArgs;

use clap::Subcommand;

/// Verbs of `ichor node etcd`.
#[derive(Clone, Debug, Subcommand)]
pub enum NodeEtcdCommand {
    Leave(EtcdLeaveArgs),
    RemoveMember(EtcdRemoveMemberArgs),
    ForfeitLeadership(EtcdForfeitLeadershipArgs),

    #[command(visible_alias = "defragment")]
    Defrag(EtcdDefragArgs),

    /// Manage alarms of etcd
    #[command(visible_alias = "alarm")]
    Alarms {
        #[command(subcommand)]
        command: NodeEtcdAlarmsCommand,
    },

    Recover(EtcdRecoverArgs),
}
