//! `ichor node reboot`: machines booted again, one after the other.

use talos_api::proto::machine::RebootRequest;
use talos_api::proto::machine::reboot_request::Mode;
use talos_api::{Feature, Node, NodeError};

use crate::args::node::{RebootArgs, RebootMode};
use crate::commands::node::action::NodeAction;
use crate::commands::node::etcd::guard::{EtcdGuard, MemberEffect, with_overrides};
use crate::commands::node::follow::{Completion, Operation};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &RebootArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let detail = match args.mode {
        RebootMode::Default => String::new(),
        RebootMode::Powercycle => "through the firmware".to_owned(),
        RebootMode::Force => "without stopping anything first".to_owned(),
    };
    let detail = with_overrides(detail, &args.overrides);
    let node_action = NodeAction { verb: "reboot", detail, sure: Some(args.confirm), environment };
    let operation = Operation { action: "reboot", goal: Completion::Back, wait: args.wait };
    let guard = EtcdGuard::new(MemberEffect::Away, &args.overrides, environment);
    let act = async |node: &Node, printer: &mut Printer| {
        if args.mode == RebootMode::Force {
            node.require(Feature::ForcedReboot).await?;
        }
        guard.check(node, args.wait.wait, printer).await?;
        operation
            .send_and_wait(node, printer, async |node| send_reboot(node, args.mode).await)
            .await
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

/// Tells a machine to reboot. Gives the actor that does.
pub(super) async fn send_reboot(node: &Node, mode: RebootMode) -> Result<String, NodeError> {
    let mode = match mode {
        RebootMode::Default => Mode::Default,
        RebootMode::Powercycle => Mode::Powercycle,
        RebootMode::Force => Mode::Force,
    };
    let reply = node.call(node.machine().reboot(RebootRequest { mode: mode.into() })).await?;
    Ok(node.single_reply(reply.messages)?.actor_id)
}
