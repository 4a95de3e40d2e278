//! `ichor etcd alarms`: what etcd warns of.

use serde::Serialize;
use talos_api::proto::machine::EtcdMemberAlarm;
use talos_api::proto::machine::etcd_member_alarm::AlarmType;
use talos_api::{Node, NodeError};

use super::id;
use crate::args::inspect::etcd::EtcdAlarmsArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Alarm>>::json_schema;

pub(in crate::commands::inspect) async fn run(
    args: &EtcdAlarmsArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    async fn ask(node: Node) -> Result<Vec<EtcdMemberAlarm>, NodeError> {
        let reply = node
            .retrying(|node| async move { node.call(node.machine().etcd_alarm_list(())).await });
        Ok(node.single_reply(reply.await?.messages)?.member_alarms)
    }
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let rows = |alarms: Vec<EtcdMemberAlarm>| alarms.iter().map(Alarm::new).collect();
    nodes.call_each(ask).await.show(rows, args.output.format, printer)
}

#[derive(Serialize)]
struct Alarm {
    member: String,
    alarm: String,
}

schema!(Alarm, plain { member, alarm });

impl Alarm {
    fn new(alarm: &EtcdMemberAlarm) -> Self {
        // An unknown alarm is shown by its number.
        let name = AlarmType::try_from(alarm.alarm)
            .map_or_else(|_| alarm.alarm.to_string(), |kind| kind.as_str_name().to_owned());
        Self { member: id(alarm.member_id), alarm: name }
    }
}

impl Row for Alarm {
    const COLUMNS: &'static [&'static str] = &["MEMBER", "ALARM"];

    fn cells(&self) -> Vec<String> {
        vec![self.member.clone(), self.alarm.clone()]
    }
}
