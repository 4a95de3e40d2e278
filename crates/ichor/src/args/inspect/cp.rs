//! Arguments of `ichor cp`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::ConnectionArgs;
use crate::args::values::{duration, size};

/// Copy a file or a directory from a machine
///
/// Nothing is overwritten or written outside of the target. Entries that are neither a file, a
/// directory nor a link into the target are skipped and reported. Owners are not preserved. If a limit
/// is reached or the connection is lost, complete files stay and the incomplete one is removed.
///
///   ichor cp /var/log ./log -n 10.0.0.11
///   ichor cp /etc/kubernetes - -n 10.0.0.11 > kubernetes.tar.gz
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct CpArgs {
    /// File or directory on the machine
    pub source: String,

    /// Directory to unpack into, created if missing; - writes the archive (.tar.gz) to stdout
    pub target: PathBuf,

    /// Stop when more than this is received or unpacked; as 500MB or 20GiB
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = size)]
    pub max_size: u64,

    /// Stop if the copy is not complete by then
    // The rate that `etcd snapshot` allows for.
    #[arg(long, value_name = "DURATION", default_value = "4h", value_parser = duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
