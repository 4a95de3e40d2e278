//! Commands that look at machines and change nothing.

use clap::{Args, Subcommand};

use super::{Reach, Shown};

/// One of them.
#[derive(Clone, Debug, Subcommand)]
pub enum Look {
    /// Show the services of machines
    ///
    ///   ichor services -n 10.0.0.11,10.0.0.12
    ///   ichor services etcd -n 10.0.0.11
    #[command(verbatim_doc_comment, visible_alias = "service")]
    Services(Services),

    /// Show the logs of a service or a container
    ///
    ///   ichor logs etcd -n 10.0.0.11 --tail 20 -f
    ///   ichor logs -k kube-system/kube-apiserver-cp-1:kube-apiserver -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    Logs(Logs),
}

/// Arguments of `ichor services`.
#[derive(Clone, Debug, Args)]
pub struct Services {
    /// One service, with its latest events
    pub id: Option<String>,

    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor logs`.
#[derive(Clone, Debug, Args)]
pub struct Logs {
    /// The service; with -k the container, as `ichor containers -k` shows it
    pub id: String,

    /// Look for a container of Kubernetes
    #[arg(short, long)]
    pub kubernetes: bool,

    /// Go on with what comes
    #[arg(short, long)]
    pub follow: bool,

    /// The last so many lines only
    #[arg(long, default_value_t = -1, value_name = "LINES", allow_negative_numbers = true)]
    pub tail: i32,

    #[command(flatten)]
    pub reach: Reach,
}
