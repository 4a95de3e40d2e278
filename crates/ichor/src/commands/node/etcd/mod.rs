//! `ichor node etcd`: members of etcd, through the machines that they run on.

mod quorum;

use std::time::Duration;

use talos_api::proto::machine::{
    EtcdForfeitLeadershipRequest, EtcdLeaveClusterRequest, EtcdMember, EtcdMemberAlarm,
    EtcdMemberListRequest, EtcdMemberStatus, EtcdRemoveMemberByIdRequest,
};
use talos_api::{Node, NodeError};

use super::snapshot::Snapshot;
use super::{NodeAction, NodeActionError};
use crate::args::ConnectionArgs;
use crate::args::node::etcd::{
    EtcdDefragArgs, EtcdForfeitLeadershipArgs, EtcdLeaveArgs, EtcdRecoverArgs,
    EtcdRemoveMemberArgs, NodeEtcdAlarmsCommand, NodeEtcdCommand,
};
use crate::args::node::{NodeOverrideArgs, NodeRule};
use crate::error::with_causes;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus, directory, nodes};

pub(super) async fn run(
    command: &NodeEtcdCommand,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    match command {
        NodeEtcdCommand::Leave(args) => leave(args, environment, printer).await,
        NodeEtcdCommand::RemoveMember(args) => remove(args, environment, printer).await,
        NodeEtcdCommand::ForfeitLeadership(args) => forfeit(args, environment, printer).await,
        NodeEtcdCommand::Defrag(args) => defragment(args, environment, printer).await,
        NodeEtcdCommand::Alarms { command: NodeEtcdAlarmsCommand::Disarm(args) } => {
            disarm(&args.connection, environment, printer).await
        }
        NodeEtcdCommand::Recover(args) => recover(args, environment, printer).await,
    }
}

