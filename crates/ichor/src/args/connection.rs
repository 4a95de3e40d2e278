//! The machines to connect to, and the credentials to use.

use std::path::PathBuf;
use std::time::Duration;

use super::values::duration;

/// Connection to machines, with the flags of talosctl.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Machines")]
pub struct ConnectionArgs {
    /// Connect to these machines, by address or by name in the cluster directory; by default the nodes of the context
    #[arg(short, long, value_delimiter = ',', value_name = "NODE", global = true)]
    pub nodes: Vec<String>,

    /// Connect through these endpoints instead of those of the context
    #[arg(short, long, value_delimiter = ',', value_name = "HOST", global = true)]
    pub endpoints: Vec<String>,

    /// Use this talosconfig; by default `TALOSCONFIG`, the one beside a talconfig.yaml, ~/.talos/config, or a pod's own
    #[arg(long, value_name = "FILE", global = true)]
    pub talosconfig: Option<PathBuf>,

    /// Use this context; by default the current one
    #[arg(long, value_name = "NAME", global = true)]
    pub context: Option<String>,

    /// Wait this long for the reply of a machine
    #[arg(long = "deadline", value_name = "DURATION", default_value = "30s", value_parser = duration, global = true)]
    pub deadline: Duration,
}

/// Connection to machines in maintenance mode.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Machines")]
pub struct MaintenanceArgs {
    /// Connect without credentials to machines in maintenance mode, each at its own address
    #[arg(short, long)]
    pub insecure: bool,

    /// With --insecure: accept only these certificate fingerprints, as shown on the consoles of the machines
    #[arg(long, value_delimiter = ',', value_name = "FINGERPRINT", requires = "insecure")]
    pub cert_fingerprint: Vec<String>,
}
