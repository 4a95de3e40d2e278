//! Arguments of commands that fetch something from machines: logs, events, files, etcd's data, credentials.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::connection::{duration, size, span};
use super::{Reach, Shown};

/// Arguments of `ichor logs`.
#[derive(Clone, Debug, Args)]
pub struct Logs {
    /// The service; with -k the container, as `ichor containers -k` shows it; none lists the logs that there are
    pub id: Option<String>,

    /// Look for a container of Kubernetes
    #[arg(short, long, requires = "id")]
    pub kubernetes: bool,

    /// Follow the output
    #[arg(short, long, requires = "id")]
    pub follow: bool,

    /// Show only the last N lines
    #[arg(
        long,
        default_value_t = -1,
        value_name = "LINES",
        allow_negative_numbers = true,
        requires = "id"
    )]
    pub tail: i32,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor dmesg`.
#[derive(Clone, Debug, Args)]
pub struct Dmesg {
    /// Follow the output
    #[arg(short, long)]
    pub follow: bool,

    /// Leave out what the kernel said before now; of use with -f only
    #[arg(long)]
    pub tail: bool,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor events`.
#[derive(Clone, Debug, Args)]
pub struct Events {
    /// Begin with the last N events; -1 means all that the machine remembers
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true, group = "history")]
    pub tail: Option<i32>,

    /// Begin with the events of the last time, as 90s or 2h
    #[arg(long, value_name = "DURATION", value_parser = span, group = "history")]
    pub duration: Option<Duration>,

    /// Begin behind the event of this id, or so long ago, as 90s or 2h
    #[arg(long, value_name = "ID|DURATION", group = "history")]
    pub since: Option<String>,

    /// Only what one request caused, by the id that it was answered with
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub actor_id: String,

    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor read`.
#[derive(Clone, Debug, Args)]
pub struct Read {
    /// The file on the machine
    pub path: String,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor ls`.
#[derive(Clone, Debug, Args)]
pub struct Ls {
    /// The directory or file on the machines
    #[arg(default_value = "/")]
    pub path: String,

    /// With modes, owners, sizes and times; times are UTC
    #[arg(short, long)]
    pub long: bool,

    /// Go into directories, however deep they are
    #[arg(short, long, conflicts_with = "depth")]
    pub recurse: bool,

    /// Go into directories, so many levels deep
    #[arg(short, long, value_name = "LEVELS", default_value_t = 1)]
    pub depth: i32,

    /// Only files (f), directories (d) or links (l), or several of them
    #[arg(short = 't', long = "type", value_delimiter = ',', value_name = "LETTERS")]
    pub types: Vec<String>,

    /// Sizes and times as people say them
    #[arg(short = 'H', long)]
    pub humanize: bool,

    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor cp`.
#[derive(Clone, Debug, Args)]
pub struct Cp {
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
    pub reach: Reach,
}

/// Arguments of `ichor etcd`.
#[derive(Clone, Debug, Args)]
pub struct Etcd {
    #[command(subcommand)]
    pub what: EtcdLook,
}

/// What is looked at in etcd.
#[derive(Clone, Debug, Subcommand)]
pub enum EtcdLook {
    /// Show how etcd is on machines: size, leader, progress, errors
    Status(EtcdShow),

    /// Show the members of etcd, as each machine sees them
    #[command(visible_alias = "member")]
    Members(EtcdShow),

    /// Show what etcd warns of: no space left, damaged data
    #[command(visible_alias = "alarm")]
    Alarms(EtcdShow),

    /// Save the data of etcd to a file
    ///
    /// The file holds all secrets of the cluster, so that only its owner may read it. It is there
    /// once all of it has come and its digest is right.
    ///
    ///   ichor etcd snapshot etcd.db -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    Snapshot(EtcdSnapshot),
}

/// Arguments of what shows a table about etcd.
#[derive(Clone, Debug, Args)]
pub struct EtcdShow {
    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor etcd snapshot`.
#[derive(Clone, Debug, Args)]
pub struct EtcdSnapshot {
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
    pub reach: Reach,
}

/// Arguments of `ichor kubeconfig`.
#[derive(Clone, Debug, Args)]
pub struct Kubeconfig {
    /// The file, or a directory for a file `kubeconfig`; - is stdout; else `KUBECONFIG` or ~/.kube/config
    pub path: Option<PathBuf>,

    /// Add to the kubeconfig that is there; with =false write a file of its own, by default here
    #[arg(
        short,
        long,
        action = clap::ArgAction::Set,
        default_value_t = true,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        value_name = "BOOL"
    )]
    pub merge: bool,

    /// Overwrite what is there under the same names, and the file when it is not merged into
    #[arg(short, long)]
    pub force: bool,

    /// The name of the context, instead of admin@CLUSTER
    #[arg(long, value_name = "NAME")]
    pub force_context_name: Option<String>,

    #[command(flatten)]
    pub reach: Reach,
}
