//! Arguments of `ichor events`.

use std::time::Duration;

use clap::Args;

use crate::args::values::span;
use crate::args::{ConnectionArgs, OutputArgs};

/// Follow events of machines, across restarts
///
/// A machine forgets its events when it boots. With -o json each event is one object on a
/// line of its own.
///
///   ichor events -n 10.0.0.11 --tail 20
///   ichor events -n 10.0.0.11,10.0.0.12 --since 10m -o json
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct EventsArgs {
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
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
