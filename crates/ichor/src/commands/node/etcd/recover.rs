//! `ichor node etcd recover`: a snapshot for a bootstrap to begin with.

use talos_api::Node;

use crate::args::node::etcd::EtcdRecoverArgs;
use crate::commands::node::action::NodeAction;
use crate::commands::node::snapshot::Snapshot;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(in crate::commands::node) async fn run(
    args: &EtcdRecoverArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    nodes.single("a snapshot")?;
    let snapshot = Snapshot::open(&args.file, !args.skip_hash_check)?;
    let detail = snapshot.digest.clone();
    let node_action = NodeAction { verb: "etcd recover", detail, sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| snapshot.send(node, printer).await;
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}
