//! Resources of a machine: got, listed, and watched for as long as one likes.
//!
//! A [`Watch`] outlives the connection and the machine's boots: when the stream ends it begins another, and tells
//! only what is different from what it told before.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::error::{CallError, NodeError};
use crate::node::{Node, Stream};
use crate::proto::cosi::meta::ResourceDefinitionSpec;
use crate::proto::cosi::{
    Event, EventType, GetRequest, ListRequest, Metadata, Resource, Spec as ResourceSpec,
    WatchOptions, WatchRequest, WatchResponse,
};
use crate::reconnect::{Backoff, StreamItem};
use crate::resource::{self, Spec};

/// Which resources.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Selection {
    /// The namespace: machines have no default for it.
    pub namespace: String,
    /// The type, in full.
    pub kind: String,
    /// One of them, or all.
    pub id: Option<String>,
}

/// What became of a resource.
#[derive(Clone)]
pub enum WatchEvent {
    /// It is there now, or was when the watch began.
    Created(Resource),
    /// It is another than before.
    Updated(Resource),
    /// It is gone, and was this. Of one that went while nobody looked only the metadata is left.
    Destroyed(Resource),
    /// All that was there has been told; what follows happens now.
    Bootstrapped,
    /// The machine went away, and is called again.
    Interrupted(NodeError),
}

