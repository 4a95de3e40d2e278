//! Which machines are meant, and how they are reached.

use std::path::PathBuf;
use std::time::Duration;

use super::values::duration;

/// Machines, by the words of talosctl.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Machines")]
pub struct ConnectionArgs {
    /// The machines, by address or by name in the cluster's directory; the context's when left out
    #[arg(short, long, value_delimiter = ',', value_name = "NODE", global = true)]
    pub nodes: Vec<String>,

    /// Where the API is reached, instead of the context's endpoints
    #[arg(short, long, value_delimiter = ',', value_name = "HOST", global = true)]
    pub endpoints: Vec<String>,

    /// The talosconfig; else `TALOSCONFIG`, the one beside a talconfig.yaml, ~/.talos/config, or a pod's own
    #[arg(long, value_name = "FILE", global = true)]
    pub talosconfig: Option<PathBuf>,

    /// The context in it; else its current one
    #[arg(long, value_name = "NAME", global = true)]
    pub context: Option<String>,

    /// How long a machine may take to answer
    #[arg(long = "deadline", value_name = "DURATION", default_value = "30s", value_parser = duration, global = true)]
    pub deadline: Duration,
}

/// Machines in maintenance, for the commands that such machines answer.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Machines")]
pub struct MaintenanceArgs {
    /// The machines have no configuration yet: call them without credentials, each at its own address
    #[arg(short, long)]
    pub insecure: bool,

    /// With --insecure: the only keys that machines may have, as their consoles show them
    #[arg(long, value_delimiter = ',', value_name = "FINGERPRINT", requires = "insecure")]
    pub cert_fingerprint: Vec<String>,
}
