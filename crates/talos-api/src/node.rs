//! One machine: its services, a deadline on every call, bounds on what is collected, and streams that end when they are
//! dropped.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{GrpcMethod, Request, Response, Status, Streaming};
use tracing::{Instrument as _, Span, debug, debug_span, field, info};

use crate::client::{Client, ConnectError};
use crate::connector::Connector;
use crate::details::WithoutDetails;
use crate::error::{CallError, NodeError, Stage};
use crate::limits::{Bound, Bounds, Limits};
use crate::proto::cluster::cluster_service_client::ClusterServiceClient;
use crate::proto::common::Data;
use crate::proto::cosi::state_client::StateClient;
use crate::proto::inspect::inspect_service_client::InspectServiceClient;
use crate::proto::machine::ReadRequest;
use crate::proto::machine::debug_service_client::DebugServiceClient;
use crate::proto::machine::image_service_client::ImageServiceClient;
use crate::proto::machine::lifecycle_service_client::LifecycleServiceClient;
use crate::proto::machine::lvm_service_client::LvmServiceClient;
use crate::proto::machine::machine_service_client::MachineServiceClient;
use crate::proto::machine::md_service_client::MdServiceClient;
use crate::proto::storage::storage_service_client::StorageServiceClient;
use crate::proto::time::time_service_client::TimeServiceClient;

/// One machine, and how long a call to it may take.
#[derive(Clone, Debug)]
pub struct Node {
    channel: Channel,
    connector: Connector,
    name: String,
    deadline: Duration,
    limits: Limits,
    routed: Routed,
}

/// The channel of the services.
pub type Service = InterceptedService<WithoutDetails, Routed>;

macro_rules! services {
    ($($(#[$doc:meta])* $name:ident: $client:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> $client<Service> {
            let channel = WithoutDetails::new(self.channel.clone());
            $client::new(InterceptedService::new(channel, self.routed.clone()))
                .max_decoding_message_size(self.limits.message)
                .max_encoding_message_size(LARGEST_REQUEST)
        }
    )*};
}

impl Node {
    pub(crate) fn new(
        client: &Client,
        name: &str,
        route: Option<MetadataValue<Ascii>>,
        deadline: Duration,
    ) -> Self {
        let Client { channel, connector, limits } = client.clone();
        let routed = Routed { route, deadline: Some(deadline) };
        Self { channel, connector, name: name.to_owned(), deadline, limits, routed }
    }

    /// Returns its name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the deadline of calls.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Returns the same machine with another deadline for calls.
    #[must_use]
    pub fn with_deadline(&self, deadline: Duration) -> Self {
        let routed = Routed { deadline: Some(deadline), ..self.routed.clone() };
        Self { deadline, routed, ..self.clone() }
    }

    /// Returns the same machine with other limits on its replies.
    #[must_use]
    pub fn limited(&self, limits: Limits) -> Self {
        Self { limits, ..self.clone() }
    }

    /// Returns another machine of the cluster, called over the same connection.
    pub fn sibling(&self, name: &str) -> Result<Self, ConnectError> {
        let route = name.parse().map_err(|_| ConnectError::Endpoint(name.to_owned()))?;
        let routed = Routed { route: Some(route), ..self.routed.clone() };
        Ok(Self { name: name.to_owned(), routed, ..self.clone() })
    }

    services! {
        /// The machine, its state and its services.
        machine: MachineServiceClient;
        /// The machine's resources.
        state: StateClient;
        /// Its images, since 1.13.
        images: ImageServiceClient;
        /// Installation and upgrade, since 1.13.
        lifecycle: LifecycleServiceClient;
        /// Containers to look around with, since 1.13.
        debug: DebugServiceClient;
        /// Logical volumes, since 1.14.
        lvm: LvmServiceClient;
        /// Arrays of disks, since 1.14.
        md: MdServiceClient;
        /// Its disks.
        storage: StorageServiceClient;
        /// Its clock.
        time: TimeServiceClient;
        /// The health of the cluster, as a control plane sees it.
        cluster: ClusterServiceClient;
        /// Its controllers.
        inspect: InspectServiceClient;
    }

    /// Makes a call, once, and tells how it failed.
    pub async fn call<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, NodeError> {
        // The interceptor of the call tells the method.
        let span = debug_span!("call", machine = self.name, method = field::Empty);
        let begun = Instant::now();
        // The machine is asked to keep the deadline too, but one that hangs does not.
        let outcome = timeout(self.deadline + GRACE, call.instrument(span.clone())).await;
        let _entered = span.entered();
        let ms = begun.elapsed().as_millis();
        let reason = match outcome {
            Ok(Ok(response)) => {
                debug!(ms, "replied");
                return Ok(response.into_inner());
            }
            Ok(Err(status)) => CallError::new(&status, self.deadline),
            Err(_) if self.connector.is_connecting() => {
                CallError::timed_out(self.deadline, Stage::Connecting)
            }
            Err(_) => CallError::timed_out(self.deadline, Stage::Sent),
        };
        debug!(ms, %reason, "call failed");
        Err(self.error(reason))
    }

