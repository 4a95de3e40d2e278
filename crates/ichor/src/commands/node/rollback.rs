//! `ichor node rollback`: machines back on what they ran before their last upgrade.

use talos_api::Node;
use talos_api::proto::machine::RollbackRequest;

use crate::args::node::RollbackArgs;
use crate::commands::node::action::NodeAction;
use crate::commands::node::etcd::guard::{EtcdGuard, MemberEffect, with_overrides};
use crate::commands::node::follow::{Completion, Operation};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &RollbackArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let detail = with_overrides(String::new(), &args.overrides);
    let node_action =
        NodeAction { verb: "rollback", detail, sure: Some(args.confirm), environment };
    let operation = Operation { action: "roll back", goal: Completion::Back, wait: args.wait };
    let send = async |node: &Node| {
        node.call(node.machine().rollback(RollbackRequest {})).await?;
        // What the machine does then it does in nobody's name.
        Ok(String::new())
    };
    let guard = EtcdGuard::new(MemberEffect::Away, &args.overrides, environment);
    let act = async |node: &Node, printer: &mut Printer| {
        guard.check(node, args.wait.wait, printer).await?;
        operation.send_and_wait(node, printer, send).await
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}
