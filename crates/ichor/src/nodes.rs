//! The nodes of a command: how they are found, called and reported on.
//!
//! Always holds: a node that fails does not hold the others back, and the exit status says whether all, some or none
//! of them replied.

use std::collections::BTreeSet;
use std::future::Future;

use talos_api::{Client, Fingerprint, Node, NodeError, each_node};
use talos_config::Context;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::args::{ConnectionArgs, MaintenanceArgs, OutputFormat};
use crate::directory::KnownMachine;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Row, Rows};
use crate::talosconfig::{self, context};
use crate::{Error, ExitStatus, directory};

/// Machines that can be called.
#[derive(Clone, Debug)]
pub(crate) struct Nodes(Vec<Node>);

impl Nodes {
    /// The machines of a cluster, called with the credentials of a talosconfig.
    pub(crate) fn from_context(
        connection: &ConnectionArgs,
        environment: &UserEnvironment,
    ) -> Result<Self, Error> {
        Self::connect(connection, environment, Ok)
    }

    /// The control planes among them, for what only those have. A worker that is named is refused where the cluster's
    /// directory knows it as one; elsewhere the machine itself refuses.
    pub(crate) fn control_planes(
        connection: &ConnectionArgs,
        environment: &UserEnvironment,
    ) -> Result<Self, Error> {
        Self::connect(connection, environment, |mut names| {
            // An unreadable directory must not prevent the call.
            let known = directory::known_machines(&environment.location).unwrap_or_default();
            let is_worker = |name: &String| {
                known.iter().any(|machine| !machine.is_control_plane && machine.is(name))
            };
            let named = names.iter().position(is_worker).and_then(|at| connection.nodes.get(at));
            if let Some(worker) = named {
                let control_planes = known.iter().filter(|machine| machine.is_control_plane);
                let control_planes: Vec<&str> = control_planes
                    .filter_map(|machine| machine.names.first())
                    .map(String::as_str)
                    .collect();
                return Err(Error::Usage {
                    message: format!("{worker} is a worker, but a control plane is needed"),
                    hint: format!("pass one of {} with -n", control_planes.join(", ")),
                });
            }
            names.retain(|name| !is_worker(name));
            Ok(names)
        })
    }

    fn connect(
        connection: &ConnectionArgs,
        environment: &UserEnvironment,
        choose: impl FnOnce(Vec<String>) -> Result<Vec<String>, Error>,
    ) -> Result<Self, Error> {
        let mut context = context(connection, environment)?;
        if !connection.endpoints.is_empty() {
            context.endpoints.clone_from(&connection.endpoints);
        }
        let names = if connection.nodes.is_empty() {
            context.nodes.clone()
        } else {
            let names = resolve_names(connection, environment)?;
            if names != connection.nodes {
                talosconfig::check_authority(&context, connection, environment)?;
            }
            names
        };
        let mut names = choose(names)?;
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        let client = Client::new(&context)?;
        let nodes = names.iter().map(|name| client.node(name, connection.deadline));
        Self::non_empty(nodes.collect::<Result<_, _>>()?)
    }

    /// Other control planes, each called at its own address: those that the cluster's directory knows, and the endpoints of
    /// the context where the directory does not have the machines that are named. Those are not among them.
    pub(crate) fn other_control_planes(
        &self,
        connection: &ConnectionArgs,
        known: &[KnownMachine],
        environment: &UserEnvironment,
    ) -> Result<Vec<Node>, Error> {
        let context = context(connection, environment)?;
        let is_named = |address: &str| {
            self.0.iter().any(|node| {
                node.name() == address
                    || known.iter().any(|machine| machine.is(node.name()) && machine.is(address))
            })
        };
        // The name may be one of DNS, or the directory another cluster's.
        let is_known = |node: &Node| known.iter().any(|machine| machine.is(node.name()));
        let control_planes = known.iter().filter(|machine| machine.is_control_plane);
        let mut addresses: BTreeSet<String> =
            control_planes.filter_map(|machine| machine.addresses.first().cloned()).collect();
        if !self.0.iter().all(is_known) {
            addresses.extend(context.endpoints.iter().chain(&connection.endpoints).cloned());
        }
        addresses.retain(|address| !is_named(address));
        let node = |address: &String| {
            let context = Context { endpoints: vec![address.clone()], ..context.clone() };
            Ok(Client::new(&context)?.direct(address, connection.deadline))
        };
        addresses.iter().map(node).collect()
    }

