//! Arguments of `ichor netstat`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show network connections and sockets
///
/// Without a pod the sockets of the machine itself are shown.
///
///   ichor netstat -n 10.0.0.11 --listening --programs
///   ichor netstat -n 10.0.0.11 kube-system/coredns-5d78c9869d-abcde
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
#[expect(clippy::struct_excessive_bools, reason = "each one is a flag of talosctl")]
pub struct NetstatArgs {
    /// Show the sockets of this pod, which has a network of its own
    #[arg(value_name = "NAMESPACE/POD", conflicts_with = "pods")]
    pub pod: Option<String>,

    /// Show sockets in all states; by default those that are connected
    #[arg(short, long)]
    pub all: bool,

    /// Show listening sockets
    #[arg(short, long)]
    pub listening: bool,

    /// Show the sockets of pods too, with their names
    #[arg(short = 'k', long)]
    pub pods: bool,

    /// Show the process of a socket
    #[arg(short, long)]
    pub programs: bool,

    /// Show user ids and inodes
    #[arg(short = 'x', long)]
    pub extend: bool,

    /// Show timers
    #[arg(long)]
    pub timers: bool,

    /// Show the sockets of all protocols; by default TCP and UDP
    #[arg(long)]
    pub all_protocols: bool,

    /// Show TCP sockets
    #[arg(short, long)]
    pub tcp: bool,

    /// Show UDP sockets
    #[arg(short, long)]
    pub udp: bool,

    /// Show UDP-Lite sockets
    #[arg(short = 'U', long)]
    pub udplite: bool,

    /// Show raw sockets
    #[arg(short = 'w', long)]
    pub raw: bool,

    /// Show only IPv4 sockets
    #[arg(short = '4', long)]
    pub ipv4: bool,

    /// Show only IPv6 sockets
    #[arg(short = '6', long)]
    pub ipv6: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
