//! Follows machines through an operation until it is done.
//!
//! Always holds: a machine with an unchanged boot id is never reported as rebooted.

use std::time::Duration;

use talos_api::proto::common::Code;
use talos_api::proto::definitions::enums::RuntimeMachineStage as Stage;
use talos_api::proto::definitions::runtime::{BootIdSpec, MachineStatusSpec};
use talos_api::proto::machine::{Event, phase_event, sequence_event, task_event};
use talos_api::{CallError, Client, EventPayload, Node, NodeError, Since, StreamEvent};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::error::NodeActionError;
use crate::Error;
use crate::args::node::WaitArgs;
use crate::printer::Printer;

/// Condition under which an operation is done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Completion {
    /// The machine has booted again, and is as ready as it was.
    Back,
    /// The machine no longer answers.
    Off,
    /// The machine has booted again: without its configuration, or with what it was left.
    BackFromReset,
    /// The machine has booted again without its configuration: whoever answers to our credentials was not reset.
    InMaintenance,
}

/// An operation that a machine is told to do and that takes a while.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// As in "did not begin to reboot".
    pub(super) action: &'static str,
    pub(super) goal: Completion,
    pub(super) wait: WaitArgs,
}

impl Operation {
    /// Sends the request and follows the machine. `send` returns the actor id of the events that belong to the
    /// request; with an empty one all events count.
    pub(super) async fn send_and_wait(
        self,
        node: &Node,
        printer: &mut Printer,
        give: impl AsyncFnOnce(&Node) -> Result<String, NodeError>,
    ) -> Result<(), Error> {
        let send = async |node: &Node| Ok(give(node).await?);
        self.record_and_wait(node, printer, send).await
    }

    /// Does the same with a request that is written down directly before it is sent.
    pub(super) async fn record_and_wait(
        self,
        node: &Node,
        printer: &mut Printer,
        give: impl AsyncFnOnce(&Node) -> Result<String, Error>,
    ) -> Result<(), Error> {
        let name = node.name();
        if !self.wait.wait {
            give(node).await?;
            printer.note(&format!("{name}: {} started", self.action));
            return Ok(());
        }
        let before = StateBefore::of(node).await?;
        let mut events = node.events(Since::Now, "");
        events.begin().await?;
        let begin = Instant::now();
        let actor = give(node).await?;
        let (sender, told) = mpsc::channel(QUEUED);
        // Ends with this.
        let mut listener = JoinSet::new();
        listener.spawn(async move {
            loop {
                let followed = events.next().await;
                let over = followed.is_err();
                if sender.send(followed).await.is_err() || over {
                    return;
                }
            }
        });
        let mut tracker = EventTracker::new(name, actor, self.action);
        let until = self.until(node, &before, &mut tracker, told, printer);
        let Ok(outcome) = timeout(self.wait.timeout, until).await else {
            let (node, action) = (name.to_owned(), self.action);
            return Err(
                NodeActionError::NotDone { node, action, timeout: self.wait.timeout }.into()
            );
        };
        let arrived = outcome?;
        printer.note(&format!("{name}: {arrived} after {} s", begin.elapsed().as_secs()));
        Ok(())
    }

