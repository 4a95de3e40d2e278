//! Conditions that a step waits for, one file each.

mod windows;

use std::time::Duration;

use domain::Timestamp;
use plan::Gate;

use super::At;
use crate::event::Event;

/// The verdict of a gate on a step.
enum Verdict {
    Open,
    Shut { why: String, until: Timestamp },
}

/// Waits until all gates of a step are open at the same time.
pub(super) async fn wait(at: &At<'_>) {
    loop {
        let shut = at.step.gates.iter().find_map(|gate| match look(gate, at) {
            Verdict::Open => None,
            Verdict::Shut { why, until } => Some((why, until)),
        });
        let Some((why, until)) = shut else { return };
        let place = at.execution.place(at.step);
        at.ports.emit(&Event::GateShut { place, why, until: Some(until) });
        let wait = until.since(at.ports.clock.now()).duration();
        // Not longer than a clock may be trusted that can be set.
        at.ports.clock.sleep(wait.clamp(SHORTEST, LONGEST)).await;
    }
}

fn look(gate: &Gate, at: &At<'_>) -> Verdict {
    match gate {
        Gate::Windows(windows) => windows::look(windows, at.ports.clock.now()),
    }
}

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(10);
