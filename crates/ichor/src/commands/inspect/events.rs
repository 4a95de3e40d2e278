//! `ichor events`: what happens on machines, followed over their restarts.

use std::time::Duration;

use serde::Serialize;
use talos_api::proto::machine::machine_status_event::MachineStage;
use talos_api::proto::machine::{
    Event, phase_event, sequence_event, service_state_event, task_event,
};
use talos_api::{EventPayload, Node, Since, StreamEvent};
use tokio::sync::mpsc;

use crate::args::inspect::EventsArgs;
use crate::args::{OutputFormat, span};
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Row, Table};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <NodeRow<EventRow>>::json_schema;

pub(super) async fn run(
    args: &EventsArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let (since, actor) = (since(args)?, args.actor_id.clone());
    let tell = move |node: Node, sender: mpsc::Sender<(String, StreamEvent)>| {
        let mut events = node.events(since.clone(), &actor);
        async move {
            loop {
                let what = events.next().await?;
                // The receiver is gone: stop.
                if sender.send((node.name().to_owned(), what)).await.is_err() {
                    return Ok(());
                }
            }
        }
    };
    let output = args.output.format;
    let head = std::iter::once("NODE").chain(EventRow::COLUMNS.iter().copied());
    let mut table = Table::new(head.map(str::to_owned).collect());
    let show = |node: &str, followed, printer: &mut Printer| {
        let row = match followed {
            StreamEvent::Event(event) => EventRow::new(event),
            StreamEvent::Interrupted(error) => {
                printer.note(&format!("{error}; reconnecting"));
                return Ok(());
            }
        };
        show(NodeRow { node: node.to_owned(), what: row }, output, &mut table, printer)
    };
    nodes.stream_each(tell, printer, show).await
}

/// Converts the arguments into the start of the stream.
fn since(args: &EventsArgs) -> Result<Since, Error> {
    let seconds = |duration: Duration| {
        // Less than a second would be none at all.
        let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
        Since::Seconds(i32::try_from(seconds).unwrap_or(i32::MAX))
    };
    if let Some(text) = &args.since {
        return match span(text) {
            Ok(duration) => Ok(seconds(duration)),
            Err(_) if is_id(text) => Ok(Since::Id(text.clone())),
            Err(_) => Err(Error::Usage {
                message: format!("{text:?} is neither an event id nor a duration"),
                hint: "ids are in the second column; write a duration as 90s or 2h".to_owned(),
            }),
        };
    }
    Ok(match (args.tail, args.duration) {
        (Some(0), _) => Since::Now,
        (Some(count), _) => Since::Last(count),
        (None, Some(duration)) => seconds(duration),
        (None, None) => Since::Now,
    })
}

/// Ids are twelve bytes in base 32, of the digits and the letters to v.
fn is_id(text: &str) -> bool {
    text.len() == 20 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'v'))
}

fn show(
    row: NodeRow<EventRow>,
    output: OutputFormat,
    table: &mut Table,
    printer: &mut Printer,
) -> Result<(), Error> {
    let text = match output {
        OutputFormat::Table => {
            let mut cells = vec![row.node];
            cells.extend(row.what.cells());
            table.push(cells);
            return printer.display(&table.take().unwrap_or_default()).map(drop);
        }
        OutputFormat::Json => serde_json::to_string(&row).map_err(std::io::Error::from)?,
        OutputFormat::Yaml => {
            let text = serde_saphyr::to_string(&row).map_err(std::io::Error::other)?;
            format!("---\n{}", text.trim_end())
        }
    };
    printer.text(&text).map(drop)
}

#[derive(Serialize)]
struct EventRow {
    id: String,
    event: String,
    actor: String,
    source: String,
    message: String,
}

schema!(EventRow, plain { id, event, actor, source, message });

impl EventRow {
    fn new(event: Event) -> Self {
        let data = event.data.unwrap_or_default();
        let payload = EventPayload::decode(&data).unwrap_or(EventPayload::Other);
        let (source, message) = describe(payload);
        Self { id: event.id, event: data.type_url, actor: event.actor_id, source, message }
    }
}

impl Row for EventRow {
    const COLUMNS: &'static [&'static str] = &["ID", "EVENT", "ACTOR", "SOURCE", "MESSAGE"];

    fn cells(&self) -> Vec<String> {
        let Self { id, event, actor, source, message } = self;
        [id, event, actor, source, message].map(Clone::clone).to_vec()
    }
}

/// Returns subject and outcome of an event.
fn describe(payload: EventPayload) -> (String, String) {
    /// A value of an enumeration by its name; one that is not known here by its number.
    macro_rules! name {
        ($kind:path, $value:expr) => {
            <$kind>::try_from($value)
                .map_or_else(|_| $value.to_string(), |value| value.as_str_name().to_owned())
        };
    }
    match payload {
        EventPayload::Sequence(event) => {
            let outcome = match event.error {
                Some(error) => format!("error: {}", error.message),
                None => name!(sequence_event::Action, event.action),
            };
            (event.sequence, outcome)
        }
        EventPayload::Phase(event) => (event.phase, name!(phase_event::Action, event.action)),
        EventPayload::Task(event) => (event.task, name!(task_event::Action, event.action)),
        EventPayload::Service(event) => {
            let action = name!(service_state_event::Action, event.action);
            (event.service, format!("{action}: {}", event.message))
        }
        EventPayload::Restart(event) => ("restart".to_owned(), event.cmd.to_string()),
        EventPayload::ConfigLoadError(event) => ("error".to_owned(), event.error),
        EventPayload::ConfigValidationError(event) => ("error".to_owned(), event.error),
        EventPayload::Address(event) => {
            (event.hostname, format!("ADDRESSES: {}", event.addresses.join(",")))
        }
        EventPayload::MachineStatus(event) => {
            let status = event.status.unwrap_or_default();
            let unmet: Vec<String> =
                status.unmet_conditions.into_iter().map(|condition| condition.name).collect();
            let ready = status.ready;
            let message = format!("ready: {ready}, unmet conditions: [{}]", unmet.join(" "));
            (name!(MachineStage, event.stage), message)
        }
        EventPayload::Other => Default::default(),
    }
}
