//! Arguments of `ichor etcd snapshot`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::ConnectionArgs;
use crate::args::values::{duration, size};

/// Save a snapshot of etcd to a file
///
/// The file holds all secrets of the cluster, so only its owner may read it. It appears once it is
/// complete and its digest is verified.
///
///   ichor etcd snapshot etcd.db -n 10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct EtcdSnapshotArgs {
    /// File to write
    pub path: PathBuf,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,

    /// Stop when more than this is received; as 500MB or 20GiB
    // The largest database that etcd recommends.
    #[arg(long, value_name = "SIZE", default_value = "8GiB", value_parser = size)]
    pub max_size: u64,

    /// Stop if the snapshot is not complete by then
    // That size over a slow link.
    #[arg(long, value_name = "DURATION", default_value = "2h", value_parser = duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
