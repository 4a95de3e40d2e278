//! One machine: its services, a deadline on every call, and streams that end when they are dropped.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};

use crate::client::ConnectError;
use crate::error::{NodeError, Reason};
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
    name: String,
    deadline: Duration,
    routed: Routed,
}

/// What services are called over.
pub type Service = InterceptedService<Channel, Routed>;

macro_rules! services {
    ($($(#[$doc:meta])* $name:ident: $client:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> $client<Service> {
            $client::new(InterceptedService::new(self.channel.clone(), self.routed.clone()))
                .max_decoding_message_size(LARGEST_MESSAGE)
                .max_encoding_message_size(LARGEST_MESSAGE)
        }
    )*};
}

impl Node {
    pub(crate) fn new(
        channel: Channel,
        name: &str,
        route: Option<MetadataValue<Ascii>>,
        deadline: Duration,
    ) -> Self {
        let routed = Routed { route, deadline: Some(deadline) };
        Self { channel, name: name.to_owned(), deadline, routed }
    }

    /// Its name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long a call may take.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// The same machine, with more or less patience.
    #[must_use]
    pub fn within(&self, deadline: Duration) -> Self {
        let routed = Routed { deadline: Some(deadline), ..self.routed.clone() };
        Self { deadline, routed, ..self.clone() }
    }

    /// Another machine of the cluster, called over the same connection.
    pub fn beside(&self, name: &str) -> Result<Self, ConnectError> {
        let route = name.parse().map_err(|_| ConnectError::Endpoint(name.to_owned()))?;
        let routed = Routed { route: Some(route), ..self.routed.clone() };
        Ok(Self { name: name.to_owned(), routed, ..self.clone() })
    }

    services! {
        /// What the machine is, does and runs.
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
        // The machine is asked to keep the deadline too, but one that hangs does not.
        let outcome = timeout(self.deadline + GRACE, call).await;
        let reason = match outcome {
            Ok(Ok(response)) => return Ok(response.into_inner()),
            Ok(Err(status)) => Reason::new(&status, self.deadline),
            Err(_) => Reason::TimedOut(self.deadline),
        };
        Err(self.error(reason))
    }

    /// Does what changes nothing on the machine, and does it again when the machine could not be reached:
    /// its API restarts now and then.
    pub async fn ask<T, F>(&self, question: impl Fn(Self) -> F) -> Result<T, NodeError>
    where
        F: Future<Output = Result<T, NodeError>>,
    {
        for delay in RETRIES {
            match question(self.clone()).await {
                Err(NodeError { reason: Reason::Unreachable(_), .. }) => sleep(delay).await,
                answer => return answer,
            }
        }
        question(self.clone()).await
    }

    /// Begins a stream. Dropping it tells the machine to stop, and what is not read is not sent.
    ///
    /// Each message has to come within the deadline, unless the stream is [`patient`](Stream::patient).
    pub async fn open<T, F>(&self, call: impl FnOnce(Self) -> F) -> Result<Stream<T>, NodeError>
    where
        F: Future<Output = Result<Response<Streaming<T>>, Status>>,
    {
        let mut endless = self.clone();
        endless.routed.deadline = None;
        let messages = self.call(call(endless)).await?;
        Ok(Stream { node: self.clone(), messages, patience: Some(self.deadline) })
    }

    /// Tells one boot of the machine from another. Only administrators may ask.
    pub async fn boot_id(&self) -> Result<String, NodeError> {
        let read = self.ask(|node| async move {
            let request = ReadRequest { path: "/proc/sys/kernel/random/boot_id".to_owned() };
            let read = |node: Self| async move { node.machine().read(request).await };
            node.open(read).await?.collect().await
        });
        let bytes: Vec<u8> = read.await?.into_iter().flat_map(|data| data.bytes).collect();
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The one message of a reply that could hold several machines' and is this machine's alone.
    pub fn only<T>(&self, messages: Vec<T>) -> Result<T, NodeError> {
        let unreadable = || self.error(Reason::Unreadable("a reply without a message".to_owned()));
        messages.into_iter().next().ok_or_else(unreadable)
    }

    pub(crate) fn error(&self, reason: Reason) -> NodeError {
        NodeError { node: self.name.clone(), reason }
    }
}

/// Messages that come one after the other.
#[derive(Debug)]
pub struct Stream<T> {
    node: Node,
    messages: Streaming<T>,
    patience: Option<Duration>,
}

impl<T> Stream<T> {
    /// The stream may be silent for as long as it likes: somebody follows it.
    #[must_use]
    pub fn patient(mut self) -> Self {
        self.patience = None;
        self
    }

    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<T>, NodeError> {
        let next = self.messages.message();
        let outcome = match self.patience {
            Some(patience) => timeout(patience, next).await,
            None => Ok(next.await),
        };
        let reason = match outcome {
            Ok(Ok(message)) => return Ok(message),
            Ok(Err(status)) => Reason::new(&status, self.node.deadline),
            Err(_) => Reason::TimedOut(self.node.deadline),
        };
        Err(self.node.error(reason))
    }

    /// Everything that is still to come. For what is small: the whole is kept.
    pub async fn collect(mut self) -> Result<Vec<T>, NodeError> {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await? {
            messages.push(message);
        }
        Ok(messages)
    }
}

impl Stream<Data> {
    /// The next bytes of a file or a log; `None` at the end.
    pub async fn bytes(&mut self) -> Result<Option<Vec<u8>>, NodeError> {
        let Some(Data { metadata, bytes }) = self.next().await? else { return Ok(None) };
        match metadata.map(|metadata| metadata.error) {
            Some(error) if !error.is_empty() => Err(self.node.error(Reason::told(error))),
            _ => Ok(Some(bytes)),
        }
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
        Err(NodeError { node, reason: Reason::Other { code: tonic::Code::Internal, message } })
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
        Ok(request)
    }
}

const LARGEST_MESSAGE: usize = 32 << 20;
/// So that a machine that keeps the deadline can say so.
const GRACE: Duration = Duration::from_secs(1);
/// Pauses before a question is asked again. The API of a machine is back within a second when it leaves maintenance.
const RETRIES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];
