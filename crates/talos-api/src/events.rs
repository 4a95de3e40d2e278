//! What happens on a machine: its events, followed over its restarts.

use std::collections::VecDeque;

use prost::Message;
use prost_types::Any;

use crate::error::NodeError;
use crate::node::{Node, Stream};
use crate::proto::machine::{
    AddressEvent, ConfigLoadErrorEvent, ConfigValidationErrorEvent, Event, EventsRequest,
    MachineStatusEvent, PhaseEvent, RestartEvent, SequenceEvent, ServiceStateEvent, TaskEvent,
};
use crate::reconnect::{Backoff, StreamItem};

/// What a machine tells.
#[derive(Clone, Debug, PartialEq)]
pub enum EventPayload {
    /// A sequence began, ended or failed: a boot, a reboot, an upgrade.
    Sequence(SequenceEvent),
    /// A phase of a sequence.
    Phase(PhaseEvent),
    /// A task of a phase.
    Task(TaskEvent),
    /// A service is in another state.
    Service(ServiceStateEvent),
    /// The machine is about to restart.
    Restart(RestartEvent),
    /// Its configuration could not be loaded.
    ConfigLoadError(ConfigLoadErrorEvent),
    /// Its configuration is not valid.
    ConfigValidationError(ConfigValidationErrorEvent),
    /// It has other addresses or another name.
    Address(AddressEvent),
    /// It is in another stage, or ready, or no longer.
    MachineStatus(MachineStatusEvent),
    /// Something that is not known here, or that cannot be read.
    Other,
}

impl EventPayload {
    /// Reads what an event carries. `None` for the greeting that every stream begins with.
    pub fn decode(data: &Any) -> Option<Self> {
        let name = data.type_url.rsplit('/').next().unwrap_or_default();
        let bytes = data.value.as_slice();
        let read = match name {
            "" => return None,
            "machine.SequenceEvent" => SequenceEvent::decode(bytes).map(Self::Sequence),
            "machine.PhaseEvent" => PhaseEvent::decode(bytes).map(Self::Phase),
            "machine.TaskEvent" => TaskEvent::decode(bytes).map(Self::Task),
            "machine.ServiceStateEvent" => ServiceStateEvent::decode(bytes).map(Self::Service),
            "machine.RestartEvent" => RestartEvent::decode(bytes).map(Self::Restart),
            "machine.ConfigLoadErrorEvent" => {
                ConfigLoadErrorEvent::decode(bytes).map(Self::ConfigLoadError)
            }
            "machine.ConfigValidationErrorEvent" => {
                ConfigValidationErrorEvent::decode(bytes).map(Self::ConfigValidationError)
            }
            "machine.AddressEvent" => AddressEvent::decode(bytes).map(Self::Address),
            "machine.MachineStatusEvent" => {
                MachineStatusEvent::decode(bytes).map(Self::MachineStatus)
            }
            _ => return Some(Self::Other),
        };
        Some(read.unwrap_or(Self::Other))
    }
}

/// Which events.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Since {
    /// Those from now on.
    #[default]
    Now,
    /// The last so many that the machine remembers, and those from now on; a negative number means all.
    Last(i32),
    /// Those of the last seconds, and those from now on.
    Seconds(i32),
    /// Those after that one.
    Id(String),
}

/// What a stream of events gives.
#[derive(Clone, Debug)]
pub enum StreamEvent {
    /// Something happened. The greeting of the machine is not told.
    Event(Event),
    /// The machine went away, and is called again.
    Interrupted(NodeError),
}

impl Node {
    /// Follows the events of a machine until this is dropped; of one actor, if it is given.
    pub fn events(&self, since: Since, actor: &str) -> Events {
        let node = self.clone();
        let actor = actor.to_owned();
        Events {
            node,
            since,
            actor,
            stream: None,
            told: Memory::default(),
            backoff: Backoff::default(),
        }
    }
}

