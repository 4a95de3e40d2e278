//! Commands that act on machines: one file for each.
//!
//! Always holds: what is disruptive is asked about first, and everything is in the audit log before it is done.

mod reboot;

use talos_api::Node;

use crate::args::{NodeCommand, Sure};
use crate::audit::Audit;
use crate::machines::{self, Machines};
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) fn run(
    command: &NodeCommand,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    machines::run(async {
        match command {
            NodeCommand::Reboot(args) => reboot::run(args, surroundings, printer).await,
        }
    })
}

/// What is done to machines, and what a person is told and asked about it.
struct Deed<'a> {
    /// As in "reboot 10.0.0.11".
    verb: &'a str,
    /// `None` for what disturbs nobody.
    sure: Option<Sure>,
    surroundings: &'a Surroundings,
}

impl Deed<'_> {
    /// Asks, then does it to one machine after the other, and stops at the first that fails: what hurt one machine is not
    /// done to the next.
    async fn to_each(
        &self,
        machines: &Machines,
        printer: &mut Printer,
        act: impl AsyncFn(&Node, &mut Printer) -> Result<(), Error>,
    ) -> Result<ExitStatus, Error> {
        let action = format!("{} {}", self.verb, machines.names().join(", "));
        if let Some(sure) = self.sure {
            printer.confirm(&action, sure)?;
        }
        for (done, node) in machines.nodes().iter().enumerate() {
            let audit = Audit::begin(self.verb, vec![node.name().to_owned()], self.surroundings)?;
            let outcome = audit.end(act(node, printer).await);
            let Err(error) = outcome else { continue };
            let status = printer.error(&error);
            let left: Vec<&str> = machines.nodes()[done + 1..].iter().map(Node::name).collect();
            if !left.is_empty() {
                printer.note(&format!("not touched: {}", left.join(", ")));
            }
            return Ok(if done == 0 { status } else { ExitStatus::Failed });
        }
        Ok(ExitStatus::Done)
    }
}
