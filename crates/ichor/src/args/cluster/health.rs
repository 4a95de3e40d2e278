//! Arguments of `ichor health`.

use std::time::Duration;

use clap::Args;

use super::StatusArgs;
use crate::args::values::duration;

/// Check cluster health (exit status 1 if unhealthy)
///
/// Shows the machines, and what runs on them: etcd, the kubelet, and on control planes the API server, the controller
/// manager and the scheduler, each with its state and the reason when it is not well. --wait looks again until all is
/// well, and ends with 6 when it is not by then.
#[derive(Clone, Debug, Args)]
pub struct HealthArgs {
    #[command(flatten)]
    pub status: StatusArgs,

    /// How long to look again before it is not well
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with = "watch")]
    pub wait: Option<Duration>,
}
