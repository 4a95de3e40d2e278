//! Arguments of `ichor logs`.

use clap::Args;

use crate::args::ConnectionArgs;

/// Show the logs of a service or a container
///
///   ichor logs -n 10.0.0.11
///   ichor logs etcd -n 10.0.0.11 --tail 20 -f
///   ichor logs -k kube-system/kube-apiserver-cp-1:kube-apiserver -n 10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct LogsArgs {
    /// Service, or with -k container, as `ichor containers -k` shows it; without it the available logs are listed
    pub id: Option<String>,

    /// Show the logs of a container of Kubernetes
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
    pub connection: ConnectionArgs,
}
