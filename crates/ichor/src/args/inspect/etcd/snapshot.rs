//! Arguments of `ichor etcd snapshot`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::ConnectionArgs;
use crate::args::values::{duration, size};

/// Save the data of etcd to a file
///
/// The file holds all secrets of the cluster, so that only its owner may read it. It is there
/// once all of it has come and its digest is right.
///
///   ichor etcd snapshot etcd.db -n 10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct EtcdSnapshotArgs {
    /// The file to write
    pub path: PathBuf,

    /// Overwrite it if it is there
    #[arg(short, long)]
    pub force: bool,

    /// Stop when more than this comes; as 500MB or 20GiB
    // The largest database that etcd recommends.
    #[arg(long, value_name = "SIZE", default_value = "8GiB", value_parser = size)]
    pub max_size: u64,

    /// Stop when not all has come by then
    // For that much over a slow line.
    #[arg(long, value_name = "DURATION", default_value = "2h", value_parser = duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
