//! Guards the quorum of etcd: refuses actions that would cost it.

use talos_api::{Node, NodeError};

use super::quorum;
use crate::args::node::{NodeOverrideArgs, NodeRule};
use crate::commands::node::error::NodeActionError;
use crate::commands::node::etcd::members::{members, named, status};
use crate::error::with_causes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, directory, nodes};

/// Refuses to remove a member if etcd would lose its quorum, unless the rule is overridden.
pub(in crate::commands::node) async fn spared(
    node: &Node,
    leaving: u64,
    overrides: &NodeOverrideArgs,
    printer: &mut Printer,
) -> Result<(), Error> {
    let members = members(node).await?;
    let member = members.iter().find(|member| member.id == leaving).map(named);
    let left = quorum::without(&quorum::voters(node, &members).await, leaving);
    if left.has_quorum() {
        return Ok(());
    }
    let quorum::Left { voters, well, needed } = left;
    let member = member.unwrap_or_else(|| format!("{leaving:016x}"));
    let failure = NodeActionError::Quorum { member, voters, well, needed };
    if overrides.rules.contains(&NodeRule::QuorumTolerance) {
        printer.note(&format!("overridden: {failure}"));
        return Ok(());
    }
    Err(failure.into())
}

/// Effect of an action on the etcd member of its machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::commands::node) enum Loss {
    /// The member is away for a while, and counts meanwhile.
    Away,
    /// The member leaves first.
    Leaves,
    /// The member loses its data, and still counts.
    Data,
}

/// Refuses to take a control plane away when etcd would lose its majority, or its last data. A machine without a running
/// etcd has no vote to lose; the only voter may be away, since no other could stand in for it.
pub(in crate::commands::node) async fn keep_majority(
    node: &Node,
    loss: Loss,
    overrides: &NodeOverrideArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<(), Error> {
    let known = directory::known_machines(&environment.location).unwrap_or_default();
    if known.iter().any(|machine| !machine.is_control_plane && machine.is(node.name())) {
        return Ok(());
    }
    let refusal = match lost_majority(node, loss, &nodes::label(node.name(), &known)).await {
        Ok(None) => return Ok(()),
        Ok(Some(failure)) => Error::from(failure),
        Err(error) => Error::from(error),
    };
    if overrides.rules.contains(&NodeRule::QuorumTolerance) {
        printer.note(&format!("overridden: {}", with_causes(&refusal)));
        return Ok(());
    }
    Err(refusal)
}

async fn lost_majority(
    node: &Node,
    loss: Loss,
    machine: &str,
) -> Result<Option<NodeActionError>, NodeError> {
    if !runs_etcd(node).await? {
        return Ok(None);
    }
    let machine = machine.to_owned();
    let counted = async {
        let own = status(node).await?.member_id;
        Ok::<_, NodeError>((own, quorum::voters(node, &members(node).await?).await))
    };
    let (own, voters) = match counted.await {
        Ok(counted) => counted,
        Err(error) => {
            let why = error.reason.to_string();
            return Ok(Some(NodeActionError::MembersUnknown { machine, why }));
        }
    };
    if !voters.iter().any(|voter| voter.id == own) {
        return Ok(None);
    }
    if voters.len() == 1 {
        return Ok((loss != Loss::Away).then_some(NodeActionError::LastVoter(machine)));
    }
    let left = match loss {
        Loss::Leaves => quorum::without(&voters, own),
        Loss::Away | Loss::Data => quorum::while_away(&voters, own),
    };
    let quorum::Left { voters, well, needed } = left;
    Ok((!left.has_quorum()).then_some(NodeActionError::Majority { machine, voters, well, needed }))
}

/// Returns whether etcd runs on a machine.
pub(in crate::commands::node) async fn runs_etcd(node: &Node) -> Result<bool, NodeError> {
    let reply = node.ask(|node| async move { node.call(node.machine().service_list(())).await });
    let services = node.only(reply.await?.messages)?.services;
    Ok(services.iter().any(|service| service.id == "etcd" && service.state == "Running"))
}

/// Adds to what the audit log says which rules are not kept.
pub(in crate::commands::node) fn with_overrides(
    detail: String,
    overrides: &NodeOverrideArgs,
) -> String {
    match (detail.as_str(), overridden(overrides)) {
        (_, overridden) if overridden.is_empty() => detail,
        ("", overridden) => overridden,
        (detail, overridden) => format!("{detail}, {overridden}"),
    }
}

/// Describes overridden rules for the audit log.
pub(in crate::commands::node) fn overridden(overrides: &NodeOverrideArgs) -> String {
    let NodeOverrideArgs { rules, reason } = overrides;
    let Some(reason) = reason.as_ref().filter(|_| !rules.is_empty()) else { return String::new() };
    let rules: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
    format!("override {}: {reason}", rules.join(", "))
}
