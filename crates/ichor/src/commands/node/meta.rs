//! `ichor node meta`: values that a machine keeps outside of its configuration. They may be secrets: what is written is
//! neither shown nor logged.

use talos_api::Node;
use talos_api::proto::machine::{MetaDeleteRequest, MetaWriteRequest};

use super::action::NodeAction;
use crate::args::node::{MetaDeleteArgs, MetaWriteArgs, NodeMetaCommand};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    command: &NodeMetaCommand,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let (verb, key, value, maintenance, connection) = match command {
        NodeMetaCommand::Write(MetaWriteArgs { key, value, maintenance, connection }) => {
            ("meta write", *key, Some(value), maintenance, connection)
        }
        NodeMetaCommand::Delete(MetaDeleteArgs { key, maintenance, connection }) => {
            ("meta delete", *key, None, maintenance, connection)
        }
    };
    let nodes = Nodes::connect_or_maintenance(connection, maintenance, environment)?;
    let node_action =
        NodeAction { verb, detail: format!("key {key:#04x}"), sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let mut machine = node.machine();
        let key = u32::from(key);
        match value {
            Some(value) => {
                let value = value.clone().into_bytes();
                node.call(machine.meta_write(MetaWriteRequest { key, value })).await?;
                printer.note(&format!("{}: written", node.name()));
            }
            None => {
                node.call(machine.meta_delete(MetaDeleteRequest { key })).await?;
                printer.note(&format!("{}: deleted", node.name()));
            }
        }
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}