async fn leave(
    args: &EtcdLeaveArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let detail = overridden(&args.overrides);
    let node_action =
        NodeAction { verb: "etcd leave", detail, sure: Some(args.confirm), environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let own = status(node).await?.member_id;
        spared(node, own, &args.overrides, printer).await?;
        let patient = node.within(node.deadline().max(LEFT_WITHIN));
        patient.call(patient.machine().etcd_leave_cluster(EtcdLeaveClusterRequest {})).await?;
        printer.note(&format!("{}: left etcd", node.name()));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

async fn remove(
    args: &EtcdRemoveMemberArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let node = nodes.single("removing a member of etcd")?;
    let member = find(&members(node).await?, &args.member)?;
    let mut detail = format!("member {}", named(&member));
    if !args.overrides.rules.is_empty() {
        detail = format!("{detail}, {}", overridden(&args.overrides));
    }
    spared(node, member.id, &args.overrides, printer).await?;
    let node_action =
        NodeAction { verb: "etcd remove-member", detail, sure: Some(args.confirm), environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let request = EtcdRemoveMemberByIdRequest { member_id: member.id };
        node.call(node.machine().etcd_remove_member_by_id(request)).await?;
        printer.note(&format!("{}: removed member {}", node.name(), named(&member)));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

async fn forfeit(
    args: &EtcdForfeitLeadershipArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let node_action = NodeAction {
        verb: "etcd forfeit-leadership",
        detail: String::new(),
        sure: None,
        environment,
    };
    let act = async |node: &Node, printer: &mut Printer| {
        let request = EtcdForfeitLeadershipRequest {};
        let reply = node.call(node.machine().etcd_forfeit_leadership(request)).await?;
        let leader = node.only(reply.messages)?.member;
        let text = if leader.is_empty() {
            "did not lead".to_owned()
        } else {
            format!("{leader} leads now")
        };
        printer.note(&format!("{}: {text}", node.name()));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

async fn defragment(
    args: &EtcdDefragArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let mut leader = None;
    for node in nodes.as_slice() {
        let status = status(node).await?;
        if status.leader == status.member_id {
            leader = Some(node.name().to_owned());
        }
    }
    let nodes = nodes.with_last(&leader.unwrap_or_default());
    let node_action =
        NodeAction { verb: "etcd defrag", detail: String::new(), sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let before = status(node).await?.db_size;
        let patient = node.within(node.deadline().max(DEFRAGMENTED_WITHIN));
        patient.call(patient.machine().etcd_defragment(())).await?;
        let after = status(node).await?.db_size;
        let sizes = format!("{} of {} kB", after / 1000, before / 1000);
        printer.note(&format!("{}: defragmented, {sizes} are left", node.name()));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

async fn disarm(
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(connection, environment)?;
    let node_action =
        NodeAction { verb: "etcd alarms disarm", detail: String::new(), sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let reply = node.call(node.machine().etcd_alarm_disarm(())).await?;
        let alarms = node.only(reply.messages)?.member_alarms;
        if alarms.is_empty() {
            printer.note(&format!("{}: no alarms", node.name()));
        }
        for alarm in alarms {
            let EtcdMemberAlarm { member_id, .. } = alarm;
            let kind = alarm.alarm().as_str_name();
            printer.note(&format!("{}: disarmed {kind} of {member_id:016x}", node.name()));
        }
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

async fn recover(
    args: &EtcdRecoverArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    nodes.single("a snapshot")?;
    let snapshot = Snapshot::open(&args.file, !args.skip_hash_check)?;
    let detail = snapshot.digest.clone();
    let node_action = NodeAction { verb: "etcd recover", detail, sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| snapshot.send(node, printer).await;
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

/// Refuses what would leave etcd without a majority, unless somebody answers for that.
async fn spared(
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

/// What an action does to the member of etcd on its machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Loss {
    /// The member is away for a while, and counts meanwhile.
    Away,
    /// The member leaves first.
    Leaves,
    /// The member loses its data, and still counts.
    Data,
}

/// Refuses to take a control plane away when etcd would lose its majority, or its last data. A machine without a running
/// etcd has no vote to lose; the only voter may be away, since no other could stand in for it.
pub(super) async fn keep_majority(
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

/// Whether a member of etcd runs on a machine.
pub(super) async fn runs_etcd(node: &Node) -> Result<bool, NodeError> {
    let reply = node.ask(|node| async move { node.call(node.machine().service_list(())).await });
    let services = node.only(reply.await?.messages)?.services;
    Ok(services.iter().any(|service| service.id == "etcd" && service.state == "Running"))
}

/// Adds to what the audit log says which rules are not kept.
pub(super) fn with_overrides(detail: String, overrides: &NodeOverrideArgs) -> String {
    match (detail.as_str(), overridden(overrides)) {
        (_, overridden) if overridden.is_empty() => detail,
        ("", overridden) => overridden,
        (detail, overridden) => format!("{detail}, {overridden}"),
    }
}

/// What the audit log says about rules that are not kept.
fn overridden(overrides: &NodeOverrideArgs) -> String {
    let NodeOverrideArgs { rules, reason } = overrides;
    let Some(reason) = reason.as_ref().filter(|_| !rules.is_empty()) else { return String::new() };
    let rules: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
    format!("override {}: {reason}", rules.join(", "))
}

/// The member that a person means: by its id, or by a host name that only one of them has.
fn find(members: &[EtcdMember], name: &str) -> Result<EtcdMember, NodeActionError> {
    let id = u64::from_str_radix(name, 16).ok();
    let by_id = members.iter().find(|member| Some(member.id) == id);
    if let Some(member) = by_id {
        return Ok(member.clone());
    }
    let by_name: Vec<&EtcdMember> =
        members.iter().filter(|member| member.hostname == name).collect();
    match by_name.as_slice() {
        [member] => Ok((*member).clone()),
        others => Err(NodeActionError::Member { name: name.to_owned(), found: others.len() }),
    }
}

fn named(member: &EtcdMember) -> String {
    format!("{:016x} ({})", member.id, member.hostname)
}

async fn members(node: &Node) -> Result<Vec<EtcdMember>, NodeError> {
    let request = EtcdMemberListRequest { query_local: false };
    let reply =
        node.ask(|node| async move { node.call(node.machine().etcd_member_list(request)).await });
    Ok(node.only(reply.await?.messages)?.members)
}

async fn status(node: &Node) -> Result<EtcdMemberStatus, NodeError> {
    let reply = node.ask(|node| async move { node.call(node.machine().etcd_status(())).await });
    Ok(node.only(reply.await?.messages)?.member_status.unwrap_or_default())
}

/// A machine tries for five minutes.
const LEFT_WITHIN: Duration = Duration::from_mins(6);
/// The largest databases take minutes.
const DEFRAGMENTED_WITHIN: Duration = Duration::from_mins(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_meant_only_if_it_is_the_only_one() {
        let member = |id, hostname: &str| EtcdMember {
            id,
            hostname: hostname.to_owned(),
            ..EtcdMember::default()
        };
        // A host name can look like an id.
        let members = [member(0xab, "cp-1"), member(2, "cp-2"), member(3, "cp-2"), member(4, "ab")];
        assert_eq!(find(&members, "ab").unwrap().id, 0xab);
        assert_eq!(find(&members, "00000000000000AB").unwrap().id, 0xab);
        assert_eq!(find(&members, "cp-1").unwrap().id, 0xab);
        for (name, expected) in [("cp-2", 2), ("cp-9", 0), ("", 0)] {
            let found = find(&members, name);
            assert!(
                matches!(found, Err(NodeActionError::Member { found, .. }) if found == expected),
                "{name}"
            );
        }
    }
}