    /// Does what changes nothing on the machine, and does it again when the machine could not be reached:
    /// its API restarts now and then.
    pub async fn retrying<T, F>(&self, question: impl Fn(Self) -> F) -> Result<T, NodeError>
    where
        F: Future<Output = Result<T, NodeError>>,
    {
        for delay in RETRIES {
            match question(self.clone()).await {
                Err(NodeError { reason: CallError::Unreachable(_), .. }) => {
                    info!(machine = self.name, ms = delay.as_millis(), "unreachable, retrying");
                    sleep(delay).await;
                }
                answer => return answer,
            }
        }
        question(self.clone()).await
    }

    /// Begins a stream. Dropping it tells the machine to stop, and what is not read is not sent.
    ///
    /// Each message has to come within the deadline, unless [`Stream::without_idle_timeout`] was called. All of them
    /// have to come within [`Bounds`] only where [`bounded`](Stream::bounded) sets some.
    pub async fn open<T, F>(&self, call: impl FnOnce(Self) -> F) -> Result<Stream<T>, NodeError>
    where
        F: Future<Output = Result<Response<Streaming<T>>, Status>>,
    {
        let mut endless = self.clone();
        endless.routed.deadline = None;
        let messages = self.call(call(endless)).await?;
        let (node, idle_timeout) = (self.clone(), Some(self.deadline));
        Ok(Stream { node, messages, idle_timeout, end: None, quota: None })
    }

    /// Tells one boot of the machine from another. Only administrators may ask.
    pub async fn boot_id(&self) -> Result<String, NodeError> {
        let read = self.retrying(|node| async move {
            let request = ReadRequest { path: "/proc/sys/kernel/random/boot_id".to_owned() };
            let read = |node: Self| async move { node.machine().read(request).await };
            node.limited(BOOT_ID).open(read).await?.collect_bytes().await
        });
        Ok(String::from_utf8_lossy(&read.await?).trim().to_owned())
    }

    /// Returns the one message of a reply that could hold several machines' and is this machine's alone.
    pub fn single_reply<T>(&self, messages: Vec<T>) -> Result<T, NodeError> {
        let unreadable =
            || self.error(CallError::Unreadable("a reply without a message".to_owned()));
        messages.into_iter().next().ok_or_else(unreadable)
    }

    /// Fails if that is more than is kept of a machine.
    pub(crate) fn check_count(&self, messages: usize) -> Result<(), NodeError> {
        if messages > self.limits.messages {
            return Err(self.endless(format!("{} messages", self.limits.messages)));
        }
        Ok(())
    }

    fn endless(&self, limit: String) -> NodeError {
        self.error(CallError::Endless(limit))
    }

    pub(crate) fn error(&self, reason: CallError) -> NodeError {
        NodeError { node: self.name.clone(), reason }
    }
}

/// Messages that come one after the other.
#[derive(Debug)]
pub struct Stream<T> {
    node: Node,
    messages: Streaming<T>,
    idle_timeout: Option<Duration>,
    end: Option<End>,
    quota: Option<Quota>,
}

/// The time by which a stream has to be over.
#[derive(Clone, Copy, Debug)]
struct End {
    at: Instant,
    total: Duration,
}

/// The bytes that a stream may have.
#[derive(Clone, Copy, Debug)]
struct Quota {
    most: u64,
    left: u64,
}

impl<T> Stream<T> {
    /// Lets the stream be silent for any time, as when a person follows it.
    #[must_use]
    pub fn without_idle_timeout(mut self) -> Self {
        self.idle_timeout = None;
        self
    }

    /// Returns the next message; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<T>, NodeError> {
        let Some(End { at, total }) = self.end else {
            return self.next_before_idle_timeout().await;
        };
        // Messages that are always there already would never let a timer speak.
        if Instant::now() < at
            && let Ok(next) = timeout_at(at, self.next_before_idle_timeout()).await
        {
            return next;
        }
        Err(self.node.error(CallError::OverLimit(Bound::Time(total))))
    }

    async fn next_before_idle_timeout(&mut self) -> Result<Option<T>, NodeError> {
        let next = self.messages.message();
        let outcome = match self.idle_timeout {
            Some(idle_timeout) => timeout(idle_timeout, next).await,
            None => Ok(next.await),
        };
        let reason = match outcome {
            Ok(Ok(message)) => return Ok(message),
            Ok(Err(status)) => CallError::new(&status, self.node.deadline),
            Err(_) => CallError::timed_out(self.node.deadline, Stage::Sent),
        };
        Err(self.node.error(reason))
    }
}

impl<T: Message> Stream<T> {
    /// Reads everything that is still to come, within the node's [`Limits`].
    pub async fn collect(self) -> Result<Vec<T>, NodeError> {
        let node = self.node.clone();
        let total = node.limits.total.max(node.deadline);
        let collected = timeout(total, self.collect_all()).await;
        collected.unwrap_or_else(|_| Err(node.endless(format!("{} s", total.as_secs()))))
    }