    /// Connects to the nodes with credentials or, for machines in maintenance mode, without.
    pub(crate) fn connect_or_maintenance(
        connection: &ConnectionArgs,
        maintenance: &MaintenanceArgs,
        environment: &UserEnvironment,
    ) -> Result<Self, Error> {
        if !maintenance.insecure {
            return Self::from_context(connection, environment);
        }
        let fingerprints: Vec<Fingerprint> = maintenance
            .cert_fingerprint
            .iter()
            .map(|text| parse_fingerprint(text))
            .collect::<Result<_, _>>()?;
        let names = resolve_names(connection, environment)?;
        let nodes = names.iter().map(|name| {
            let client = Client::maintenance(name, fingerprints.clone())?;
            Ok(client.direct(name, connection.deadline))
        });
        Self::non_empty(nodes.collect::<Result<_, Error>>()?)
    }

    fn non_empty(nodes: Vec<Node>) -> Result<Self, Error> {
        if nodes.is_empty() {
            return Err(Error::Usage {
                message: "no machine given, neither with -n nor in the context".to_owned(),
                hint: "pass machines with -n: -n 10.0.0.11,10.0.0.12".to_owned(),
            });
        }
        Ok(Self(nodes))
    }

    /// The only machine, for what is done on one of them.
    pub(crate) fn single(&self, what: &str) -> Result<&Node, Error> {
        match self.0.as_slice() {
            [node] => Ok(node),
            several => Err(Error::Usage {
                message: format!("{what} is for one machine, but {} are given", several.len()),
                hint: "pass one machine with -n".to_owned(),
            }),
        }
    }

    /// Moves the named node to the end.
    #[must_use]
    pub(crate) fn with_last(mut self, name: &str) -> Self {
        self.0.sort_by_key(|node| node.name() == name);
        self
    }

    pub(crate) fn as_slice(&self) -> &[Node] {
        &self.0
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|node| node.name().to_owned()).collect()
    }

    /// Calls all nodes concurrently.
    pub(crate) async fn call_each<T, F>(
        &self,
        ask: impl Fn(Node) -> F + Send + Sync + Clone + 'static,
    ) -> Replies<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, NodeError>> + Send + 'static,
    {
        let answers = each_node(self.0.clone(), AT_ONCE, ask).await;
        Replies(self.names().into_iter().zip(answers).collect())
    }

    /// Streams from all nodes concurrently, and shows items as they arrive. A bounded queue holds a node back until
    /// its items are shown.
    pub(crate) async fn stream_each<T, F>(
        &self,
        tell: impl Fn(Node, mpsc::Sender<(String, T)>) -> F,
        printer: &mut Printer,
        mut show: impl FnMut(&str, T, &mut Printer) -> Result<(), Error>,
    ) -> Result<ExitStatus, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<(), NodeError>> + Send + 'static,
    {
        let (sender, mut told) = mpsc::channel(QUEUED);
        let mut tasks = JoinSet::new();
        for node in &self.0 {
            tasks.spawn(tell(node.clone(), sender.clone()));
        }
        drop(sender);
        let mut statuses = Vec::new();
        loop {
            tokio::select! {
                biased;
                Some((node, what)) = told.recv() => show(&node, what, printer)?,
                // Failures are reported at once: the other streams may run for hours.
                Some(done) = tasks.join_next() => {
                    // A task that panicked has said so itself.
                    let failure = done.ok().and_then(Result::err);
                    statuses.extend(failure.map(|error| printer.error(&Error::Machine(error))));
                }
                else => break,
            }
        }
        let succeeded = self.0.len() - statuses.len();
        Ok(overall_status(&statuses, succeeded))
    }
}

