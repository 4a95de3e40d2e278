//! Arguments of `ichor pcap`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::ConnectionArgs;
use crate::args::values::{duration, size};

/// Capture the packets of a network interface
///
/// Captures until Ctrl-C or a limit, and keeps complete packets only. The capture itself is sent over
/// the network: filter out the port of the Talos API, 50000, when you capture the interface that it
/// takes. A filter is compiled by tcpdump; its link type is EN10MB for Ethernet and RAW for Wireguard.
///
///   ichor pcap -n 10.0.0.11 -i eth0 -o eth0.pcap --duration 1m
///   ichor pcap -n 10.0.0.11 -i eth0 | tcpdump -r -
///   FILTER=$(tcpdump -dd -y EN10MB port 53)
///   ichor pcap -n 10.0.0.11 -i eth0 -o dns.pcap --bpf-filter "$FILTER"
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct PcapArgs {
    /// Capture on this interface
    #[arg(short, long, value_name = "NAME", default_value = "eth0")]
    pub interface: String,

    /// Capture the packets for other machines too
    #[arg(long)]
    pub promiscuous: bool,

    /// Write to this file; - is stdout, the default where that is not a terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,

    /// Capture only what this filter accepts, as `tcpdump -dd` writes it
    #[arg(long, value_name = "INSTRUCTIONS", default_value = "", hide_default_value = true)]
    pub bpf_filter: String,

    /// Stop after this time
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub duration: Option<Duration>,

    /// Stop before more than this is captured; as 500MB or 20GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub max_size: u64,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
