//! `ichor netstat`: network connections and sockets of machines and of their pods.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use talos_api::proto::machine::connect_record::{Process, State};
use talos_api::proto::machine::netstat_request::{Feature, Filter, L4proto, NetNs};
use talos_api::proto::machine::{ConnectRecord, ContainersRequest, NetstatRequest};
use talos_api::{CallError, Node, NodeError};

use super::containers::namespace_and_driver;
use crate::args::OutputFormat;
use crate::args::inspect::NetstatArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Rows, Table};
use crate::{Error, ExitStatus, nodes};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Socket>>::json_schema;

pub(super) async fn run(
    args: &NetstatArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let output = args.output.format;
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let query = Query { request: request(args), pods: args.pods, pod: args.pod.clone() };
    let ask = move |node: Node| {
        let query = query.clone();
        async move { query.sockets(&node).await }
    };
    let (answers, mut failures) = nodes.call_each(ask).await.split();
    let mut succeeded = answers.len();
    let mut sockets = Vec::new();
    let mut has_pod = args.pod.is_none();
    for (node, found) in answers {
        let Some(found) = found else { continue };
        has_pod = true;
        sockets.extend(found.into_iter().map(|what| NodeRow { node: node.clone(), what }));
    }
    if !has_pod && failures.is_empty() {
        let pod = args.pod.clone().unwrap_or_default();
        let reason = CallError::NotFound(format!("pod {pod:?} with a network of its own"));
        failures.push(NodeError { node: nodes.names().join(", "), reason });
        succeeded = 0;
    }
    if succeeded > 0 || output != OutputFormat::Table {
        printer.value(&Sockets { sockets, columns: Columns::of(args) }, output)?;
    }
    Ok(nodes::report(failures, succeeded, printer))
}

/// Returns what is asked for: the sockets of the machine itself, and those of its pods where they are wanted.
fn request(args: &NetstatArgs) -> NetstatRequest {
    let NetstatArgs { tcp, udp, udplite, raw, ipv4, ipv6, .. } = *args;
    let by_default = !(tcp || udp || udplite || raw);
    let (four, six) = (ipv4 || !ipv6, ipv6 || !ipv4);
    let wanted = |flag: bool| args.all_protocols || flag;
    let (tcp, udp) = (wanted(tcp || by_default), wanted(udp || by_default));
    let (udplite, raw) = (wanted(udplite), wanted(raw));
    let filter = if args.all {
        Filter::All
    } else if args.listening {
        Filter::Listening
    } else {
        Filter::Connected
    };
    NetstatRequest {
        filter: filter.into(),
        feature: Some(Feature { pid: args.programs }),
        l4proto: Some(L4proto {
            tcp: tcp && four,
            tcp6: tcp && six,
            udp: udp && four,
            udp6: udp && six,
            udplite: udplite && four,
            udplite6: udplite && six,
            raw: raw && four,
            raw6: raw && six,
        }),
        netns: Some(NetNs { hostnetwork: true, netns: Vec::new(), allnetns: args.pods }),
    }
}

#[derive(Clone)]
struct Query {
    request: NetstatRequest,
    /// Whether the sockets of all pods are wanted.
    pods: bool,
    /// The only pod that is wanted.
    pod: Option<String>,
}

impl Query {
    /// Asks a machine; `None` where it does not have the pod.
    async fn sockets(&self, node: &Node) -> Result<Option<Vec<Socket>>, NodeError> {
        let mut request = self.request.clone();
        let names =
            if self.pods || self.pod.is_some() { networks(node).await? } else { BTreeMap::new() };
        if let Some(pod) = &self.pod {
            let wanted = pod.to_lowercase();
            let Some((network, _)) = names.iter().find(|(_, name)| **name == wanted) else {
                return Ok(None);
            };
            let netns = vec![network.clone()];
            request.netns = Some(NetNs { hostnetwork: false, netns, allnetns: false });
        }
        let reply = node.retrying(|node| {
            let request = request.clone();
            async move { node.call(node.machine().netstat(request)).await }
        });
        let records = node.single_reply(reply.await?.messages)?.connectrecord;
        Ok(Some(records.into_iter().map(|record| Socket::new(record, &names)).collect()))
    }
}

