//! `ichor etcd`: members of etcd, how they are, and what they warn of.

pub(super) mod snapshot;

use serde::Serialize;
use talos_api::proto::machine::etcd_member_alarm::AlarmType;
use talos_api::proto::machine::{
    EtcdMember, EtcdMemberAlarm, EtcdMemberListRequest, EtcdMemberStatus,
};
use talos_api::{Node, NodeError};
use talos_config::spell_bytes;

use crate::args::inspect::etcd::{EtcdAlarmsArgs, EtcdMembersArgs, EtcdStatusArgs};
use crate::nodes::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::table::Row;
use crate::{Error, ExitStatus};

pub(super) async fn status(
    args: &EtcdStatusArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    async fn ask(node: Node) -> Result<EtcdMemberStatus, NodeError> {
        let reply =
            node.retrying(|node| async move { node.call(node.machine().etcd_status(())).await });
        Ok(node.single_reply(reply.await?.messages)?.member_status.unwrap_or_default())
    }
    let machines = Machines::control_planes(&args.connection, surroundings)?;
    let rows = |status| vec![Status::new(status)];
    machines.ask(ask).await.show(rows, args.output.format, printer)
}

pub(super) async fn members(
    args: &EtcdMembersArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    async fn ask(node: Node) -> Result<Vec<EtcdMember>, NodeError> {
        let request = EtcdMemberListRequest { query_local: true };
        let reply = node.retrying(|node| async move {
            node.call(node.machine().etcd_member_list(request)).await
        });
        Ok(node.single_reply(reply.await?.messages)?.members)
    }
    let machines = Machines::control_planes(&args.connection, surroundings)?;
    let rows = |members: Vec<EtcdMember>| members.into_iter().map(Member::new).collect();
    machines.ask(ask).await.show(rows, args.output.format, printer)
}

pub(super) async fn alarms(
    args: &EtcdAlarmsArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    async fn ask(node: Node) -> Result<Vec<EtcdMemberAlarm>, NodeError> {
        let reply = node
            .retrying(|node| async move { node.call(node.machine().etcd_alarm_list(())).await });
        Ok(node.single_reply(reply.await?.messages)?.member_alarms)
    }
    let machines = Machines::control_planes(&args.connection, surroundings)?;
    let rows = |alarms: Vec<EtcdMemberAlarm>| alarms.iter().map(Alarm::new).collect();
    machines.ask(ask).await.show(rows, args.output.format, printer)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    member: String,
    db_size: i64,
    db_size_in_use: i64,
    leader: String,
    raft_index: u64,
    raft_term: u64,
    raft_applied_index: u64,
    learner: bool,
    protocol: String,
    storage: String,
    errors: Vec<String>,
}

impl Status {
    fn new(status: EtcdMemberStatus) -> Self {
        Self {
            member: id(status.member_id),
            db_size: status.db_size,
            db_size_in_use: status.db_size_in_use,
            leader: id(status.leader),
            raft_index: status.raft_index,
            raft_term: status.raft_term,
            raft_applied_index: status.raft_applied_index,
            learner: status.is_learner,
            protocol: status.protocol_version,
            storage: status.storage_version,
            errors: status.errors,
        }
    }
}

impl Row for Status {
    const COLUMNS: &'static [&'static str] = &[
        "MEMBER",
        "DB SIZE",
        "IN USE",
        "LEADER",
        "RAFT INDEX",
        "RAFT TERM",
        "RAFT APPLIED INDEX",
        "LEARNER",
        "PROTOCOL",
        "STORAGE",
        "ERRORS",
    ];

    fn cells(&self) -> Vec<String> {
        let bytes = |count: i64| spell_bytes(u64::try_from(count).unwrap_or_default());
        #[expect(clippy::cast_precision_loss, reason = "two digits of it are shown")]
        let share = match self.db_size {
            0 => 0.0,
            size => self.db_size_in_use as f64 / size as f64 * 100.0,
        };
        vec![
            self.member.clone(),
            bytes(self.db_size),
            format!("{} ({share:.2}%)", bytes(self.db_size_in_use)),
            self.leader.clone(),
            self.raft_index.to_string(),
            self.raft_term.to_string(),
            self.raft_applied_index.to_string(),
            self.learner.to_string(),
            self.protocol.clone(),
            self.storage.clone(),
            self.errors.join(", "),
        ]
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Member {
    id: String,
    hostname: String,
    peer_urls: Vec<String>,
    client_urls: Vec<String>,
    learner: bool,
}

impl Member {
    fn new(member: EtcdMember) -> Self {
        Self {
            id: id(member.id),
            hostname: member.hostname,
            peer_urls: member.peer_urls,
            client_urls: member.client_urls,
            learner: member.is_learner,
        }
    }
}

impl Row for Member {
    const COLUMNS: &'static [&'static str] =
        &["ID", "HOSTNAME", "PEER URLS", "CLIENT URLS", "LEARNER"];

    fn cells(&self) -> Vec<String> {
        let Self { id, hostname, peer_urls, client_urls, learner } = self;
        let urls = |urls: &[String]| urls.join(",");
        vec![id.clone(), hostname.clone(), urls(peer_urls), urls(client_urls), learner.to_string()]
    }
}

#[derive(Serialize)]
struct Alarm {
    member: String,
    alarm: String,
}

impl Alarm {
    fn new(alarm: &EtcdMemberAlarm) -> Self {
        // One that is not known here is told by its number.
        let name = AlarmType::try_from(alarm.alarm)
            .map_or_else(|_| alarm.alarm.to_string(), |kind| kind.as_str_name().to_owned());
        Self { member: id(alarm.member_id), alarm: name }
    }
}

impl Row for Alarm {
    const COLUMNS: &'static [&'static str] = &["MEMBER", "ALARM"];

    fn cells(&self) -> Vec<String> {
        vec![self.member.clone(), self.alarm.clone()]
    }
}

/// As etcd and talosctl write ids.
fn id(id: u64) -> String {
    format!("{id:016x}")
}
