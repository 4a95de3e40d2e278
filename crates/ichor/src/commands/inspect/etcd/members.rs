//! `ichor etcd members`: the members of etcd, as each machine sees them.

use serde::Serialize;
use talos_api::proto::machine::{EtcdMember, EtcdMemberListRequest};
use talos_api::{Node, NodeError};

use super::id;
use crate::args::inspect::etcd::EtcdMembersArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Member>>::json_schema;

pub(in crate::commands::inspect) async fn run(
    args: &EtcdMembersArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    async fn ask(node: Node) -> Result<Vec<EtcdMember>, NodeError> {
        let request = EtcdMemberListRequest { query_local: true };
        let reply = node.retrying(|node| async move {
            node.call(node.machine().etcd_member_list(request)).await
        });
        Ok(node.single_reply(reply.await?.messages)?.members)
    }
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let rows = |members: Vec<EtcdMember>| members.into_iter().map(Member::new).collect();
    nodes.call_each(ask).await.show(rows, args.output.format, printer)
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

schema!(Member, camel { id, hostname, peer_urls, client_urls, learner });

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