/// Asks for the networks of pods that have one of their own, and the names of the pods.
async fn networks(node: &Node) -> Result<BTreeMap<String, String>, NodeError> {
    let (namespace, driver) = namespace_and_driver(true);
    let reply = node.retrying(|node| {
        let request = ContainersRequest { namespace: namespace.to_owned(), driver: driver.into() };
        async move { node.call(node.machine().containers(request)).await }
    });
    let containers = node.single_reply(reply.await?.messages)?.containers.into_iter();
    // The sandbox of a pod stands for it.
    let pods = containers.filter(|container| {
        !container.network_namespace.is_empty()
            && container.pid != 0
            && container.id == container.pod_id
    });
    Ok(pods.map(|pod| (pod.network_namespace, pod.id)).collect())
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Socket {
    protocol: String,
    receive_queue: u64,
    send_queue: u64,
    local: String,
    remote: String,
    state: String,
    uid: u32,
    inode: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<Program>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pod: Option<String>,
    timer: String,
}

schema!(Socket, camel { protocol, receive_queue, send_queue, local, remote, state, uid, inode, timer } optional { process, pod });

#[derive(Debug, Serialize)]
struct Program {
    pid: u32,
    name: String,
}

schema!(Program, plain { pid, name });

impl Socket {
    fn new(record: ConnectRecord, pods: &BTreeMap<String, String>) -> Self {
        let state = match record.state() {
            State::Close => "",
            state => state.as_str_name(),
        };
        let remote_port = match record.remoteport {
            0 => "*".to_owned(),
            port => port.to_string(),
        };
        let (hundredths, kind) = (record.timerwhen, record.tr().as_str_name().to_lowercase());
        let (retransmissions, timeout) = (record.retrnsmt, record.timeout);
        let (seconds, rest) = (hundredths / 100, hundredths % 100);
        let process = record.process.filter(|process| process.pid != 0);
        Self {
            protocol: record.l4proto,
            receive_queue: record.rxqueue,
            send_queue: record.txqueue,
            local: format!("{}:{}", record.localip, record.localport),
            remote: format!("{}:{remote_port}", record.remoteip),
            state: state.to_owned(),
            uid: record.uid,
            inode: record.inode,
            process: process.map(|Process { pid, name }| Program { pid, name }),
            pod: pods.get(&record.netns).cloned(),
            timer: format!("{kind} ({seconds}.{rest:02}/{retransmissions}/{timeout})"),
        }
    }
}

/// Columns that are shown on demand.
#[expect(clippy::struct_excessive_bools, reason = "each one is a flag of talosctl")]
struct Columns {
    extend: bool,
    programs: bool,
    pods: bool,
    timers: bool,
}

impl Columns {
    fn of(args: &NetstatArgs) -> Self {
        let NetstatArgs { extend, programs, pods, timers, .. } = *args;
        Self { extend, programs, pods, timers }
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Sockets {
    sockets: Vec<NodeRow<Socket>>,
    #[serde(skip)]
    columns: Columns,
}

impl fmt::Display for Sockets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Columns { extend, programs, pods, timers } = self.columns;
        let mut head =
            vec!["NODE", "Proto", "Recv-Q", "Send-Q", "Local Address", "Foreign Address", "State"];
        let on_demand = [
            (extend, &["Uid", "Inode"][..]),
            (programs, &["PID/Program name"]),
            (pods, &["Pod"]),
            (timers, &["Timer"]),
        ];
        head.extend(on_demand.iter().filter(|(shown, _)| *shown).flat_map(|(_, names)| *names));
        let mut table = Table::new(head.into_iter().map(str::to_owned).collect());
        for NodeRow { node, what: socket } in &self.sockets {
            let dash = || "-".to_owned();
            let mut cells = vec![
                node.clone(),
                socket.protocol.clone(),
                socket.receive_queue.to_string(),
                socket.send_queue.to_string(),
                socket.local.clone(),
                socket.remote.clone(),
                socket.state.clone(),
            ];
            if extend {
                cells.extend([socket.uid.to_string(), socket.inode.to_string()]);
            }
            if programs {
                let named = socket.process.as_ref();
                cells
                    .push(named.map_or_else(dash, |Program { pid, name }| format!("{pid}/{name}")));
            }
            if pods {
                cells.push(socket.pod.clone().unwrap_or_else(dash));
            }
            if timers {
                cells.push(socket.timer.clone());
            }
            table.push(cells);
        }
        table.fmt(f)
    }
}
