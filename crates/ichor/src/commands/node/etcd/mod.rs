//! `ichor node etcd`: members of etcd, through the machines that they run on.

mod alarms;
mod defrag;
mod forfeit_leadership;
pub(super) mod guard;
mod leave;
mod members;
mod quorum;
mod recover;
mod remove_member;

use crate::args::node::etcd::{NodeEtcdAlarmsCommand, NodeEtcdCommand};
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    command: &NodeEtcdCommand,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    match command {
        NodeEtcdCommand::Leave(args) => leave::run(args, environment, printer).await,
        NodeEtcdCommand::RemoveMember(args) => remove_member::run(args, environment, printer).await,
        NodeEtcdCommand::ForfeitLeadership(args) => {
            forfeit_leadership::run(args, environment, printer).await
        }
        NodeEtcdCommand::Defrag(args) => defrag::run(args, environment, printer).await,
        NodeEtcdCommand::Alarms { command: NodeEtcdAlarmsCommand::Disarm(args) } => {
            alarms::run(&args.connection, environment, printer).await
        }
        NodeEtcdCommand::Recover(args) => recover::run(args, environment, printer).await,
    }
}
