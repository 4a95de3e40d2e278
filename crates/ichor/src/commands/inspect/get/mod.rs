//! `ichor get`: resources of machines, now or for as long as one watches.
//!
//! The forms of the output are those of talosctl, one object for each resource, so that scripts can be kept.

mod path;
mod resource;
mod value;

use talos_api::proto::cosi::Resource;
use talos_api::proto::cosi::meta::ResourceDefinitionSpec;
use talos_api::{CallError, Node, NodeError, Selection, WatchEvent};
use tokio::sync::mpsc;

use self::path::{Missing, Template};
use self::resource::{Columns, Event, ResourceView};
use self::value::Value;
use crate::args::inspect::{GetArgs, ResourceForm};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::Table;
use crate::{Error, ExitStatus, nodes};

pub(super) async fn run(
    args: &GetArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let writer = Writer::new(&args.output, args.watch)?;
    let nodes = Nodes::connect_or_maintenance(&args.connection, &args.maintenance, environment)?;
    let query = ResourceQuery {
        kind: args.kind.clone(),
        ids: args.ids.clone(),
        namespace: args.namespace.clone(),
    };
    if args.watch {
        watch(&nodes, query, writer, printer).await
    } else {
        list(&nodes, query, writer, printer).await
    }
}

/// Returns a resource as a YAML document.
pub(super) fn yaml(node: &str, resource: &Resource) -> Result<String, talos_api::resource::Error> {
    Ok(ResourceView::new(node, None, resource)?.yaml())
}

/// A query for resources.
#[derive(Clone, Debug)]
struct ResourceQuery {
    /// Type as it was typed.
    kind: String,
    /// None for all.
    ids: Vec<String>,
    namespace: Option<String>,
}

impl ResourceQuery {
    fn namespace(&self, definition: &ResourceDefinitionSpec) -> String {
        self.namespace.clone().unwrap_or_else(|| definition.default_namespace.clone())
    }

    /// Queries one machine. A missing resource does not hold the others back.
    async fn find(&self, node: &Node) -> Result<QueryResult, NodeError> {
        let definition = node.definition(&self.kind).await?;
        let (namespace, kind) = (self.namespace(&definition), definition.resource_type.clone());
        let mut found = QueryResult { definition, resources: Vec::new(), failures: Vec::new() };
        if self.ids.is_empty() {
            found.resources = node.list_resources(&namespace, &kind).await?;
        }
        for id in &self.ids {
            match node.get_resource(&namespace, &kind, id).await {
                Ok(resource) => found.resources.push(resource),
                Err(error) => found.failures.push(error),
            }
        }
        Ok(found)
    }

    /// Sends changes until the receiver is gone.
    async fn watch(
        &self,
        node: &Node,
        sender: mpsc::Sender<(String, WatchMessage)>,
    ) -> Result<(), NodeError> {
        let name = node.name().to_owned();
        let definition = node.definition(&self.kind).await?;
        let selection = Selection {
            namespace: self.namespace(&definition),
            kind: definition.resource_type.clone(),
            // Several are found among all.
            id: self.ids.first().filter(|_| self.ids.len() == 1).cloned(),
        };
        let mut message = WatchMessage::Defined(definition);
        let mut watch = node.watch(selection);
        while sender.send((name.clone(), message)).await.is_ok() {
            message = loop {
                let message = match watch.next().await? {
                    WatchEvent::Created(resource) => WatchMessage::Event(Event::Created, resource),
                    WatchEvent::Updated(resource) => WatchMessage::Event(Event::Updated, resource),
                    WatchEvent::Destroyed(resource) => {
                        WatchMessage::Event(Event::Destroyed, resource)
                    }
                    WatchEvent::Bootstrapped => WatchMessage::Settled,
                    WatchEvent::Interrupted(error) => WatchMessage::Interrupted(error),
                };
                match &message {
                    WatchMessage::Event(_, resource) if !self.means(resource) => {}
                    _ => break message,
                }
            };
        }
        Ok(())
    }

    fn means(&self, resource: &Resource) -> bool {
        let id = resource.metadata.as_ref().map(|metadata| &metadata.id);
        self.ids.is_empty() || id.is_some_and(|id| self.ids.contains(id))
    }
}

/// Result of one machine.
struct QueryResult {
    definition: ResourceDefinitionSpec,
    resources: Vec<Resource>,
    failures: Vec<NodeError>,
}

/// A message of a watched machine.
enum WatchMessage {
    /// Definition of the type.
    Defined(ResourceDefinitionSpec),
    Event(Event, Resource),
    /// The initial state is complete.
    Settled,
    Interrupted(NodeError),
}