    async fn until(
        self,
        node: &Node,
        before: &StateBefore,
        tracker: &mut EventTracker<'_>,
        mut told: mpsc::Receiver<Result<StreamEvent, NodeError>>,
        printer: &mut Printer,
    ) -> Result<&'static str, Error> {
        let mut ticks = interval(PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let probed = node.with_deadline(PROBE);
        let begin = Instant::now();
        let mut silent = 0;
        loop {
            tokio::select! {
                biased;
                Some(followed) = told.recv() => match followed {
                    Ok(StreamEvent::Event(event)) => tracker.take(&event, printer)?,
                    // What cannot be followed any more can still be asked.
                    Ok(StreamEvent::Interrupted(_)) | Err(_) => tracker.gone = true,
                },
                _ = ticks.tick() => {
                    if !tracker.begun && !tracker.gone && begin.elapsed() > BEGINS_WITHIN {
                        return Err(tracker.not_begun().into());
                    }
                    let state = self.look(&probed, before, tracker.gone).await?;
                    match state {
                        State::Reached(text) => return Ok(text),
                        State::Silent if self.goal == Completion::Off => {
                            silent += 1;
                            if silent >= SILENT_FOR {
                                return Ok("off");
                            }
                        }
                        State::Silent => {}
                        State::Waits(text) => {
                            silent = 0;
                            if tracker.gone && !text.is_empty() {
                                tracker.show(text, printer);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Checks the machine once. Transient errors are not failures: it is going down or coming up.
    async fn look(self, node: &Node, before: &StateBefore, gone: bool) -> Result<State, Error> {
        let resets = matches!(self.goal, Completion::BackFromReset | Completion::InMaintenance);
        let now = match boot(node).await {
            Ok(now) => now,
            Err(error) => {
                let is_stranger = matches!(error.reason, CallError::Untrusted(_)) && resets && gone;
                if !is_stranger && !error.reason.is_passing() {
                    return Err(error.into());
                }
                // The stranger may be an endpoint: the machine itself says that it is in maintenance.
                if resets && gone && in_maintenance(node).await {
                    return Ok(State::Reached("in maintenance"));
                }
                return Ok(State::Silent);
            }
        };
        let another = match (&before.boot, &now) {
            (Some(before), Some(now)) => before != now,
            // Without access to the boot id the lost connection decides, but not whether a reset has failed.
            _ => gone && self.goal != Completion::InMaintenance,
        };
        match self.goal {
            Completion::Back if another && before.ready => match readiness(node).await {
                Ok(Readiness::Ready) => Ok(State::Reached("back and ready")),
                Ok(Readiness::Not(why)) => Ok(State::Waits(why)),
                Err(error) if error.reason.is_passing() => Ok(State::Silent),
                Err(error) => Err(error.into()),
            },
            Completion::Back | Completion::BackFromReset if another => Ok(State::Reached("back")),
            Completion::InMaintenance if another => {
                Err(NodeActionError::NotReset(node.name().to_owned()).into())
            }
            Completion::Back
            | Completion::BackFromReset
            | Completion::InMaintenance
            | Completion::Off => Ok(State::Waits(String::new())),
        }
    }
}

/// Result of one check.
enum State {
    /// Done, with a message.
    Reached(&'static str),
    /// Unreachable.
    Silent,
    /// Reachable, with the condition it waits for.
    Waits(String),
}

/// State of a machine before the operation.
struct StateBefore {
    /// `None` when we may not know.
    boot: Option<String>,
    /// A machine that was not ready is not expected to be afterwards: its cluster may not even be there yet.
    ready: bool,
}

impl StateBefore {
    async fn of(node: &Node) -> Result<Self, NodeError> {
        let boot = boot(node).await?;
        let ready = matches!(readiness(node).await?, Readiness::Ready);
        Ok(Self { boot, ready })
    }
}

/// Returns the boot id, if we may read it.
async fn boot(node: &Node) -> Result<Option<String>, NodeError> {
    match node.boot_id().await {
        Ok(id) => Ok(Some(id)),
        Err(NodeError { reason: CallError::Denied(_), .. }) => {
            // Talos 1.14 shows it to all roles.
            match node.get::<BootIdSpec>("boot-id").await {
                Ok(found) => Ok(found.map(|spec| spec.boot_id)),
                Err(NodeError {
                    reason: CallError::Unsupported(_) | CallError::Denied(_), ..
                }) => Ok(None),
                Err(error) => Err(error),
            }
        }
        Err(error) => Err(error),
    }
}

enum Readiness {
    Ready,
    Not(String),
}

async fn readiness(node: &Node) -> Result<Readiness, NodeError> {
    let spec = node.get::<MachineStatusSpec>("machine").await?.unwrap_or_default();
    let status = spec.status.clone().unwrap_or_default();
    let running = spec.stage() == Stage::MachineStageRunning;
    if running && status.ready {
        return Ok(Readiness::Ready);
    }
    let unmet: Vec<String> =
        status.unmet_conditions.into_iter().map(|unmet| unmet.reason).collect();
    let why = if unmet.is_empty() { String::new() } else { format!(": {}", unmet.join(", ")) };
    Ok(Readiness::Not(format!("{}{why}", stage_name(spec.stage()))))
}

/// Returns whether the machine answers without credentials, at the address by which it is called.
async fn in_maintenance(node: &Node) -> bool {
    let Ok(client) = Client::maintenance(node.name(), Vec::new()) else { return false };
    let node = client.direct(node.name(), PROBE);
    match node.call(node.machine().version(())).await {
        Ok(_) => true,
        // Before 1.13 it answers without a version.
        Err(error) => matches!(error.reason, CallError::Unsupported(_)),
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::MachineStageUnknown => "starting",
        Stage::MachineStageBooting => "booting",
        Stage::MachineStageInstalling => "installing",
        Stage::MachineStageMaintenance => "in maintenance",
        Stage::MachineStageRunning => "running",
        Stage::MachineStageRebooting => "rebooting",
        Stage::MachineStageShuttingDown => "shutting down",
        Stage::MachineStageResetting => "resetting",
        Stage::MachineStageUpgrading => "upgrading",
    }
}

/// Progress of the operation, from the events of the machine.
struct EventTracker<'a> {
    node: &'a str,
    actor: String,
    action: &'static str,
    /// Whether the machine started the operation.
    begun: bool,
    /// Whether the connection was lost since. Later events belong to the next boot.
    gone: bool,
    sequence: String,
    phase: String,
    shown: String,
}

impl<'a> EventTracker<'a> {
    fn new(node: &'a str, actor: String, action: &'static str) -> Self {
        let begun = actor.is_empty();
        let (sequence, phase, shown) = Default::default();
        Self { node, actor, action, begun, gone: false, sequence, phase, shown }
    }

    fn take(&mut self, event: &Event, printer: &mut Printer) -> Result<(), NodeActionError> {
        let Some(payload) = event.data.as_ref().and_then(EventPayload::decode) else {
            return Ok(());
        };
        let ours = self.gone || self.actor.is_empty() || event.actor_id == self.actor;
        match payload {
            EventPayload::Sequence(sequence) => match &sequence.error {
                // Of what it does not even begin the machine does not say for whom it was.
                Some(error) if error.code() == Code::Locked && !self.begun => {
                    return Err(NodeActionError::Locked {
                        node: self.node.to_owned(),
                        action: self.action,
                        message: error.message.clone(),
                    });
                }
                // A sequence that the machine cancels for this operation fails too, and started earlier.
                Some(error) if ours && !self.gone && sequence.sequence == self.sequence => {
                    return Err(NodeActionError::Sequence {
                        node: self.node.to_owned(),
                        sequence: sequence.sequence.clone(),
                        message: error.message.clone(),
                    });
                }
                Some(error) if self.gone => self.show(error.message.clone(), printer),
                None if ours && sequence.action() == sequence_event::Action::Start => {
                    self.begun = true;
                    self.sequence = sequence.sequence;
                }
                _ => {}
            },
            EventPayload::Phase(phase) if ours && phase.action() == phase_event::Action::Start => {
                self.phase = phase.phase;
            }
            EventPayload::Task(task) if ours && task.action() == task_event::Action::Start => {
                self.show(format!("{}: {}: {}", self.sequence, self.phase, task.task), printer);
            }
            _ => {}
        }
        Ok(())
    }

    fn show(&mut self, text: String, printer: &mut Printer) {
        if self.shown != text {
            printer.step(&format!("{}: {text}", self.node));
            self.shown = text;
        }
    }

    fn not_begun(&self) -> NodeActionError {
        NodeActionError::NotBegun { node: self.node.to_owned(), action: self.action }
    }
}

/// Between looks at a machine.
const PAUSE: Duration = Duration::from_secs(1);
/// Deadline of one check: a machine that goes down hangs now and then.
const PROBE: Duration = Duration::from_secs(3);
/// A machine that did not begin by then does not: it takes at most a minute to end what it was doing.
const BEGINS_WITHIN: Duration = Duration::from_secs(70);
/// Consecutive checks without a reply after which a machine counts as off, not as rebooting.
const SILENT_FOR: u32 = 5;
/// Events that wait to be processed.
const QUEUED: usize = 64;
