//! `ichor node service`: services started, stopped and restarted.

use talos_api::Node;
use talos_api::proto::machine::{ServiceRestartRequest, ServiceStartRequest, ServiceStopRequest};

use super::Deed;
use crate::args::node::{NodeServiceArgs, ServiceAction};
use crate::nodes::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &NodeServiceArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.connection, surroundings)?;
    let id = &args.id;
    let (verb, sure) = match args.action {
        ServiceAction::Start => ("service start", None),
        ServiceAction::Stop => ("service stop", Some(args.confirm)),
        ServiceAction::Restart => ("service restart", Some(args.confirm)),
    };
    let deed = Deed { verb, detail: id.clone(), sure, surroundings };
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
    deed.to_each(machines.nodes(), printer, act).await
}
