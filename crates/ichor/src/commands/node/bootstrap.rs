//! `ichor node bootstrap`: the first member of etcd, empty or with what a snapshot holds.

use std::time::Duration;

use talos_api::proto::definitions::enums::RuntimeMachineStage as MachineStage;
use talos_api::proto::definitions::runtime::MachineStatusSpec;
use talos_api::proto::machine::{BootstrapRequest, ServiceInfo};
use talos_api::{CallError, Client, EtcdPresence, Node, NodeError, each_node};
use tokio::time::{Instant, interval, timeout};

use super::action::NodeAction;
use super::error::NodeActionError;
use super::etcd::guard::with_overrides;
use super::snapshot::Snapshot;
use crate::args::node::{BootstrapArgs, NodeOverrideArgs, NodeRule};
use crate::directory::{self, KnownMachine};
use crate::nodes::{Nodes, label};
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus, audit};

pub(super) async fn run(
    args: &BootstrapArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let node = nodes.single("a bootstrap")?.name();
    let open = |path| Snapshot::open(path, !args.recover_skip_hash_check);
    let snapshot = args.recover_from.as_deref().map(open).transpose()?;
    let detail = snapshot.as_ref().map(|snapshot| snapshot.digest.clone()).unwrap_or_default();
    let detail = with_overrides(detail, &args.overrides);
    let known = directory::known_machines(&environment.location)?;
    let guard = FirstEtcd {
        others: nodes.other_control_planes(&args.connection, &known, environment)?,
        begun: begun_before(node, &known, snapshot.is_some(), environment).await?,
        known,
        overrides: &args.overrides,
    };
    let node_action = NodeAction { verb: BOOTSTRAP, detail, sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| {
        guard.check(node, printer).await?;
        if let Some(snapshot) = &snapshot {
            snapshot.send(node, printer).await?;
        }
        let request = BootstrapRequest {
            recover_etcd: snapshot.is_some(),
            recover_skip_hash_check: args.recover_skip_hash_check,
        };
        if !args.wait.wait {
            guard.check(node, printer).await?;
            begin(node, request).await?;
            printer.note(&format!("{}: bootstrap started", node.name()));
            return Ok(());
        }
        let begun = async {
            begin_when_ready(node, request, &guard, printer).await?;
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

/// Refuses a second etcd. It is looked at right before each attempt, since other people bootstrap, too; without a lease a
/// second between look and call stays.
struct FirstEtcd<'a> {
    /// The other control planes, each at its own address.
    others: Vec<Node>,
    /// Evidence beside the machines that etcd has begun.
    begun: Vec<String>,
    known: Vec<KnownMachine>,
    overrides: &'a NodeOverrideArgs,
}

impl FirstEtcd<'_> {
    async fn check(&self, node: &Node, printer: &mut Printer) -> Result<(), Error> {
        let machine = label(node.name(), &self.known);
        if self.others.is_empty() {
            printer.step(&format!(
                "{machine}: no other control plane is known here, and none is asked for an etcd"
            ));
        }
        let own = boot(node).await;
        let look = move |other: Node| {
            let own = own.clone();
            async move {
                // An endpoint may be the machine itself by another address.
                let is_itself = own.is_some() && boot(&other).await == own;
                Ok(if is_itself { Evidence::NoMember } else { evidence(&other).await })
            }
        };
        let answers = each_node(self.others.clone(), AT_ONCE, look).await;
        let (mut members, mut unknown) = (Vec::new(), self.begun.clone());
        for (other, answer) in self.others.iter().zip(answers) {
            let other = label(other.name(), &self.known);
            match answer
                .unwrap_or_else(|error: NodeError| Evidence::Unknown(error.reason.to_string()))
            {
                Evidence::Member => members.push(other),
                Evidence::NoMember => {}
                Evidence::Unknown(why) => unknown.push(format!("{other}: {why}")),
            }
        }
        if !members.is_empty() {
            return Err(NodeActionError::BootstrappedElsewhere { machine, members }.into());
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let failure = NodeActionError::BootstrapUnseen { machine, unknown };
        if self.overrides.has(NodeRule::BootstrapUnseen) {
            printer.step(&format!("overridden: {failure}"));
            return Ok(());
        }
        Err(failure.into())
    }
}

/// What a control plane shows of a member of etcd.
enum Evidence {
    Member,
    NoMember,
    Unknown(String),
}

/// Looks at the data of etcd, which outlives its service. A machine that does not trust us counts as one without etcd only
/// when it says that it waits for its first configuration.
async fn evidence(node: &Node) -> Evidence {
    match node.with_deadline(ANSWERS_WITHIN).etcd_presence().await {
        Ok(EtcdPresence::Running | EtcdPresence::Stopped) => Evidence::Member,
        Ok(EtcdPresence::Absent) => Evidence::NoMember,
        Ok(EtcdPresence::Unknown) => Evidence::Unknown("it still boots".to_owned()),
        Err(NodeError { reason: CallError::Untrusted(_), .. }) if waits_for_config(node).await => {
            Evidence::NoMember
        }
        Err(error) => Evidence::Unknown(error.reason.to_string()),
    }
}

/// Returns the id of the boot, by which a machine is recognized at another address.
async fn boot(node: &Node) -> Option<String> {
    node.with_deadline(ANSWERS_WITHIN).boot_id().await.ok().filter(|boot| !boot.is_empty())
}

/// Returns whether the machine says, to a client without credentials, that it waits for its first configuration.
async fn waits_for_config(node: &Node) -> bool {
    let Ok(client) = Client::maintenance(node.name(), Vec::new()) else { return false };
    let node = client.direct(node.name(), ANSWERS_WITHIN);
    let status = node.get::<MachineStatusSpec>("machine").await;
    status.is_ok_and(|status| {
        status.is_some_and(|status| status.stage() == MachineStage::MachineStageMaintenance)
    })
}

/// Evidence that etcd was begun, from what this computer has written down: the journal of the cluster's directory, and the
/// audit log of a bootstrap that may not have come as far as to leave data. A bootstrap with a snapshot begins again on
/// purpose, and needs the machines' own evidence only.
async fn begun_before(
    node: &str,
    known: &[KnownMachine],
    is_recovery: bool,
    environment: &UserEnvironment,
) -> Result<Vec<String>, Error> {
    if is_recovery {
        return Ok(Vec::new());
    }
    let mut begun: Vec<String> = directory::members(&environment.location)
        .await?
        .into_iter()
        .map(|machine| format!("{machine}: the journal has a member of etcd on it"))
        .collect();
    let recent = audit::recent(BOOTSTRAP, STARTS_WITHIN, environment)?;
    let others = recent
        .iter()
        .filter(|address| *address != node && known.iter().any(|machine| machine.is(address)));
    begun.extend(
        others.map(|address| format!("{}: was bootstrapped just now", label(address, known))),
    );
    Ok(begun)
}

/// Sends the bootstrap once.
async fn begin(node: &Node, request: BootstrapRequest) -> Result<(), Error> {
    match node.call(node.machine().bootstrap(request)).await {
        Ok(_) => Ok(()),
        Err(NodeError { node, reason: CallError::AlreadyExists(_) }) => {
            Err(NodeActionError::Bootstrapped(node).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Sends the bootstrap as soon as the machine is ready: one that has just been configured boots first.
async fn begin_when_ready(
    node: &Node,
    request: BootstrapRequest,
    guard: &FirstEtcd<'_>,
    printer: &mut Printer,
) -> Result<(), Error> {
    let (mut ticks, begun) = (interval(PAUSE), Instant::now());
    let (mut shown, mut is_answer_lost) = (String::new(), false);
    loop {
        ticks.tick().await;
        // After an answer that was lost, the member may be our own.
        if !is_answer_lost {
            guard.check(node, printer).await?;
        }
        let reason = match begin(node, request).await {
            Err(Error::Machine(NodeError { reason, .. })) => reason,
            // Our own call, whose answer did not come.
            Err(Error::NodeAction(NodeActionError::Bootstrapped(_))) if is_answer_lost => {
                return Ok(());
            }
            other => return other,
        };
        let may_pass = match &reason {
            // It still shows itself as nobody's for a moment.
            CallError::Untrusted(_) | CallError::CertificateTime(_) => {
                begun.elapsed() < SETTLED_WITHIN
            }
            CallError::Refused(_) => true,
            other => other.is_passing(),
        };
        if !may_pass {
            return Err(NodeError { node: node.name().to_owned(), reason }.into());
        }
        is_answer_lost |= reason.may_have_happened();
        let text = not_yet(node.name(), &reason, begun.elapsed());
        if text != shown {
            printer.step(&text);
            shown = text;
        }
    }
}

/// Says what is waited for; after a minute also for how long, which says that it is still so.
fn not_yet(node: &str, reason: &CallError, waited: Duration) -> String {
    let minutes = waited.as_secs() / 60;
    let waited = match minutes {
        0 => String::new(),
        _ => format!(" (waited {minutes} min; Ctrl-C or --timeout ends it)"),
    };
    format!("{node}: not yet: {reason}{waited}")
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
    let reply =
        node.retrying(|node| async move { node.call(node.machine().service_list(())).await });
    let services = node.single_reply(reply.await?.messages)?.services;
    Ok(services.into_iter().find(|service| service.id == "etcd"))
}

/// As the audit log has it.
const BOOTSTRAP: &str = "bootstrap";
/// Pulling the image of etcd takes minutes; afterwards its data shows.
const STARTS_WITHIN: Duration = Duration::from_hours(1);
/// A machine that is up answers at once.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 8;
const PAUSE: Duration = Duration::from_secs(1);
/// Time for a machine to change from maintenance mode to its own credentials.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);
/// The first look may still see how an attempt before this one ended.
const FAILED_LOOKS: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_waited_for_is_reported_every_minute() {
        let reason = CallError::Refused("etcd is not ready".to_owned());
        let text = |seconds| not_yet("cp-1", &reason, Duration::from_secs(seconds));
        assert_eq!(text(0), "cp-1: not yet: refused: etcd is not ready");
        assert_eq!(text(0), text(59));
        assert_eq!(text(61), text(119));
        assert!(text(61).ends_with(" (waited 1 min; Ctrl-C or --timeout ends it)"));
        assert_ne!(text(61), text(121));
    }
}
