//! `ichor node etcd leave`: machines out of etcd, one after the other.

use std::time::Duration;

use talos_api::Node;
use talos_api::proto::machine::EtcdLeaveClusterRequest;

use crate::args::node::etcd::EtcdLeaveArgs;
use crate::commands::node::action::NodeAction;
use crate::commands::node::etcd::guard::{check_departure, overridden};
use crate::commands::node::etcd::members::status;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(in crate::commands::node) async fn run(
    args: &EtcdLeaveArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let detail = overridden(&args.overrides);
    let node_action =
        NodeAction { verb: "etcd leave", detail, sure: Some(args.confirm), environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let own = status(node).await?.member_id;
        check_departure(node, own, &args.overrides, printer).await?;
        let patient = node.with_deadline(node.deadline().max(LEFT_WITHIN));
        patient.call(patient.machine().etcd_leave_cluster(EtcdLeaveClusterRequest {})).await?;
        printer.note(&format!("{}: left etcd", node.name()));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

/// A machine tries for five minutes.
const LEFT_WITHIN: Duration = Duration::from_mins(6);
