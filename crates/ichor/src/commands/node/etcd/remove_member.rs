//! `ichor node etcd remove-member`: a member whose machine cannot leave by itself.

use talos_api::Node;
use talos_api::proto::machine::EtcdRemoveMemberByIdRequest;

use crate::args::node::etcd::EtcdRemoveMemberArgs;
use crate::commands::node::action::NodeAction;
use crate::commands::node::etcd::guard::{check_departure, overridden};
use crate::commands::node::etcd::members::{find, members, named};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(in crate::commands::node) async fn run(
    args: &EtcdRemoveMemberArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let node = nodes.single("removing a member of etcd")?;
    let member = find(&members(node).await?, &args.member)?;
    let mut detail = format!("member {}", named(&member));
    if !args.overrides.rules.is_empty() {
        detail = format!("{detail}, {}", overridden(&args.overrides));
    }
    check_departure(node, member.id, &args.overrides, printer).await?;
    let node_action =
        NodeAction { verb: "etcd remove-member", detail, sure: Some(args.confirm), environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let request = EtcdRemoveMemberByIdRequest { member_id: member.id };
        node.call(node.machine().etcd_remove_member_by_id(request)).await?;
        printer.note(&format!("{}: removed member {}", node.name(), named(&member)));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}
