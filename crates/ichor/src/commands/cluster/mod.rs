//! Commands about a whole cluster: each a thin call of the engine with the ports of a terminal session.

mod apply;
mod approve;
mod cancel;
mod destroy;
mod diff;
mod execute;
mod first_secrets;
mod health;
mod history;
mod interactive;
mod named;
mod output;
mod plan;
mod plan_file;
mod refusal;
mod resume;
mod show;
mod skipped;
mod status;
mod status_report;
#[cfg(test)]
mod tests;

pub use refusal::RefusalReport;

use serde_json::{Value, json};
use talos_config::Coded as _;

use crate::diagnostics::SECRETS_MISSING;
use crate::json_schema::{JsonSchema as _, SchemaOf};
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::{Apply, ApplyRequest, Cluster, ClusterVerb, UserEnvironment};
use crate::{Error, ExitStatus, runtime};

/// Schemas of what is printed, by the names of the commands.
pub(super) const SCHEMAS: &[(&str, SchemaOf)] = &[
    ("apply", events),
    ("destroy", events),
    ("health", status_report::SCHEMA),
    ("history", history::SCHEMA),
    ("plan", plan_or_none),
    ("refusal", RefusalReport::json_schema),
    ("resume", events),
    ("show", plan_file),
    ("status", status_report::SCHEMA),
];
pub(super) const LIVE_DIFF: SchemaOf = diff::SCHEMA;

pub(super) fn run(settings: &Cluster, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let Cluster { verb, environment } = settings;
    if let ClusterVerb::Show(settings) = verb {
        return show::run(settings, printer);
    }
    let work = async {
        let live = match (LiveCluster::open(environment).await, verb) {
            (Err(missing), ClusterVerb::Apply(Apply { request: ApplyRequest::Spec(_), .. }))
                if missing.code() == SECRETS_MISSING =>
            {
                first_secrets::generate(missing, environment, printer).await?;
                LiveCluster::open(environment).await?
            }
            (opened, _) => opened?,
        };
        live.directory.tell_warnings(printer);
        carry_out(verb, &live, environment, printer).await
    };
    match verb {
        ClusterVerb::Apply(_) | ClusterVerb::Resume(_) | ClusterVerb::Destroy(_) => {
            runtime::run_stoppable(work)
        }
        _ => runtime::run(work),
    }
}

/// Runs a command on a cluster that is open.
async fn carry_out(
    verb: &ClusterVerb,
    live: &LiveCluster,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    match verb {
        ClusterVerb::Plan(settings) => plan::run(settings, live, printer).await,
        ClusterVerb::Show(settings) => show::run(settings, printer),
        ClusterVerb::Approve(settings) => approve::run(settings, live, printer).await,
        ClusterVerb::Apply(settings) => apply::run(settings, live, environment, printer).await,
        ClusterVerb::Resume(settings) => resume::run(settings, live, environment, printer).await,
        ClusterVerb::Destroy(settings) => destroy::run(settings, live, environment, printer).await,
        ClusterVerb::Cancel => cancel::run(live, printer).await,
        ClusterVerb::Status(settings) => status::run(settings, live, printer).await,
        ClusterVerb::Health(settings) => health::run(settings, live, printer).await,
        ClusterVerb::Diff(settings) => diff::run(settings, live, printer).await,
        ClusterVerb::History(settings) => history::run(settings, live, printer).await,
    }
}

/// Schema of an event, which is a line.
fn events() -> Value {
    json!({
        "type": "object",
        "properties": {"event": {"type": "string"}},
        "required": ["event"],
    })
}

/// Schema of what `plan` prints.
fn plan_or_none() -> Value {
    json!({"anyOf": [plan_file(), output::NoPlan::json_schema()]})
}

/// Schema of a plan file, which is sealed: its hash is of its content, with times in seconds since 1970.
fn plan_file() -> Value {
    json!({
        "type": "object",
        "properties": {
            "format": {"type": "string"},
            "hash": {"type": "string"},
            "plan": {"type": "object"},
        },
        "required": ["format", "hash", "plan"],
        "additionalProperties": false,
    })
}
