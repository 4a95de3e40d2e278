//! `ichor services`: what runs on machines, and how it is.

use std::fmt;

use serde::Serialize;
use talos_api::proto::machine::{ServiceHealth, ServiceInfo};
use talos_api::{CallError, Node, NodeError};

use crate::args::OutputFormat;
use crate::args::inspect::ServicesArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::{Nodes, Replies};
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Row, Rows, Table};
use crate::timestamp::Timestamp;
use crate::{Error, ExitStatus, nodes};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Service>>::json_schema;

pub(super) async fn run(
    args: &ServicesArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    match args.id.clone() {
        None => {
            let all = |services: Vec<ServiceInfo>| services.into_iter().map(Service::new).collect();
            nodes.call_each(list).await.show(all, args.output.format, printer)
        }
        Some(id) => {
            let answers = nodes
                .call_each(move |node| {
                    let id = id.clone();
                    async move { one(node, &id).await }
                })
                .await;
            show_each(answers, args.output.format, printer)
        }
    }
}

/// Asks a machine for its services, by name.
pub(super) async fn list(node: Node) -> Result<Vec<ServiceInfo>, NodeError> {
    let reply =
        node.retrying(|node| async move { node.call(node.machine().service_list(())).await });
    let mut services = node.single_reply(reply.await?.messages)?.services;
    services.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(services)
}

/// Returns everything about a service, for people.
pub(super) fn details(node: &str, service: ServiceInfo) -> impl fmt::Display {
    Details(vec![NodeRow { node: node.to_owned(), what: Service::new(service) }])
}

async fn one(node: Node, id: &str) -> Result<Service, NodeError> {
    let name = node.name().to_owned();
    let found = list(node).await?.into_iter().find(|service| service.id == id);
    let reason = || CallError::NotFound(format!("service {id:?}"));
    found.map(Service::new).ok_or_else(|| NodeError { node: name, reason: reason() })
}

fn show_each(
    answers: Replies<Service>,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let (answers, failures) = answers.split();
    let succeeded = answers.len();
    let services: Vec<NodeRow<Service>> =
        answers.into_iter().map(|(node, what)| NodeRow { node, what }).collect();
    if succeeded > 0 || output != OutputFormat::Table {
        printer.value(&Details(services), output)?;
    }
    Ok(nodes::report(failures, succeeded, printer))
}

#[derive(Debug, Serialize)]
struct Service {
    id: String,
    state: String,
    health: &'static str,
    message: String,
    /// The latest first.
    events: Vec<Event>,
}

schema!(Service, plain { id, state, health, message, events });

#[derive(Debug, Serialize)]
struct Event {
    state: String,
    message: String,
    time: Timestamp,
}

schema!(Event, plain { state, message, time });

impl Service {
    fn new(info: ServiceInfo) -> Self {
        let health = match info.health {
            None | Some(ServiceHealth { unknown: true, .. }) => "?",
            Some(ServiceHealth { healthy: true, .. }) => "OK",
            Some(_) => "Fail",
        };
        let events = info.events.unwrap_or_default().events.into_iter().rev();
        Self {
            id: info.id,
            state: info.state,
            health,
            message: info.health.map(|health| health.last_message).unwrap_or_default(),
            events: events
                .map(|event| Event {
                    state: event.state,
                    message: event.msg,
                    time: event.ts.into(),
                })
                .collect(),
        }
    }
}

impl Row for Service {
    const COLUMNS: &'static [&'static str] =
        &["SERVICE", "STATE", "HEALTH", "LAST CHANGE", "LAST EVENT"];

    fn cells(&self) -> Vec<String> {
        let (ago, message) = match self.events.first() {
            Some(event) => (event.time.ago(), event.message.clone()),
            None => Default::default(),
        };
        vec![self.id.clone(), self.state.clone(), self.health.to_owned(), ago, message]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Details(Vec<NodeRow<Service>>);

/// A paragraph for each, the events below each other.
impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::default();
        for NodeRow { node, what: service } in &self.0 {
            let mut line = |name: &str, text: String| table.push(vec![name.to_owned(), text]);
            line("NODE", node.clone());
            line("ID", service.id.clone());
            line("STATE", service.state.clone());
            line("HEALTH", service.health.to_owned());
            if !service.message.is_empty() {
                line("LAST HEALTH MESSAGE", service.message.clone());
            }
            for (number, Event { state, message, time }) in service.events.iter().enumerate() {
                let label = if number == 0 { "EVENTS" } else { "" };
                line(label, format!("[{state}]: {message} ({})", time.ago()));
            }
        }
        table.fmt(f)
    }
}
