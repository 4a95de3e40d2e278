//! `ichor node etcd`: members of etcd, through the machines that they run on.

mod guard;
mod quorum;

pub(super) use guard::{EtcdGuard, MemberEffect};

use std::time::Duration;

use talos_api::proto::machine::{
    EtcdForfeitLeadershipRequest, EtcdLeaveClusterRequest, EtcdMember, EtcdMemberAlarm,
    EtcdMemberListRequest, EtcdMemberStatus, EtcdRemoveMemberByIdRequest,
};
use talos_api::{Node, NodeError};

use guard::check_departure;

use super::snapshot::Snapshot;
use super::{Deed, Failure};
use crate::args::ConnectionArgs;
use crate::args::node::NodeOverrideArgs;
use crate::args::node::etcd::{
    EtcdDefragArgs, EtcdForfeitLeadershipArgs, EtcdLeaveArgs, EtcdRecoverArgs,
    EtcdRemoveMemberArgs, NodeEtcdAlarmsCommand, NodeEtcdCommand,
};
use crate::nodes::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    command: &NodeEtcdCommand,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    match command {
        NodeEtcdCommand::Leave(args) => leave(args, surroundings, printer).await,
        NodeEtcdCommand::RemoveMember(args) => remove(args, surroundings, printer).await,
        NodeEtcdCommand::ForfeitLeadership(args) => forfeit(args, surroundings, printer).await,
        NodeEtcdCommand::Defrag(args) => defragment(args, surroundings, printer).await,
        NodeEtcdCommand::Alarms { command: NodeEtcdAlarmsCommand::Disarm(args) } => {
            disarm(&args.connection, surroundings, printer).await
        }
        NodeEtcdCommand::Recover(args) => recover(args, surroundings, printer).await,
    }
}

async fn leave(
    args: &EtcdLeaveArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::control_planes(&args.connection, surroundings)?;
    let detail = overridden(&args.overrides);
    let deed = Deed { verb: "etcd leave", detail, sure: Some(args.confirm), surroundings };
    let act = async |node: &Node, printer: &mut Printer| {
        let own = status(node).await?.member_id;
        check_departure(node, own, &args.overrides, printer).await?;
        let patient = node.with_deadline(node.deadline().max(LEFT_WITHIN));
        patient.call(patient.machine().etcd_leave_cluster(EtcdLeaveClusterRequest {})).await?;
        printer.note(&format!("{}: left etcd", node.name()));
        Ok(())
    };
    deed.to_each(machines.nodes(), printer, act).await
}

async fn remove(
    args: &EtcdRemoveMemberArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::control_planes(&args.connection, surroundings)?;
    let node = machines.only("removing a member of etcd")?;
    let member = find(&members(node).await?, &args.member)?;
    let mut detail = format!("member {}", named(&member));
    if !args.overrides.rules.is_empty() {
        detail = format!("{detail}, {}", overridden(&args.overrides));
    }
    check_departure(node, member.id, &args.overrides, printer).await?;
    let deed = Deed { verb: "etcd remove-member", detail, sure: Some(args.confirm), surroundings };
    let act = async |node: &Node, printer: &mut Printer| {
        let request = EtcdRemoveMemberByIdRequest { member_id: member.id };
        node.call(node.machine().etcd_remove_member_by_id(request)).await?;
        printer.note(&format!("{}: removed member {}", node.name(), named(&member)));
        Ok(())
    };
    deed.to_each(machines.nodes(), printer, act).await
}

async fn forfeit(
    args: &EtcdForfeitLeadershipArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::control_planes(&args.connection, surroundings)?;
    let deed =
        Deed { verb: "etcd forfeit-leadership", detail: String::new(), sure: None, surroundings };
    let act = async |node: &Node, printer: &mut Printer| {
        let request = EtcdForfeitLeadershipRequest {};
        let reply = node.call(node.machine().etcd_forfeit_leadership(request)).await?;
        let leader = node.single_reply(reply.messages)?.member;
        let text = if leader.is_empty() {
            "did not lead".to_owned()
        } else {
            format!("{leader} leads now")
        };
        printer.note(&format!("{}: {text}", node.name()));
        Ok(())
    };
    deed.to_each(machines.nodes(), printer, act).await
}

async fn defragment(
    args: &EtcdDefragArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::control_planes(&args.connection, surroundings)?;
    let mut leader = None;
    for node in machines.nodes() {
        let status = status(node).await?;
        if status.leader == status.member_id {
            leader = Some(node.name().to_owned());
        }
    }
    let machines = machines.with_last(&leader.unwrap_or_default());
    let deed = Deed { verb: "etcd defrag", detail: String::new(), sure: None, surroundings };
    let act = async |node: &Node, printer: &mut Printer| {
        let before = status(node).await?.db_size;
        let patient = node.with_deadline(node.deadline().max(DEFRAGMENTED_WITHIN));
        patient.call(patient.machine().etcd_defragment(())).await?;
        let after = status(node).await?.db_size;
        let sizes = format!("{} of {} kB", after / 1000, before / 1000);
        printer.note(&format!("{}: defragmented, {sizes} are left", node.name()));
        Ok(())
    };
    deed.to_each(machines.nodes(), printer, act).await
}

async fn disarm(
    connection: &ConnectionArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::control_planes(connection, surroundings)?;
    let deed = Deed { verb: "etcd alarms disarm", detail: String::new(), sure: None, surroundings };
    let act = async |node: &Node, printer: &mut Printer| {
        let reply = node.call(node.machine().etcd_alarm_disarm(())).await?;
        let alarms = node.single_reply(reply.messages)?.member_alarms;
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
    deed.to_each(machines.nodes(), printer, act).await
}

async fn recover(
    args: &EtcdRecoverArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::control_planes(&args.connection, surroundings)?;
    machines.only("a snapshot")?;
    let snapshot = Snapshot::open(&args.file, !args.skip_hash_check)?;
    let detail = snapshot.digest.clone();
    let deed = Deed { verb: "etcd recover", detail, sure: None, surroundings };
    let act = async |node: &Node, printer: &mut Printer| snapshot.send(node, printer).await;
    deed.to_each(machines.nodes(), printer, act).await
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
fn find(members: &[EtcdMember], name: &str) -> Result<EtcdMember, Failure> {
    let id = u64::from_str_radix(name, 16).ok();
    let by_id = members.iter().find(|member| Some(member.id) == id);
    if let Some(member) = by_id {
        return Ok(member.clone());
    }
    let by_name: Vec<&EtcdMember> =
        members.iter().filter(|member| member.hostname == name).collect();
    match by_name.as_slice() {
        [member] => Ok((*member).clone()),
        others => Err(Failure::Member { name: name.to_owned(), found: others.len() }),
    }
}

fn named(member: &EtcdMember) -> String {
    format!("{:016x} ({})", member.id, member.hostname)
}

/// Lists the members by the machine's own etcd: otherwise Talos asks any control plane, which may be in another etcd.
async fn members(node: &Node) -> Result<Vec<EtcdMember>, NodeError> {
    let request = EtcdMemberListRequest { query_local: true };
    let reply = node
        .retrying(|node| async move { node.call(node.machine().etcd_member_list(request)).await });
    Ok(node.single_reply(reply.await?.messages)?.members)
}

async fn status(node: &Node) -> Result<EtcdMemberStatus, NodeError> {
    let reply =
        node.retrying(|node| async move { node.call(node.machine().etcd_status(())).await });
    Ok(node.single_reply(reply.await?.messages)?.member_status.unwrap_or_default())
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
                matches!(found, Err(Failure::Member { found, .. }) if found == expected),
                "{name}"
            );
        }
    }
}
