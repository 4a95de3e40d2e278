//! Arguments of `ichor node etcd remove-member`.

use clap::Args;

use crate::args::node::NodeOverrideArgs;
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Remove a member of etcd whose machine cannot leave by itself
///
/// Refused if etcd would lose its quorum. `ichor etcd members` lists the members.
///
///   ichor node etcd remove-member 8e9e05c52164694d -n 10.0.0.11
///   ichor node etcd remove-member cp-3 -n 10.0.0.11
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct EtcdRemoveMemberArgs {
    /// Member, by its id or its host name
    pub member: String,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