async fn list(
    nodes: &Nodes,
    query: ResourceQuery,
    mut writer: Writer,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let ask = move |node: Node| {
        let query = query.clone();
        async move { query.find(&node).await }
    };
    let (answers, mut failures) = nodes.call_each(ask).await.split();
    let mut succeeded = 0;
    for (node, found) in answers {
        let QueryResult { definition, resources, failures: missing } = found;
        let mut failed = missing;
        let defined = writer.define(&node, &definition);
        failed.extend(defined.err());
        for resource in &resources {
            let shown = writer.write(&node, None, resource, printer)?;
            failed.extend(shown.err());
        }
        succeeded += usize::from(failed.is_empty());
        failures.extend(failed);
    }
    writer.flush(printer)?;
    Ok(nodes::report(failures, succeeded, printer))
}

async fn watch(
    nodes: &Nodes,
    query: ResourceQuery,
    mut writer: Writer,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let tell = move |node: Node, sender| {
        let query = query.clone();
        async move { query.watch(&node, sender).await }
    };
    let mut settled = false;
    let show = |node: &str, message: WatchMessage, printer: &mut Printer| {
        let failure = match message {
            WatchMessage::Defined(definition) => writer.define(node, &definition).err(),
            WatchMessage::Event(event, resource) => {
                let shown = writer.write(node, Some(event), &resource, printer)?;
                shown.err()
            }
            WatchMessage::Settled => {
                settled = true;
                None
            }
            WatchMessage::Interrupted(error) => {
                printer.note(&format!("{error}; reconnecting"));
                None
            }
        };
        if let Some(error) = failure {
            printer.error(&Error::Machine(error));
        }
        // Until one machine has sent its initial state, rows are collected to compute the column widths.
        if settled {
            writer.flush(printer)?;
        }
        Ok(())
    };
    nodes.stream_each(tell, printer, show).await
}

/// Writes resources in one of the forms.
enum Writer {
    Table { columns: Option<Columns>, table: Table, with_events: bool },
    Json,
    Yaml { begun: bool },
    Path(Template),
}

impl Writer {
    fn new(form: &ResourceForm, with_events: bool) -> Result<Self, Error> {
        Ok(match form {
            ResourceForm::Table => {
                Self::Table { columns: None, table: Table::default(), with_events }
            }
            ResourceForm::Json => Self::Json,
            ResourceForm::Yaml => Self::Yaml { begun: false },
            ResourceForm::Path(path) => {
                Self::Path(Template::parse(path).map_err(|error| Error::Usage {
                    message: format!("invalid JSONPath: {error}"),
                    hint: "write it as -o jsonpath='{.spec.hostname}'".to_owned(),
                })?)
            }
        })
    }

    /// Uses the columns of the first machine for all.
    fn define(&mut self, node: &str, definition: &ResourceDefinitionSpec) -> Result<(), NodeError> {
        let Self::Table { columns: columns @ None, table, with_events } = self else {
            return Ok(());
        };
        let defined = Columns::new(definition).map_err(|error| unreadable(node, error))?;
        *table = Table::new(defined.head(*with_events));
        *columns = Some(defined);
        Ok(())
    }

    /// Writes a resource, unless it cannot be read.
    fn write(
        &mut self,
        node: &str,
        event: Option<Event>,
        resource: &Resource,
        printer: &mut Printer,
    ) -> Result<Result<(), NodeError>, Error> {
        let shown = match ResourceView::new(node, event, resource) {
            Ok(shown) => shown,
            Err(error) => return Ok(Err(unreadable(node, error.to_string()))),
        };
        match self {
            Self::Table { columns, table, .. } => {
                table.push(columns.as_ref().map_or_else(Vec::new, |columns| shown.cells(columns)));
            }
            Self::Json => drop(printer.plain(&(shown.value().indented() + "\n"))?),
            Self::Yaml { begun } => {
                if std::mem::replace(begun, true) {
                    printer.plain("---\n")?;
                }
                printer.plain(&shown.yaml())?;
            }
            Self::Path(path) => {
                let value = shown.value();
                let groups = match path.find(&value, Missing::Fails) {
                    Ok(groups) => groups,
                    Err(error) => {
                        let reason = CallError::NotFound(format!("{}: {error}", shown.id()));
                        return Ok(Err(NodeError { node: node.to_owned(), reason }));
                    }
                };
                for value in groups.into_iter().flatten() {
                    printer.plain(&(alone(value) + "\n"))?;
                }
            }
        }
        Ok(Ok(()))
    }

    /// Writes what waits.
    fn flush(&mut self, printer: &mut Printer) -> Result<(), Error> {
        if let Self::Table { columns: Some(_), table, .. } = self
            && let Some(lines) = table.take()
        {
            printer.display(&lines)?;
        }
        Ok(())
    }
}

/// A value that a line, or several, are made of.
fn alone(value: &Value) -> String {
    match value {
        // So talosctl writes it.
        Value::Null => "<nil>".to_owned(),
        structure if structure.is_structure() => structure.indented(),
        scalar => scalar.to_string(),
    }
}

fn unreadable(node: &str, text: String) -> NodeError {
    NodeError { node: node.to_owned(), reason: CallError::Unreadable(text) }
}
