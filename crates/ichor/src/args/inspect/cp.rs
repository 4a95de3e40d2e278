//! Arguments of `ichor cp`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::ConnectionArgs;
use crate::args::values::{duration, size};

/// Copy a file or a directory from a machine
///
/// Nothing is overwritten, nothing is written outside of the target, and what is neither a
/// file, a directory nor a link into the target is left out and named. Owners are not kept. Of
/// what ends early, at a limit or with the connection, whole files stay and half a file does not.
///
///   ichor cp /var/log ./log -n 10.0.0.11
///   ichor cp /etc/kubernetes - -n 10.0.0.11 > kubernetes.tar.gz
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct CpArgs {
    /// The file or directory on the machine
    pub source: String,

    /// The directory to unpack into, made if it is not there; - writes the archive (.tar.gz) to stdout
    pub target: PathBuf,

    /// Stop when more than this comes, or would be unpacked; as 500MB or 20GiB
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = size)]
    pub max_size: u64,

    /// Stop when not all has come by then
    // As much for a byte as `etcd snapshot` takes.
    #[arg(long, value_name = "DURATION", default_value = "4h", value_parser = duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
