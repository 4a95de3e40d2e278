//! Commands that act on machines directly.

mod apply_config;
mod bootstrap;
mod config_options;
mod edit;
pub mod etcd;
mod image;
mod meta;
mod overrides;
mod patch;
mod reboot;
mod reset;
mod rollback;
mod service;
mod shutdown;
mod upgrade;
mod wait;
mod wipe;

pub use apply_config::ApplyConfigArgs;
pub use bootstrap::BootstrapArgs;
pub use config_options::{ApplyMode, ApplyOptionsArgs};
pub use edit::NodeEditArgs;
pub use image::{ImagePullArgs, NodeImageCommand};
pub use meta::{MetaDeleteArgs, MetaWriteArgs, NodeMetaCommand};
pub use overrides::{NodeOverride, NodeOverrideArgs, NodeRule};
pub use patch::NodePatchArgs;
pub use reboot::{RebootArgs, RebootMode};
pub use reset::{ResetArgs, WipeMode};
pub use rollback::RollbackArgs;
pub use service::{NodeServiceArgs, ServiceAction};
pub use shutdown::ShutdownArgs;
pub use upgrade::UpgradeArgs;
pub use wait::WaitArgs;
pub use wipe::{NodeWipeCommand, WipeDiskArgs, WipeMethod};

use clap::Subcommand;

use etcd::NodeEtcdCommand;

/// Verbs that act on machines directly.
#[derive(Clone, Subcommand)]
pub enum NodeCommand {
    #[command(visible_alias = "apply")]
    ApplyConfig(ApplyConfigArgs),

    Patch(NodePatchArgs),
    Edit(NodeEditArgs),
    Bootstrap(BootstrapArgs),
    Reboot(RebootArgs),
    Shutdown(ShutdownArgs),
    Reset(ResetArgs),
    Upgrade(UpgradeArgs),
    Rollback(RollbackArgs),

    /// Wipe disks
    Wipe {
        #[command(subcommand)]
        command: NodeWipeCommand,
    },

    Service(NodeServiceArgs),

    /// Manage the container images of machines
    Image {
        #[command(subcommand)]
        command: NodeImageCommand,
    },

    /// Write and delete META values, which a machine keeps outside of its configuration
    Meta {
        #[command(subcommand)]
        command: NodeMetaCommand,
    },

    /// Manage members of etcd
    Etcd {
        #[command(subcommand)]
        command: NodeEtcdCommand,
    },
}