impl Node {
    /// One resource of a known type, or nothing when there is no such one.
    pub async fn get<S: Spec>(&self, id: &str) -> Result<Option<S>, NodeError> {
        let found = self.get_resource(S::NAMESPACE, S::TYPE, id).await;
        match found {
            Ok(resource) => S::decode_from(&resource).map_err(|error| self.unreadable(&error)),
            Err(NodeError { reason: CallError::NotFound(_), .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All resources of a known type, by their ids.
    pub async fn list<S: Spec>(&self) -> Result<BTreeMap<String, S>, NodeError> {
        let mut found = BTreeMap::new();
        for resource in self.list_resources(S::NAMESPACE, S::TYPE).await? {
            let spec = S::decode_from(&resource).map_err(|error| self.unreadable(&error))?;
            if let (Some(metadata), Some(spec)) = (resource.metadata, spec) {
                found.insert(metadata.id, spec);
            }
        }
        Ok(found)
    }

    /// One resource of any type.
    pub async fn get_resource(
        &self,
        namespace: &str,
        kind: &str,
        id: &str,
    ) -> Result<Resource, NodeError> {
        let request = GetRequest {
            namespace: namespace.to_owned(),
            r#type: kind.to_owned(),
            id: id.to_owned(),
            options: None,
        };
        let reply = self.retrying(|node| {
            let request = request.clone();
            async move { node.call(node.state().get(request)).await }
        });
        let missing = || self.error(CallError::Unreadable("a reply without a resource".to_owned()));
        reply.await?.resource.ok_or_else(missing)
    }

    /// All resources of any type, in the machine's order.
    pub async fn list_resources(
        &self,
        namespace: &str,
        kind: &str,
    ) -> Result<Vec<Resource>, NodeError> {
        let request =
            ListRequest { namespace: namespace.to_owned(), r#type: kind.to_owned(), options: None };
        let replies = self.retrying(|node| {
            let request = request.clone();
            async move {
                let list = |node: Self| async move { node.state().list(request).await };
                node.open(list).await?.collect().await
            }
        });
        Ok(replies.await?.into_iter().filter_map(|reply| reply.resource).collect())
    }

    /// The type that a person means: by its name in full or by one of its short names, in any case.
    pub async fn definition(&self, name: &str) -> Result<ResourceDefinitionSpec, NodeError> {
        let wanted = name.to_lowercase();
        let known = self.list::<ResourceDefinitionSpec>().await?;
        let mut matches: Vec<ResourceDefinitionSpec> = known
            .into_iter()
            .filter(|(id, definition)| {
                *id == wanted
                    || definition.all_aliases.iter().any(|alias| alias.to_lowercase() == wanted)
            })
            .map(|(_, definition)| definition)
            .collect();
        match (matches.pop(), matches.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => {
                Err(self.error(CallError::NotFound(format!("no resources are called {name:?}"))))
            }
            (Some(last), false) => {
                matches.push(last);
                let names: Vec<String> =
                    matches.into_iter().map(|definition| definition.resource_type).collect();
                let text = format!("{name:?} may be any of {}", names.join(", "));
                Err(self.error(CallError::Invalid(text)))
            }
        }
    }

    /// Watches resources until the watch is dropped.
    pub fn watch(&self, selection: Selection) -> Watch {
        Watch {
            node: self.clone(),
            selection,
            stream: None,
            told: BTreeMap::new(),
            unseen: BTreeSet::new(),
            waiting: VecDeque::new(),
            settled: false,
            backoff: Backoff::default(),
        }
    }

    fn unreadable(&self, error: &resource::Error) -> NodeError {
        self.error(CallError::Unreadable(error.to_string()))
    }
}

/// Changes of resources, in the order in which the machine tells them.
pub struct Watch {
    node: Node,
    selection: Selection,
    stream: Option<Stream<WatchResponse>>,
    /// What whoever listens knows, and in which state.
    told: BTreeMap<String, State>,
    /// What they know and a stream that has just begun has not told yet.
    unseen: BTreeSet<String>,
    waiting: VecDeque<WatchEvent>,
    /// Whether the stream has told all that is there.
    settled: bool,
    backoff: Backoff,
}

/// Versions begin anew when a machine boots; the times tell the boots apart.
type State = (String, Option<(i64, i32)>, Option<(i64, i32)>);

impl Watch {
    /// The next change. Fails when the machine does not answer to begin with, and where trying again would not
    /// help.
    pub async fn next(&mut self) -> Result<WatchEvent, NodeError> {
        loop {
            if let Some(change) = self.waiting.pop_front() {
                return Ok(change);
            }
            let read = self.read().await;
            match self.backoff.classify(&self.node, read)? {
                StreamItem::Message(response) => {
                    for event in response.event {
                        self.take(event);
                    }
                    self.node.check_count(self.told.len())?;
                }
                StreamItem::Lost(error) => {
                    if self.stream.take().is_some() {
                        return Ok(WatchEvent::Interrupted(error));
                    }
                    self.backoff.wait().await;
                }
            }
        }
    }

    async fn read(&mut self) -> Result<Option<WatchResponse>, NodeError> {
        if let Some(stream) = &mut self.stream {
            return stream.next().await;
        }
        let one = self.selection.id.is_some();
        let options = WatchOptions { bootstrap_contents: !one, ..Default::default() };
        let request = WatchRequest {
            namespace: self.selection.namespace.clone(),
            r#type: self.selection.kind.clone(),
            id: self.selection.id.clone(),
            options: Some(options),
            api_version: 1,
        };
        let watch = |node: Node| async move { node.state().watch(request).await };
        let mut stream = self.node.open(watch).await?;
        // The machine says at once that it watches, with a message that has nothing in it.
        let first = stream.next().await;
        self.unseen = self.told.keys().cloned().collect();
        self.settled = false;
        self.stream = Some(stream.without_idle_timeout());
        first
    }

    fn take(&mut self, event: Event) {
        // A kind of event that is not known here comes from a newer machine.
        let Ok(kind) = EventType::try_from(event.event_type) else { return };
        match kind {
            EventType::Created | EventType::Updated => {
                if let Some(resource) = event.resource {
                    self.take_resource(resource);
                }
            }
            EventType::Destroyed => {
                if let Some(resource) = event.resource {
                    self.forget(resource);
                }
            }
            EventType::Bootstrapped => {
                for id in std::mem::take(&mut self.unseen) {
                    self.forget(self.tombstone(id));
                }
                self.settle();
            }
            EventType::Errored => {
                // The machine had more to tell than it could keep. What was missed is found by beginning anew.
                self.stream = None;
                let text = event.error.unwrap_or_default();
                let error = self.node.error(CallError::disconnected(text));
                self.waiting.push_back(WatchEvent::Interrupted(error));
            }
            EventType::Noop => {}
        }
        // Of a single one the first thing told is all there is.
        if self.selection.id.is_some() {
            self.settle();
        }
    }

    fn settle(&mut self) {
        if !std::mem::replace(&mut self.settled, true) {
            self.waiting.push_back(WatchEvent::Bootstrapped);
        }
    }

    fn take_resource(&mut self, resource: Resource) {
        let Some(metadata) = &resource.metadata else { return };
        let time = |at: Option<prost_types::Timestamp>| at.map(|at| (at.seconds, at.nanos));
        let state = (metadata.version.clone(), time(metadata.created), time(metadata.updated));
        self.unseen.remove(&metadata.id);
        let before = self.told.insert(metadata.id.clone(), state.clone());
        match before {
            None => self.waiting.push_back(WatchEvent::Created(resource)),
            Some(before) if before != state => {
                self.waiting.push_back(WatchEvent::Updated(resource));
            }
            Some(_) => {}
        }
    }

    fn forget(&mut self, resource: Resource) {
        let Some(metadata) = &resource.metadata else { return };
        self.unseen.remove(&metadata.id);
        if self.told.remove(&metadata.id).is_some() {
            self.waiting.push_back(WatchEvent::Destroyed(resource));
        }
    }

    fn tombstone(&self, id: String) -> Resource {
        let metadata = Metadata {
            namespace: self.selection.namespace.clone(),
            r#type: self.selection.kind.clone(),
            id,
            ..Default::default()
        };
        Resource { metadata: Some(metadata), spec: Some(ResourceSpec::default()) }
    }
}
