//! `ichor time`: the clocks of machines beside that of a time server.

use serde::Serialize;
use talos_api::proto::time::{Time, TimeRequest};
use talos_api::{Node, NodeError};

use crate::args::inspect::TimeArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::timestamp::Timestamp;
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Clocks>>::json_schema;

pub(super) async fn run(
    args: &TimeArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let server = args.check.clone();
    let ask = move |node: Node| {
        let server = server.clone();
        async move { clocks(&node, server).await }
    };
    nodes.call_each(ask).await.show(|clocks| vec![clocks], args.output.format, printer)
}

async fn clocks(node: &Node, server: Option<String>) -> Result<Clocks, NodeError> {
    let reply = node.retrying(|node| {
        let server = server.clone();
        async move {
            let mut time = node.time();
            match server {
                Some(server) => node.call(time.time_check(TimeRequest { server })).await,
                None => node.call(time.time(())).await,
            }
        }
    });
    let Time { metadata: _, server, localtime, remotetime } =
        node.single_reply(reply.await?.messages)?;
    Ok(Clocks { server, time: localtime.into(), server_time: remotetime.into() })
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Clocks {
    server: String,
    time: Timestamp,
    server_time: Timestamp,
}

schema!(Clocks, camel { server, time, server_time });

impl Row for Clocks {
    const COLUMNS: &'static [&'static str] = &["NTP-SERVER", "NODE-TIME", "NTP-SERVER-TIME"];

    fn cells(&self) -> Vec<String> {
        let Self { server, time, server_time } = self;
        vec![server.clone(), time.go_format(), server_time.go_format()]
    }
}
