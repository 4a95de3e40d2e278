//! Commands that act on machines: one file for each.
//!
//! Always holds: what is disruptive is asked about first, and everything is in the audit log before it is done. What
//! changes a machine is sent once, never again by itself.

mod apply_config;
mod bootstrap;
mod etcd;
mod failure;
mod follow;
mod image;
mod meta;
mod node_config;
mod power;
mod service;
mod snapshot;
mod upgrade;
mod wipe;

pub use failure::Failure;

pub(super) use image::containerd;

use talos_api::{Node, NodeError};

use crate::args::ConfirmArgs;
use crate::args::node::{NodeCommand, NodeImageCommand, NodeWipeCommand};
use crate::audit::Audit;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::sops_files::Keys;
use crate::{Error, ExitStatus};
use crate::{directory, nodes, runtime};

pub(super) fn run(
    command: &NodeCommand,
    surroundings: &Surroundings,
    keys: &Keys,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let surroundings = &surroundings.for_actions();
    let outcome = runtime::run(async {
        match command {
            NodeCommand::ApplyConfig(args) => {
                apply_config::file(args, surroundings, keys, printer).await
            }
            NodeCommand::Patch(args) => {
                apply_config::patch(args, surroundings, keys, printer).await
            }
            NodeCommand::Bootstrap(args) => bootstrap::run(args, surroundings, printer).await,
            NodeCommand::Reboot(args) => power::reboot(args, surroundings, printer).await,
            NodeCommand::Shutdown(args) => power::shutdown(args, surroundings, printer).await,
            NodeCommand::Reset(args) => power::reset(args, surroundings, printer).await,
            NodeCommand::Rollback(args) => power::rollback(args, surroundings, printer).await,
            NodeCommand::Upgrade(args) => upgrade::run(args, surroundings, printer).await,
            NodeCommand::Wipe { command: NodeWipeCommand::Disk(args) } => {
                wipe::run(args, surroundings, printer).await
            }
            NodeCommand::Service(args) => service::run(args, surroundings, printer).await,
            NodeCommand::Image { command: NodeImageCommand::Pull(args) } => {
                image::run(args, surroundings, printer).await
            }
            NodeCommand::Meta { command } => meta::run(command, surroundings, printer).await,
            NodeCommand::Etcd { command } => etcd::run(command, surroundings, printer).await,
        }
    });
    outcome.map_err(|mut error| {
        if let Error::Machine(NodeError { node, .. }) = &mut error {
            *node = nodes::label(node, &directory::known(&surroundings.place).unwrap_or_default());
        }
        error
    })
}

/// What is done to machines, and what a person is told and asked about it.
struct Deed<'a> {
    /// As in "reboot cp-1 (10.0.0.11)".
    verb: &'a str,
    /// With what, for the question and the audit log. It names no secret.
    detail: String,
    /// `None` for what disturbs nobody.
    sure: Option<ConfirmArgs>,
    surroundings: &'a Surroundings,
}

impl Deed<'_> {
    /// Asks, then does it to one machine after the other, and stops at the first that fails: what hurt one machine is not
    /// done to the next.
    async fn to_each<T: OnNode>(
        &self,
        each: &[T],
        printer: &mut Printer,
        act: impl AsyncFn(&T, &mut Printer) -> Result<(), Error>,
    ) -> Result<ExitStatus, Error> {
        let known = directory::known(&self.surroundings.place).unwrap_or_default();
        let names: Vec<String> =
            each.iter().map(|one| nodes::label(one.node().name(), &known)).collect();
        if let Some(sure) = self.sure {
            printer.confirm(&self.action(&names.join(", ")), sure)?;
        }
        for (done, one) in each.iter().enumerate() {
            let name = one.node().name();
            let nodes = vec![name.to_owned()];
            let audit = Audit::begin(self.verb, &self.detail, nodes, self.surroundings)?;
            let outcome = tokio::select! {
                biased;
                outcome = act(one, printer) => outcome,
                _ = tokio::signal::ctrl_c() => {
                    Err(Failure::Interrupted(self.action(&names[done])).into())
                }
            };
            let Err(mut error) = audit.end(outcome) else { continue };
            if let Error::Machine(NodeError { node, .. }) = &mut error {
                *node = nodes::label(node, &known);
            }
            let status = printer.error(&error);
            let left = &names[done + 1..];
            if !left.is_empty() {
                printer.note(&format!("not touched: {}", left.join(", ")));
            }
            return Ok(match status {
                ExitStatus::Interrupted => status,
                _ if done == 0 => status,
                _ => ExitStatus::Failed,
            });
        }
        Ok(ExitStatus::Done)
    }

    /// As a person says it.
    fn action(&self, names: &str) -> String {
        match self.detail.as_str() {
            "" => format!("{} {names}", self.verb),
            detail => format!("{} {names} ({detail})", self.verb),
        }
    }
}

/// What is done to one machine.
trait OnNode {
    fn node(&self) -> &Node;
}

impl OnNode for Node {
    fn node(&self) -> &Node {
        self
    }
}