    async fn collect_all(mut self) -> Result<Vec<T>, NodeError> {
        let mut messages = Vec::new();
        let mut bytes = 0;
        while let Some(message) = self.next().await? {
            self.node.check_count(messages.len() + 1)?;
            // What is empty takes memory, too.
            bytes += size_of::<T>() + message.encoded_len();
            if bytes > self.node.limits.bytes {
                return Err(self.node.endless(format!("{} bytes", self.node.limits.bytes)));
            }
            messages.push(message);
        }
        Ok(messages)
    }
}

impl Stream<Data> {
    /// Returns the same stream, which fails when it goes on beyond the bounds.
    #[must_use]
    pub fn bounded(mut self, bounds: Bounds) -> Self {
        let Bounds { bytes, total } = bounds;
        self.end = Instant::now().checked_add(total).map(|at| End { at, total });
        self.quota = Some(Quota { most: bytes, left: bytes });
        self
    }

    /// Returns the next bytes of a file or a log; `None` at the end.
    pub async fn bytes(&mut self) -> Result<Option<Vec<u8>>, NodeError> {
        let Some(data) = self.next().await? else { return Ok(None) };
        let bytes = content(&self.node, data)?;
        if let Some(Quota { most, left }) = &mut self.quota {
            let Some(rest) = left.checked_sub(bytes.len() as u64) else {
                return Err(self.node.error(CallError::OverLimit(Bound::Bytes(*most))));
            };
            *left = rest;
        }
        Ok(Some(bytes))
    }

    /// Reads all bytes that are still to come, within the node's [`Limits`].
    pub async fn collect_bytes(self) -> Result<Vec<u8>, NodeError> {
        let node = self.node.clone();
        let mut bytes = Vec::new();
        for data in self.collect().await? {
            bytes.extend(content(&node, data)?);
        }
        Ok(bytes)
    }
}

fn content(node: &Node, data: Data) -> Result<Vec<u8>, NodeError> {
    match data.metadata.map(|metadata| metadata.error) {
        Some(error) if !error.is_empty() => Err(node.error(CallError::told(error))),
        _ => Ok(data.bytes),
    }
}

/// Asks several machines at once, a few at a time, and gives the answers in the machines' order.
pub async fn each_node<T, F>(
    nodes: Vec<Node>,
    at_once: usize,
    ask: impl Fn(Node) -> F + Send + Sync + Clone + 'static,
) -> Vec<Result<T, NodeError>>
where
    T: Send + 'static,
    F: Future<Output = Result<T, NodeError>> + Send + 'static,
{
    let permits = Arc::new(Semaphore::new(at_once.max(1)));
    let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let mut tasks = JoinSet::new();
    for (index, node) in nodes.into_iter().enumerate() {
        let (permits, ask) = (Arc::clone(&permits), ask.clone());
        tasks.spawn(async move {
            // Nobody closes the semaphore; without a permit we would only be faster.
            let _permit = permits.acquire().await;
            (index, ask(node).await)
        });
    }
    let mut answers: Vec<Option<Result<T, NodeError>>> = names.iter().map(|_| None).collect();
    while let Some(done) = tasks.join_next().await {
        if let Ok((index, answer)) = done {
            answers[index] = Some(answer);
        }
    }
    let lost = |node: String| {
        let message = "the task that asked it ended early".to_owned();
        Err(NodeError { node, reason: CallError::Other { code: tonic::Code::Internal, message } })
    };
    names
        .into_iter()
        .zip(answers)
        .map(|(name, answer)| answer.unwrap_or_else(|| lost(name)))
        .collect()
}

/// Says on every call which machine is meant and how long it may take.
#[derive(Clone, Debug)]
pub struct Routed {
    route: Option<MetadataValue<Ascii>>,
    deadline: Option<Duration>,
}

impl Interceptor for Routed {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(route) = &self.route {
            request.metadata_mut().insert("node", route.clone());
        }
        if let Some(deadline) = self.deadline {
            request.set_timeout(deadline);
        }
        if let Some(method) = request.extensions().get::<GrpcMethod<'static>>() {
            let name = format_args!("{}/{}", method.service(), method.method());
            Span::current().record("method", field::display(name));
        }
        Ok(request)
    }
}

/// As much as a machine takes.
const LARGEST_REQUEST: usize = 32 << 20;
/// A boot id has 37 bytes, which come in one piece.
const BOOT_ID: Limits =
    Limits { message: 4 << 10, messages: 16, bytes: 16 << 10, total: Duration::from_secs(10) };
/// So that a machine that keeps the deadline can say so.
const GRACE: Duration = Duration::from_secs(1);
/// Pauses before a question is asked again. The API of a machine is back within a second when it leaves maintenance.
const RETRIES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];
