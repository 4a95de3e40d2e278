//! `ichor node etcd defrag`: space that databases no longer use, given back.

use std::time::Duration;

use talos_api::Node;

use crate::args::node::etcd::EtcdDefragArgs;
use crate::commands::node::action::NodeAction;
use crate::commands::node::etcd::members::status;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(in crate::commands::node) async fn run(
    args: &EtcdDefragArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let mut leader = None;
    for node in nodes.as_slice() {
        let status = status(node).await?;
        if status.leader == status.member_id {
            leader = Some(node.name().to_owned());
        }
    }
    let nodes = nodes.with_last(&leader.unwrap_or_default());
    let node_action =
        NodeAction { verb: "etcd defrag", detail: String::new(), sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let before = status(node).await?.db_size;
        let patient = node.with_deadline(node.deadline().max(DEFRAGMENTED_WITHIN));
        patient.call(patient.machine().etcd_defragment(())).await?;
        let after = status(node).await?.db_size;
        let sizes = format!("{} of {} kB", after / 1000, before / 1000);
        printer.note(&format!("{}: defragmented, {sizes} are left", node.name()));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

/// The largest databases take minutes.
const DEFRAGMENTED_WITHIN: Duration = Duration::from_mins(10);
