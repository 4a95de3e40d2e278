//! Passes over one cluster, repeated until nothing is left to be done.

use plan::Goal;

use crate::cluster::Cluster;
use crate::error::Error;
use crate::execute::Report;
use crate::journal::{Entry, JournalError, Slot, Unfinished};
use crate::ports::Ports;
use crate::run::{Outcome, Want, pass};

/// Passes until the cluster matches its spec, or no pass gets further.
///
/// A pass that was stopped by what changed meanwhile is followed by another one, with a plan of its own.
pub async fn converge(cluster: &Cluster, want: Want, ports: &Ports<'_>) -> Result<Outcome, Error> {
    let (goal, overrides) = want.goal();
    let is_plan = matches!(want, Want::Plan(_));
    let mut outcome = pass(cluster, want, None, ports).await?;
    let mut follows = None;
    for _ in 1..PASSES {
        if let Outcome::Ran(report) = &outcome {
            follows = Some(report.plan);
        }
        match &outcome {
            // A person approved this very plan, and no other one.
            Outcome::Ran(report) if !is_plan && report.goes_on() => {}
            Outcome::Outdated(_) if !is_plan => {}
            _ => break,
        }
        let want = Want::Goal(goal, overrides.clone());
        match (pass(cluster, want, follows, ports).await, outcome) {
            // What the last plan could not finish has finished by itself.
            (Ok(Outcome::Settled), Outcome::Ran(report)) => {
                end_interrupted(goal, ports).await?;
                return Ok(Outcome::Ran(report.completed()));
            }
            // Everything that was planned is done, and what is left cannot be done for now.
            (Ok(Outcome::Blocked(skipped)), Outcome::Ran(report)) if report.is_complete() => {
                return Ok(Outcome::Ran(Report { skipped, ..report }));
            }
            (next, _) => outcome = next?,
        }
    }
    match outcome {
        Outcome::Settled => {
            end_interrupted(goal, ports).await?;
            Ok(Outcome::Settled)
        }
        Outcome::Outdated(refusal) => Err(refusal.into()),
        outcome => Ok(outcome),
    }
}

/// Writes down that a plan that was interrupted has reached its goal, or is not wanted any more, unless an engine carries
/// it out now. Otherwise `resume` would go on with it, however long ago that was.
async fn end_interrupted(goal: Goal, ports: &Ports<'_>) -> Result<(), Error> {
    let ledger = ports.journal.ledger().await?;
    if ledger.unfinished.is_none() && (goal == Goal::Spec || ledger.resetting.is_empty()) {
        return Ok(());
    }
    let _slot = match ports.journal.acquire(Slot::Plan).await {
        Err(JournalError::Busy(_)) => return Ok(()),
        slot => slot?,
    };
    let ledger = ports.journal.ledger().await?;
    if goal == Goal::Destroyed {
        // All of them were seen in maintenance, or gone.
        for machine in &ledger.resetting {
            ports.journal.append(ledger.reset_entry(machine)).await?;
        }
    }
    if let Some(Unfinished { plan, goal: its_goal }) = ledger.unfinished {
        let ended = if its_goal == goal {
            Entry::PlanEnded { plan, complete: true }
        } else {
            Entry::PlanCancelled { plan }
        };
        ports.journal.append(ended).await?;
    }
    Ok(())
}

/// A cluster that needs more passes than this in one go has a problem that another pass does not solve.
const PASSES: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{propose, run};

    /// A server spawns passes on a runtime of several threads: this compiles, or they cannot be.
    #[test]
    fn passes_can_be_spawned() {
        fn spawnable<T: Send>(_future: T) {}
        let _: fn(&Cluster, Want, &Ports<'_>) = |cluster, want, ports| {
            spawnable(run(cluster, want.clone(), ports));
            spawnable(converge(cluster, want.clone(), ports));
            spawnable(propose(cluster, want, ports));
        };
    }
}