/// Resolves names to addresses with the cluster directory. Other names are left to the endpoint or to DNS.
fn resolve_names(
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
) -> Result<Vec<String>, Error> {
    let is_address = |name: &String| name.parse::<std::net::IpAddr>().is_ok();
    if connection.nodes.iter().all(is_address) {
        return Ok(connection.nodes.clone());
    }
    let known = directory::known_machines(&environment.location)?;
    // A name with a dot may be one of DNS.
    let is_unknown = |name: &&String| {
        !is_address(name) && !name.contains('.') && !known.iter().any(|machine| machine.is(name))
    };
    if let Some(name) = connection.nodes.iter().find(is_unknown).filter(|_| !known.is_empty()) {
        let names: Vec<&str> =
            known.iter().filter_map(|machine| machine.names.first()).map(String::as_str).collect();
        return Err(Error::Usage {
            message: format!("the cluster has no machine {name:?}"),
            hint: format!("it has {}", names.join(", ")),
        });
    }
    let address = |name: &String| {
        let machine = known.iter().find(|machine| machine.names.contains(name));
        machine.and_then(|machine| machine.addresses.first()).unwrap_or(name).clone()
    };
    Ok(connection.nodes.iter().map(address).collect())
}

/// `cp-1 (10.0.0.11)` for a machine that the cluster's directory knows, else the name as it is.
pub(crate) fn label(name: &str, known: &[KnownMachine]) -> String {
    let machine = known.iter().find(|machine| machine.is(name));
    match machine.map(|machine| (machine.names.first(), machine.addresses.first())) {
        Some((Some(own), Some(address))) => format!("{own} ({address})"),
        _ => name.to_owned(),
    }
}

/// Replies of nodes, in the order in which the nodes were named.
#[derive(Debug)]
pub(crate) struct Replies<T>(pub(crate) Vec<(String, Result<T, NodeError>)>);

impl<T> Replies<T> {
    /// Shows what the machines answered as one table, or as one list of objects, and what failed after it.
    pub(crate) fn show<R: Row>(
        self,
        rows: impl Fn(T) -> Vec<R>,
        output: OutputFormat,
        printer: &mut Printer,
    ) -> Result<ExitStatus, Error> {
        let mut shown = Vec::new();
        let (answers, failures) = self.split();
        let succeeded = answers.len();
        for (node, answer) in answers {
            let of_node = rows(answer).into_iter().map(|what| NodeRow { node: node.clone(), what });
            shown.extend(of_node);
        }
        if succeeded > 0 || output != OutputFormat::Table {
            printer.value(&Rows(shown), output)?;
        }
        Ok(report(failures, succeeded, printer))
    }

    /// Separates replies from failures.
    pub(crate) fn split(self) -> (Vec<(String, T)>, Vec<NodeError>) {
        let mut answers = Vec::new();
        let mut failures = Vec::new();
        for (node, answer) in self.0 {
            match answer {
                Ok(answer) => answers.push((node, answer)),
                Err(error) => failures.push(error),
            }
        }
        (answers, failures)
    }
}

/// Reports the nodes that failed, and returns the overall status.
pub(crate) fn report(
    failures: Vec<NodeError>,
    succeeded: usize,
    printer: &mut Printer,
) -> ExitStatus {
    let statuses: Vec<ExitStatus> =
        failures.into_iter().map(|failure| printer.error(&Error::Machine(failure))).collect();
    overall_status(&statuses, succeeded)
}

/// Returns the overall status: a failure that all nodes have in common keeps its own.
fn overall_status(failures: &[ExitStatus], succeeded: usize) -> ExitStatus {
    match failures {
        [] => ExitStatus::Done,
        [first, others @ ..] if succeeded == 0 && others.iter().all(|other| other == first) => {
            *first
        }
        _ => ExitStatus::Failed,
    }
}

fn parse_fingerprint(text: &str) -> Result<Fingerprint, Error> {
    Fingerprint::parse(text).ok_or_else(|| Error::Usage {
        message: format!("invalid fingerprint {text:?}"),
        hint: "copy the 44 base64 characters from the console of the machine".to_owned(),
    })
}

/// Concurrent calls.
const AT_ONCE: usize = 32;
/// Items of streams that wait to be shown.
const QUEUED: usize = 64;
