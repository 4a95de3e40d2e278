//! `ichor node shutdown`: machines switched off, one after the other.

use talos_api::Node;
use talos_api::proto::machine::ShutdownRequest;

use crate::args::node::ShutdownArgs;
use crate::commands::node::action::NodeAction;
use crate::commands::node::etcd::guard::{EtcdGuard, MemberEffect, with_overrides};
use crate::commands::node::follow::{Completion, Operation};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &ShutdownArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let detail = if args.force { "with its pods" } else { "" }.to_owned();
    let detail = with_overrides(detail, &args.overrides);
    let node_action =
        NodeAction { verb: "shutdown", detail, sure: Some(args.confirm), environment };
    let operation = Operation { action: "shut down", goal: Completion::Off, wait: args.wait };
    let send = async |node: &Node| {
        let request = ShutdownRequest { force: args.force };
        let reply = node.call(node.machine().shutdown(request)).await?;
        Ok(node.single_reply(reply.messages)?.actor_id)
    };
    let guard = EtcdGuard::new(MemberEffect::Away, &args.overrides, environment);
    let act = async |node: &Node, printer: &mut Printer| {
        guard.check(node, args.wait.wait, printer).await?;
        operation.send_and_wait(node, printer, send).await
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}
