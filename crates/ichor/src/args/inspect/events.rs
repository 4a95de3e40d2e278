//! Arguments of `ichor events`.

use std::time::Duration;

use clap::Args;

use crate::args::values::span;
use crate::args::{ConnectionArgs, OutputArgs};

/// Follow events of machines, across restarts
///
/// Events do not survive a reboot of the machine. With -o json each event is one object on its own
/// line.
///
///   ichor events -n 10.0.0.11 --tail 20
///   ichor events -n 10.0.0.11,10.0.0.12 --since 10m -o json
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct EventsArgs {
    /// Start with the last N events; -1 for all that the machine has kept
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true, group = "history")]
    pub tail: Option<i32>,

    /// Start with the events of this period, as 90s or 2h
    #[arg(long, value_name = "DURATION", value_parser = span, group = "history")]
    pub duration: Option<Duration>,

    /// Start after the event with this id, or this long ago, as 90s or 2h
    #[arg(long, value_name = "ID|DURATION", group = "history")]
    pub since: Option<String>,

    /// Show only events caused by one request, by its actor id
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub actor_id: String,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
