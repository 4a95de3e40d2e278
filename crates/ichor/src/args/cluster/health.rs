//! Arguments of `ichor health`.

use std::time::Duration;

use clap::Args;

use super::StatusArgs;
use crate::args::values::duration;

/// Check cluster health (exit status 1 if unhealthy)
///
/// Shows the machines and their components: etcd, the kubelet, and on control planes the API server, the controller
/// manager and the scheduler, each with its state and the reason when it is unhealthy. With --wait the check is repeated
/// until everything is healthy; if it is not by then, the exit status is 6.
#[derive(Clone, Debug, Args)]
pub struct HealthArgs {
    #[command(flatten)]
    pub status: StatusArgs,

    /// Repeat the check for this long before the cluster counts as unhealthy
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with = "watch")]
    pub wait: Option<Duration>,
}
