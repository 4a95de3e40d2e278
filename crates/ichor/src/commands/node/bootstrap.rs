//! `ichor node bootstrap`: the first member of etcd, empty or with what a snapshot holds.

use std::time::Duration;

use talos_api::proto::machine::{BootstrapRequest, ServiceInfo};
use talos_api::{Node, NodeError, Reason, each_node};
use tokio::time::{Instant, interval, timeout};

use super::action::NodeAction;
use super::error::NodeActionError;
use super::etcd::guard::{runs_etcd, with_overrides};
use super::snapshot::Snapshot;
use crate::args::node::{BootstrapArgs, NodeOverrideArgs, NodeRule};
use crate::directory::{self, KnownMachine};
use crate::nodes::{Nodes, label};
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &BootstrapArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    nodes.single("a bootstrap")?;
    let open = |path| Snapshot::open(path, !args.recover_skip_hash_check);
    let snapshot = args.recover_from.as_deref().map(open).transpose()?;
    let detail = snapshot.as_ref().map(|snapshot| snapshot.digest.clone()).unwrap_or_default();
    let detail = with_overrides(detail, &args.overrides);
    let known = directory::known_machines(&environment.location).unwrap_or_default();
    let others = nodes.other_control_planes(&args.connection, &known, environment)?;
    let node_action = NodeAction { verb: "bootstrap", detail, sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| {
        is_first(node, others.clone(), &known, &args.overrides, printer).await?;
        if let Some(snapshot) = &snapshot {
            snapshot.send(node, printer).await?;
        }
        let request = BootstrapRequest {
            recover_etcd: snapshot.is_some(),
            recover_skip_hash_check: args.recover_skip_hash_check,
        };
        if !args.wait.wait {
            begin(node, request).await?;
            printer.note(&format!("{}: bootstrap started", node.name()));
            return Ok(());
        }
        let begun = async {
            begin_when_ready(node, request, printer).await?;
            etcd_runs(node, printer).await
        };
        let Ok(outcome) = timeout(args.wait.timeout, begun).await else {
            let (node, timeout) = (node.name().to_owned(), args.wait.timeout);
            return Err(NodeActionError::NotDone { node, action: "bootstrap", timeout }.into());
        };
        outcome
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

/// Refuses a second etcd: none of the other control planes runs one, and each of them says so. A machine that does not
/// know this cluster has no member of it.
async fn is_first(
    node: &Node,
    others: Vec<Node>,
    known: &[KnownMachine],
    overrides: &NodeOverrideArgs,
    printer: &mut Printer,
) -> Result<(), Error> {
    let asked: Vec<String> = others.iter().map(|other| label(other.name(), known)).collect();
    let ask = |other: Node| async move { runs_etcd(&other.within(ANSWERS_WITHIN)).await };
    let answers = each_node(others, AT_ONCE, ask).await;
    let (mut members, mut unknown) = (Vec::new(), Vec::new());
    for (other, answer) in asked.into_iter().zip(answers) {
        match answer {
            Ok(true) => members.push(other),
            Ok(false) | Err(NodeError { reason: Reason::Untrusted(_), .. }) => {}
            Err(error) => unknown.push(format!("{other}: {}", error.reason)),
        }
    }
    let machine = label(node.name(), known);
    if !members.is_empty() {
        return Err(NodeActionError::BootstrappedElsewhere { machine, members }.into());
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let failure = NodeActionError::BootstrapUnseen { machine, unknown };
    if overrides.rules.contains(&NodeRule::BootstrapUnseen) {
        printer.note(&format!("overridden: {failure}"));
        return Ok(());
    }
    Err(failure.into())
}

/// Sends the bootstrap once.
async fn begin(node: &Node, request: BootstrapRequest) -> Result<(), Error> {
    match node.call(node.machine().bootstrap(request)).await {
        Ok(_) => Ok(()),
        Err(NodeError { node, reason: Reason::AlreadyThere(_) }) => {
            Err(NodeActionError::Bootstrapped(node).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Sends the bootstrap as soon as the machine is ready: one that has just been configured boots first.
async fn begin_when_ready(
    node: &Node,
    request: BootstrapRequest,
    printer: &mut Printer,
) -> Result<(), Error> {
    let (mut ticks, begun) = (interval(PAUSE), Instant::now());
    let (mut shown, mut is_answer_lost) = (String::new(), false);
    loop {
        ticks.tick().await;
        let reason = match begin(node, request).await {
            Err(Error::Machine(NodeError { reason, .. })) => reason,
            // Our own call, whose answer did not come.
            Err(Error::NodeAction(NodeActionError::Bootstrapped(_))) if is_answer_lost => {
                return Ok(());
            }
            other => return other,
        };
        let may_pass = match &reason {
            // Right after its configuration it still has the certificate of maintenance mode.
            Reason::Untrusted(_) | Reason::CertificateTime(_) => begun.elapsed() < SETTLED_WITHIN,
            Reason::Refused(_) => true,
            other => other.is_passing(),
        };
        if !may_pass {
            return Err(NodeError { node: node.name().to_owned(), reason }.into());
        }
        is_answer_lost |= reason.may_have_happened();
        let text = format!("{}: not yet: {reason}", node.name());
        if text != shown {
            printer.step(&text);
            shown = text;
        }
    }
}

/// Waits until etcd runs and is well. The answer to a bootstrap says nothing about that: a snapshot that cannot be used is
/// found only now.
async fn etcd_runs(node: &Node, printer: &mut Printer) -> Result<(), Error> {
    let mut ticks = interval(PAUSE);
    let mut failures = 0;
    let mut shown = String::new();
    loop {
        ticks.tick().await;
        let etcd = match etcd(node).await {
            Ok(Some(etcd)) => etcd,
            Ok(None) => continue,
            Err(error) if error.reason.is_passing() => continue,
            Err(error) => return Err(error.into()),
        };
        let last = etcd.events.and_then(|events| events.events.into_iter().next_back());
        let message = last.map(|event| event.msg).unwrap_or_default();
        let healthy = etcd.health.is_some_and(|health| health.healthy);
        failures = if etcd.state == "Failed" { failures + 1 } else { 0 };
        if failures >= FAILED_LOOKS {
            return Err(NodeActionError::Etcd { node: node.name().to_owned(), message }.into());
        }
        if etcd.state == "Running" && healthy {
            printer.note(&format!("{}: etcd runs", node.name()));
            return Ok(());
        }
        let text = format!("{}: etcd: {}: {message}", node.name(), etcd.state);
        if text != shown {
            printer.step(&text);
            shown = text;
        }
    }
}

async fn etcd(node: &Node) -> Result<Option<ServiceInfo>, NodeError> {
    let reply = node.ask(|node| async move { node.call(node.machine().service_list(())).await });
    let services = node.only(reply.await?.messages)?.services;
    Ok(services.into_iter().find(|service| service.id == "etcd"))
}

/// A machine that is up answers at once.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 8;
const PAUSE: Duration = Duration::from_secs(1);
/// Time for a machine to change from maintenance mode to its own credentials.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);
/// The first look may still see how an attempt before this one ended.
const FAILED_LOOKS: u32 = 3;