/// Events of a machine, in their order.
#[derive(Debug)]
pub struct Events {
    node: Node,
    /// Where the first stream begins.
    since: Since,
    actor: String,
    stream: Option<Stream<Event>>,
    told: Memory,
    backoff: Backoff,
}

impl Events {
    /// Begins to listen, so that nothing is missed of what happens from now on.
    pub async fn begin(&mut self) -> Result<(), NodeError> {
        let read = self.read().await;
        match self.backoff.classify(&self.node, read)? {
            StreamItem::Message(event) => {
                self.remember(&event);
                Ok(())
            }
            StreamItem::Lost(error) => Err(error),
        }
    }

    /// The next event. Fails when the machine does not answer to begin with, and where trying again would not help.
    pub async fn next(&mut self) -> Result<StreamEvent, NodeError> {
        loop {
            let read = self.read().await;
            match self.backoff.classify(&self.node, read)? {
                StreamItem::Message(event) => {
                    if self.remember(&event) {
                        return Ok(StreamEvent::Event(event));
                    }
                }
                StreamItem::Lost(error) => {
                    if self.stream.take().is_some() {
                        return Ok(StreamEvent::Interrupted(error));
                    }
                    self.backoff.wait().await;
                }
            }
        }
    }

    /// Keeps where the next stream has to begin. Says whether the event is one to be told: the greeting is none.
    fn remember(&mut self, event: &Event) -> bool {
        let greeting = event.data.as_ref().is_none_or(|data| data.type_url.is_empty());
        // The greeting is older than what it is asked for, unless that is only to come.
        if greeting && self.since == Since::Now {
            self.since = Since::Id(event.id.clone());
        }
        !greeting && self.told.add(&event.id)
    }

    async fn read(&mut self) -> Result<Option<Event>, NodeError> {
        if let Some(stream) = &mut self.stream {
            return stream.next().await;
        }
        let mut request =
            EventsRequest { with_actor_id: self.actor.clone(), ..EventsRequest::default() };
        match (self.told.start(), &self.since) {
            (Some(id), _) => request.tail_id = id.to_owned(),
            (None, Since::Now) => {}
            (None, Since::Last(count)) => request.tail_events = *count,
            (None, Since::Seconds(seconds)) => request.tail_seconds = *seconds,
            (None, Since::Id(id)) => request.tail_id = id.clone(),
        }
        let events = |node: Node| async move { node.machine().events(request).await };
        let mut stream = self.node.open(events).await?;
        let greeting = stream.next().await;
        self.stream = Some(stream.without_idle_timeout());
        greeting
    }
}

/// The ids of the events that were told last, as many as a machine remembers.
///
/// Ids are in the order of time, also over restarts, of which the machine remembers nothing. But it makes the id of an event
/// a moment before the event takes its place in the line, so that neighbours may be swapped.
#[derive(Debug, Default)]
struct Memory(VecDeque<String>);

impl Memory {
    /// Says whether it was not told before.
    fn add(&mut self, id: &str) -> bool {
        if self.0.iter().any(|told| told == id) {
            return false;
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(id.to_owned());
        true
    }

    /// Behind which event a stream has to begin so that nothing is missed, also of what comes late. Some of it was told.
    fn start(&self) -> Option<&str> {
        self.0.iter().rev().take(SWAPPED).min().map(String::as_str)
    }
}

/// The events that a machine keeps.
const REMEMBERED: usize = 1000;
/// Events among which one may come late: many more than happen at the same time.
const SWAPPED: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_comes_late_is_told_once_and_missed_by_nobody() {
        let mut told = Memory::default();
        assert_eq!(told.start(), None);
        let all: Vec<String> = (0..3000).map(|number| format!("{number:04}")).collect();
        for id in &all {
            // One is late by a few places.
            if id != "2990" {
                assert!(told.add(id));
            }
        }
        let start = told.start().unwrap().to_owned();
        assert!(start.as_str() < "2990");
        let again: Vec<&String> = all.iter().filter(|id| **id > start && told.add(id)).collect();
        assert_eq!(again, ["2990"]);
        assert_eq!(told.0.len(), REMEMBERED);
    }
}
