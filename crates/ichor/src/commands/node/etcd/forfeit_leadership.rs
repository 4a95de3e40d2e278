//! `ichor node etcd forfeit-leadership`: another member leads.

use talos_api::Node;
use talos_api::proto::machine::EtcdForfeitLeadershipRequest;

use crate::args::node::etcd::EtcdForfeitLeadershipArgs;
use crate::commands::node::action::NodeAction;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(in crate::commands::node) async fn run(
    args: &EtcdForfeitLeadershipArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let node_action = NodeAction {
        verb: "etcd forfeit-leadership",
        detail: String::new(),
        sure: None,
        environment,
    };
    let act = async |node: &Node, printer: &mut Printer| {
        let request = EtcdForfeitLeadershipRequest {};
        let reply = node.call(node.machine().etcd_forfeit_leadership(request)).await?;
        let leader = node.single_reply(reply.messages)?.member;
        let text = if leader.is_empty() {
            "did not lead".to_owned()
        } else {
            format!("{leader} leads now")
        };
        printer.note(&format!("{}: {text}", node.name()));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}
