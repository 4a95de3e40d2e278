//! `ichor node service`: services started, stopped and restarted.

use talos_api::Node;
use talos_api::proto::machine::{ServiceRestartRequest, ServiceStartRequest, ServiceStopRequest};

use super::action::NodeAction;
use crate::args::node::{NodeServiceArgs, ServiceAction};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &NodeServiceArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let id = &args.id;
    let (verb, sure) = match args.action {
        ServiceAction::Start => ("service start", None),
        ServiceAction::Stop => ("service stop", Some(args.confirm)),
        ServiceAction::Restart => ("service restart", Some(args.confirm)),
    };
    let node_action = NodeAction { verb, detail: id.clone(), sure, environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let mut machine = node.machine();
        let said = match args.action {
            ServiceAction::Start => {
                let request = ServiceStartRequest { id: id.clone() };
                node.single_reply(node.call(machine.service_start(request)).await?.messages)?.resp
            }
            ServiceAction::Stop => {
                let request = ServiceStopRequest { id: id.clone() };
                node.single_reply(node.call(machine.service_stop(request)).await?.messages)?.resp
            }
            ServiceAction::Restart => {
                let request = ServiceRestartRequest { id: id.clone() };
                node.single_reply(node.call(machine.service_restart(request)).await?.messages)?.resp
            }
        };
        printer.note(&format!("{}: {said}", node.name()));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}
