//! `ichor etcd status`: how members of etcd are.

use serde::Serialize;
use talos_api::proto::machine::EtcdMemberStatus;
use talos_api::{Node, NodeError};
use talos_config::spell_bytes;

use super::id;
use crate::args::inspect::etcd::EtcdStatusArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Status>>::json_schema;

pub(in crate::commands::inspect) async fn run(
    args: &EtcdStatusArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    async fn ask(node: Node) -> Result<EtcdMemberStatus, NodeError> {
        let reply =
            node.retrying(|node| async move { node.call(node.machine().etcd_status(())).await });
        Ok(node.single_reply(reply.await?.messages)?.member_status.unwrap_or_default())
    }
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let rows = |status| vec![Status::new(status)];
    nodes.call_each(ask).await.show(rows, args.output.format, printer)
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

schema!(
    Status,
    camel {
        member,
        db_size,
        db_size_in_use,
        leader,
        raft_index,
        raft_term,
        raft_applied_index,
        learner,
        protocol,
        storage,
        errors,
    }
);

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
