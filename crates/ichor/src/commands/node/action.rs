//! Actions on one machine after the other: confirmed first, and in the audit log before they are started.

use talos_api::{Node, NodeError};

use crate::args::ConfirmArgs;
use crate::audit::AuditEntry;
use crate::commands::node::error::NodeActionError;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus, directory, nodes};

/// An action on machines, as it is confirmed and recorded.
pub(super) struct NodeAction<'a> {
    /// As in "reboot cp-1 (10.0.0.11)".
    pub(super) verb: &'a str,
    /// With what, for the question and the audit log. It names no secret.
    pub(super) detail: String,
    /// `None` for actions that are not disruptive.
    pub(super) sure: Option<ConfirmArgs>,
    pub(super) environment: &'a UserEnvironment,
}

impl NodeAction<'_> {
    /// Asks for confirmation, then runs the action on one machine after the other, and stops at the first failure:
    /// what harmed one machine is not repeated on the next.
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
            printer.confirm(&self.action(&names.join(", ")), sure.yes)?;
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
                printer.note(&format!("not changed: {}", left.join(", ")));
            }
            return Ok(match status {
                ExitStatus::Interrupted => status,
                _ if done == 0 => status,
                _ => ExitStatus::Failed,
            });
        }
        Ok(ExitStatus::Done)
    }

    /// Describes the action for confirmations and messages.
    fn action(&self, names: &str) -> String {
        match self.detail.as_str() {
            "" => format!("{} {names}", self.verb),
            detail => format!("{} {names} ({detail})", self.verb),
        }
    }
}

/// Anything that belongs to one node.
pub(super) trait HasNode {
    fn node(&self) -> &Node;
}

impl HasNode for Node {
    fn node(&self) -> &Node {
        self
    }
}
