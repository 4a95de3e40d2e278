//! `ichor node reboot`, `shutdown`, `reset` and `rollback`: what ends the run of machines, one after the other.

use talos_api::proto::machine::reboot_request::Mode;
use talos_api::proto::machine::reset_request;
use talos_api::proto::machine::{
    RebootRequest, ResetPartitionSpec, ResetRequest, RollbackRequest, ShutdownRequest,
};
use talos_api::{Feature, Node, NodeError};

use super::Deed;
use super::etcd::{EtcdGuard, MemberEffect, with_overrides};
use super::follow::{Goal, Order};
use crate::args::node::{RebootArgs, RebootMode, ResetArgs, RollbackArgs, ShutdownArgs, WipeMode};
use crate::nodes::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) async fn reboot(
    args: &RebootArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.connection, surroundings)?;
    let detail = match args.mode {
        RebootMode::Default => String::new(),
        RebootMode::Powercycle => "through the firmware".to_owned(),
        RebootMode::Force => "without stopping anything first".to_owned(),
    };
    let detail = with_overrides(detail, &args.overrides);
    let deed = Deed { verb: "reboot", detail, sure: Some(args.confirm), surroundings };
    let order = Order { action: "reboot", goal: Goal::Back, wait: args.wait };
    let guard = EtcdGuard::new(MemberEffect::Away, &args.overrides, surroundings);
    let act = async |node: &Node, printer: &mut Printer| {
        if args.mode == RebootMode::Force {
            node.require(Feature::ForcedReboot).await?;
        }
        guard.check(node, args.wait.wait, printer).await?;
        order.give(node, printer, async |node| send_reboot(node, args.mode).await).await
    };
    deed.to_each(machines.nodes(), printer, act).await
}

/// Tells a machine to reboot. Gives the actor that does.
pub(super) async fn send_reboot(node: &Node, mode: RebootMode) -> Result<String, NodeError> {
    let mode = match mode {
        RebootMode::Default => Mode::Default,
        RebootMode::Powercycle => Mode::Powercycle,
        RebootMode::Force => Mode::Force,
    };
    let reply = node.call(node.machine().reboot(RebootRequest { mode: mode.into() })).await?;
    Ok(node.single_reply(reply.messages)?.actor_id)
}

pub(super) async fn shutdown(
    args: &ShutdownArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.connection, surroundings)?;
    let detail = if args.force { "with its pods" } else { "" }.to_owned();
    let detail = with_overrides(detail, &args.overrides);
    let deed = Deed { verb: "shutdown", detail, sure: Some(args.confirm), surroundings };
    let order = Order { action: "shut down", goal: Goal::Off, wait: args.wait };
    let send = async |node: &Node| {
        let request = ShutdownRequest { force: args.force };
        let reply = node.call(node.machine().shutdown(request)).await?;
        Ok(node.single_reply(reply.messages)?.actor_id)
    };
    let guard = EtcdGuard::new(MemberEffect::Away, &args.overrides, surroundings);
    let act = async |node: &Node, printer: &mut Printer| {
        guard.check(node, args.wait.wait, printer).await?;
        order.give(node, printer, send).await
    };
    deed.to_each(machines.nodes(), printer, act).await
}

pub(super) async fn reset(
    args: &ResetArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::find(&args.connection, &args.maintenance, surroundings)?;
    let detail = with_overrides(wiped(args), &args.overrides);
    let goal = if args.reboot { Goal::BackFromReset } else { Goal::Off };
    let deed = Deed { verb: "reset", detail, sure: Some(args.confirm), surroundings };
    let order = Order { action: "reset", goal, wait: args.wait };
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
    let guard = EtcdGuard::new(effect, &args.overrides, surroundings);
    let act = async |node: &Node, printer: &mut Printer| {
        if !args.maintenance.insecure {
            guard.check(node, args.wait.wait, printer).await?;
        }
        order.give(node, printer, send).await
    };
    deed.to_each(machines.nodes(), printer, act).await
}

/// What is lost, for the question and the audit log.
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

pub(super) async fn rollback(
    args: &RollbackArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.connection, surroundings)?;
    let detail = with_overrides(String::new(), &args.overrides);
    let deed = Deed { verb: "rollback", detail, sure: Some(args.confirm), surroundings };
    let order = Order { action: "roll back", goal: Goal::Back, wait: args.wait };
    let send = async |node: &Node| {
        node.call(node.machine().rollback(RollbackRequest {})).await?;
        // What the machine does then it does in nobody's name.
        Ok(String::new())
    };
    let guard = EtcdGuard::new(MemberEffect::Away, &args.overrides, surroundings);
    let act = async |node: &Node, printer: &mut Printer| {
        guard.check(node, args.wait.wait, printer).await?;
        order.give(node, printer, send).await
    };
    deed.to_each(machines.nodes(), printer, act).await
}
