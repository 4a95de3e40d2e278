//! `ichor node etcd alarms disarm`: alarms whose cause is gone.

use talos_api::Node;
use talos_api::proto::machine::EtcdMemberAlarm;

use crate::args::ConnectionArgs;
use crate::commands::node::action::NodeAction;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(in crate::commands::node) async fn run(
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(connection, environment)?;
    let node_action =
        NodeAction { verb: "etcd alarms disarm", detail: String::new(), sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let reply = node.call(node.machine().etcd_alarm_disarm(())).await?;
        let alarms = node.single_reply(reply.messages)?.member_alarms;
        if alarms.is_empty() {
            printer.note(&format!("{}: no alarms", node.name()));
        }
        for alarm in alarms {
            let EtcdMemberAlarm { member_id, .. } = alarm;
            let kind = alarm.alarm().as_str_name();
            printer.note(&format!("{}: disarmed {kind} of {member_id:016x}", node.name()));
        }
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}
