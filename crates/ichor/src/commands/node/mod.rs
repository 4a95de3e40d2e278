//! Commands that act on machines: one file for each.
//!
//! Always holds: what is disruptive is asked about first, and everything is in the audit log before it is done. What
//! changes a machine is sent once, never again by itself.

mod action;
mod apply_config;
mod bootstrap;
mod edit;
mod error;
mod etcd;
mod follow;
mod image;
mod meta;
mod node_config;
mod patch;
mod prepared_config;
mod reboot;
mod reset;
mod rollback;
mod service;
mod shutdown;
mod snapshot;
mod upgrade;
mod wipe;

pub use error::NodeActionError;

pub(super) use image::containerd;

use talos_api::NodeError;

use crate::args::node::{NodeCommand, NodeImageCommand, NodeWipeCommand};
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::sops_files::SopsKeys;
use crate::{Error, ExitStatus};
use crate::{directory, nodes, runtime};

pub(super) fn run(
    command: &NodeCommand,
    environment: &UserEnvironment,
    keys: &SopsKeys,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let environment = &environment.for_actions();
    let outcome = runtime::run(async {
        match command {
            NodeCommand::ApplyConfig(args) => {
                apply_config::run(args, environment, keys, printer).await
            }
            NodeCommand::Patch(args) => patch::run(args, environment, keys, printer).await,
            NodeCommand::Edit(args) => edit::run(args, environment, printer).await,
            NodeCommand::Bootstrap(args) => bootstrap::run(args, environment, printer).await,
            NodeCommand::Reboot(args) => reboot::run(args, environment, printer).await,
            NodeCommand::Shutdown(args) => shutdown::run(args, environment, printer).await,
            NodeCommand::Reset(args) => reset::run(args, environment, printer).await,
            NodeCommand::Rollback(args) => rollback::run(args, environment, printer).await,
            NodeCommand::Upgrade(args) => upgrade::run(args, environment, printer).await,
            NodeCommand::Wipe { command: NodeWipeCommand::Disk(args) } => {
                wipe::run(args, environment, printer).await
            }
            NodeCommand::Service(args) => service::run(args, environment, printer).await,
            NodeCommand::Image { command: NodeImageCommand::Pull(args) } => {
                image::run(args, environment, printer).await
            }
            NodeCommand::Meta { command } => meta::run(command, environment, printer).await,
            NodeCommand::Etcd { command } => etcd::run(command, environment, printer).await,
        }
    });
    outcome.map_err(|mut error| {
        if let Error::Machine(NodeError { node, .. }) = &mut error {
            *node = nodes::label(
                node,
                &directory::known_machines(&environment.location).unwrap_or_default(),
            );
        }
        error
    })
}
