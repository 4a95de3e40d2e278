//! `ichor node reset`: machines wiped, one after the other.

use talos_api::proto::machine::{ResetPartitionSpec, ResetRequest, reset_request};
use talos_api::{Node, NodeError};

use crate::args::node::{ResetArgs, WipeMode};
use crate::commands::node::action::NodeAction;
use crate::commands::node::error::NodeActionError;
use crate::commands::node::etcd::guard::{EtcdGuard, MemberEffect, with_overrides};
use crate::commands::node::follow::{Completion, Operation};
use crate::directory::JournaledReset;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &ResetArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::connect_or_maintenance(&args.connection, &args.maintenance, environment)?;
    let detail = with_overrides(wiped(args), &args.overrides);
    let wipes_config = !args.maintenance.insecure
        && args.wipe_mode != WipeMode::UserDisks
        && (args.system_labels_to_wipe.is_empty()
            || args.system_labels_to_wipe.iter().any(|label| label == "STATE"));
    let goal = match args.reboot {
        false => Completion::Off,
        true if wipes_config => Completion::InMaintenance,
        true => Completion::BackFromReset,
    };
    let node_action = NodeAction { verb: "reset", detail, sure: Some(args.confirm), environment };
    let operation = Operation { action: "reset", goal, wait: args.wait };
    let partition = |label: &String| ResetPartitionSpec { label: label.clone(), wipe: true };
    let request = ResetRequest {
        graceful: args.graceful,
        reboot: args.reboot,
        system_partitions_to_wipe: args.system_labels_to_wipe.iter().map(partition).collect(),
        user_disks_to_wipe: args.user_disks_to_wipe.clone(),
        mode: match args.wipe_mode {
            WipeMode::All => reset_request::WipeMode::All,
            WipeMode::SystemDisk => reset_request::WipeMode::SystemDisk,
            WipeMode::UserDisks => reset_request::WipeMode::UserDisks,
        }
        .into(),
    };
    let send = async |node: &Node| {
        let reply = node.call(node.machine().reset(request.clone())).await?;
        Ok(node.single_reply(reply.messages)?.actor_id)
    };
    let effect = if args.graceful { MemberEffect::Leaves } else { MemberEffect::DataLoss };
    let guard = EtcdGuard::new(effect, &args.overrides, environment);
    // A member that does not leave stays in etcd, and a machine with its configuration stays ours.
    let forgets = args.graceful && wipes_config;
    let act = async |node: &Node, printer: &mut Printer| {
        if !args.maintenance.insecure {
            guard.check(node, args.wait.wait, printer).await?;
        }
        let mut journaled = None;
        let send = async |node: &Node| {
            if forgets {
                journaled = JournaledReset::begin(&environment.location, node).await?;
            }
            let sent = send(node).await;
            if let Err(NodeError { reason, .. }) = &sent
                && !reason.may_have_happened()
                && let Some(journaled) = journaled.take()
            {
                journaled.withdraw().await?;
            }
            Ok(sent?)
        };
        let outcome = operation.record_and_wait(node, printer, send).await;
        let Some(journaled) = journaled else { return outcome };
        match outcome {
            Ok(()) if args.wait.wait && goal == Completion::InMaintenance => {
                journaled.forget().await
            }
            Err(Error::NodeAction(
                error @ (NodeActionError::Locked { .. } | NodeActionError::NotReset(_)),
            )) => {
                journaled.withdraw().await?;
                Err(error.into())
            }
            // The journal knows that it is being reset: in maintenance it has been. A machine that is off, or out of reach,
            // may still be a member.
            outcome => outcome,
        }
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

/// Describes what is wiped, for the confirmation and the audit log.
fn wiped(args: &ResetArgs) -> String {
    let mut wiped = Vec::new();
    if args.wipe_mode != WipeMode::UserDisks {
        wiped.push(match args.system_labels_to_wipe.as_slice() {
            [] => "the system disk".to_owned(),
            labels => labels.join(", "),
        });
    }
    wiped.extend(args.user_disks_to_wipe.iter().cloned());
    let leaving = if args.graceful { "" } else { ", without leaving etcd" };
    format!("wipes {}{leaving}", wiped.join(", "))
}
