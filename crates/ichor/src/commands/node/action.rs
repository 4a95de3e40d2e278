//! What is done to one machine after the other: asked about first, and in the audit log before it is done.

use talos_api::{Node, NodeError};

use crate::args::ConfirmArgs;
use crate::audit::AuditEntry;
use crate::commands::node::error::NodeActionError;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus, directory, nodes};

/// What is done to machines, and what a person is told and asked about it.
pub(super) struct NodeAction<'a> {
    /// As in "reboot cp-1 (10.0.0.11)".
    pub(super) verb: &'a str,
    /// With what, for the question and the audit log. It names no secret.
    pub(super) detail: String,
    /// `None` for what disturbs nobody.
    pub(super) sure: Option<ConfirmArgs>,
    pub(super) environment: &'a UserEnvironment,
}

impl NodeAction<'_> {
    /// Asks, then does it to one machine after the other, and stops at the first that fails: what hurt one machine is not
    /// done to the next.
    pub(super) async fn run_on_each<T: HasNode>(
        &self,
        each: &[T],
        printer: &mut Printer,
        act: impl AsyncFn(&T, &mut Printer) -> Result<(), Error>,
    ) -> Result<ExitStatus, Error> {
        let known = directory::known_machines(&self.environment.location).unwrap_or_default();
        let names: Vec<String> =
            each.iter().map(|one| nodes::label(one.node().name(), &known)).collect();
        if let Some(sure) = self.sure {
            printer.confirm(&self.action(&names.join(", ")), sure)?;
        }
        for (done, one) in each.iter().enumerate() {
            let name = one.node().name();
            let nodes = vec![name.to_owned()];
            let audit = AuditEntry::begin(self.verb, &self.detail, nodes, self.environment)?;
            let outcome = tokio::select! {
                biased;
                outcome = act(one, printer) => outcome,
                _ = tokio::signal::ctrl_c() => {
                    Err(NodeActionError::Interrupted(self.action(&names[done])).into())
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
pub(super) trait HasNode {
    fn node(&self) -> &Node;
}

impl HasNode for Node {
    fn node(&self) -> &Node {
        self
    }
}
