//! The way to machines: one connection, any of the endpoints, a deadline on every call.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as Task, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use talos_config::Context;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::codegen::http::Uri;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};

use crate::error::{NodeError, Reason};
use crate::proto::cosi::state_client::StateClient;
use crate::proto::machine::machine_service_client::MachineServiceClient;
use crate::tls::{self, Fingerprint, Unusable};

/// A cluster, or one machine in maintenance, that can be called.
///
/// It connects when it is first used and again whenever the connection is lost, to the endpoint that
/// answered last or else to the next one. It is made within a runtime of tokio, which it needs for as long
/// as it lives.
#[derive(Clone, Debug)]
pub struct Client {
    channel: Channel,
}

/// Why there is nothing to connect to.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConnectError {
    /// No endpoint is given.
    #[error("the context names no endpoint")]
    NoEndpoint,
    /// An endpoint that is no host.
    #[error("{0:?} is no endpoint")]
    Endpoint(String),
    /// Credentials that are none.
    #[error("the context cannot be used: {0} cannot be read")]
    Credentials(&'static str),
}

/// One machine, and how long a call to it may take.
#[derive(Clone, Debug)]
pub struct Node {
    channel: Channel,
    name: String,
    routed: Routed,
}

/// What services are called over.
pub type Service = InterceptedService<Channel, Routed>;

impl Client {
    /// A cluster, by what a talosconfig says about it.
    pub fn new(context: &Context) -> Result<Self, ConnectError> {
        Self::connect(&context.endpoints, tls::mutual(context))
    }

    /// A machine in maintenance. Without a fingerprint any machine at the address will do.
    pub fn maintenance(
        address: &str,
        fingerprints: Vec<Fingerprint>,
    ) -> Result<Self, ConnectError> {
        Self::connect(&[address.to_owned()], tls::maintenance(fingerprints))
    }

    fn connect(
        endpoints: &[String],
        config: Result<ClientConfig, Unusable>,
    ) -> Result<Self, ConnectError> {
        let config = config.map_err(|Unusable(what)| ConnectError::Credentials(what))?;
        let addresses: Vec<Address> = endpoints
            .iter()
            .map(|text| Address::parse(text).ok_or_else(|| ConnectError::Endpoint(text.clone())))
            .collect::<Result<_, _>>()?;
        if addresses.is_empty() {
            return Err(ConnectError::NoEndpoint);
        }
        let dial = Dial {
            addresses,
            last: AtomicUsize::new(0),
            tls: TlsConnector::from(Arc::new(config)),
        };
        // Whom we mean is said by each endpoint and by the metadata of each call, never by this name.
        let channel = Endpoint::from_static("https://talos")
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .http2_keep_alive_interval(Duration::from_secs(10))
            .keep_alive_timeout(Duration::from_secs(5))
            .keep_alive_while_idle(false)
            .connect_with_connector_lazy(Connector(Arc::new(dial)));
        Ok(Self { channel })
    }

    /// A machine of the cluster, called through whatever endpoint answers.
    pub fn node(&self, name: &str, deadline: Duration) -> Result<Node, ConnectError> {
        let route = name.parse().map_err(|_| ConnectError::Endpoint(name.to_owned()))?;
        Ok(self.routed(name, Some(route), deadline))
    }

    /// The machine that the connection ends at: the one in maintenance, or the endpoint itself.
    pub fn here(&self, name: &str, deadline: Duration) -> Node {
        self.routed(name, None, deadline)
    }

    fn routed(&self, name: &str, route: Option<MetadataValue<Ascii>>, deadline: Duration) -> Node {
        Node {
            channel: self.channel.clone(),
            name: name.to_owned(),
            routed: Routed { route, deadline: Some(deadline) },
        }
    }
}

impl Node {
    /// Its name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls of the machine service.
    pub fn machine(&self) -> MachineServiceClient<Service> {
        MachineServiceClient::new(self.service())
            .max_decoding_message_size(LARGEST_MESSAGE)
            .max_encoding_message_size(LARGEST_MESSAGE)
    }

    /// The machine's resources.
    pub fn state(&self) -> StateClient<Service> {
        StateClient::new(self.service())
            .max_decoding_message_size(LARGEST_MESSAGE)
            .max_encoding_message_size(LARGEST_MESSAGE)
    }

    /// The same machine for calls that go on until somebody ends them.
    #[must_use]
    pub fn streaming(&self) -> Self {
        let mut node = self.clone();
        node.routed.deadline = None;
        node
    }

    /// Makes a call and tells how it failed.
    pub async fn call<T>(
        &self,
        call: impl Future<Output = Result<tonic::Response<T>, Status>>,
    ) -> Result<T, NodeError> {
        let deadline = self.routed.deadline.unwrap_or(LONGEST_CALL);
        // The machine is asked to keep the deadline too, but one that hangs does not.
        let outcome = timeout(deadline + GRACE, call).await;
        let reason = match outcome {
            Ok(Ok(response)) => return Ok(response.into_inner()),
            Ok(Err(status)) => Reason::new(&status, deadline),
            Err(_) => Reason::TimedOut(deadline),
        };
        Err(NodeError { node: self.name.clone(), reason })
    }

    /// The next message of a stream; `None` at its end.
    pub async fn next<T>(&self, stream: &mut Streaming<T>) -> Result<Option<T>, NodeError> {
        stream.message().await.map_err(|status| {
            let deadline = self.routed.deadline.unwrap_or(LONGEST_CALL);
            NodeError { node: self.name.clone(), reason: Reason::new(&status, deadline) }
        })
    }

    fn service(&self) -> Service {
        InterceptedService::new(self.channel.clone(), self.routed.clone())
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

/// Where an endpoint is.
#[derive(Clone, Debug)]
struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// `host`, `host:port`, `[address]:port` or a URL.
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let rest = rest.split('/').next().unwrap_or_default();
        let usual = if scheme == "https" { 443 } else { API_PORT };
        let plain =
            |host: &str, port| (!host.is_empty()).then(|| Self { host: host.to_owned(), port });
        if let Some(inner) = rest.strip_prefix('[') {
            let (host, port) = inner.split_once(']')?;
            return match port.strip_prefix(':') {
                Some(port) => plain(host, port.parse().ok()?),
                None => plain(host, usual),
            };
        }
        match rest.split_once(':') {
            Some((_, port)) if port.contains(':') => plain(rest, usual),
            Some((host, port)) => plain(host, port.parse().ok()?),
            None => plain(rest, usual),
        }
    }
}

/// Connects to the first endpoint that answers, beginning with the one that did last.
struct Dial {
    addresses: Vec<Address>,
    last: AtomicUsize,
    tls: TlsConnector,
}

impl Dial {
    async fn connect(&self) -> io::Result<TlsStream<TcpStream>> {
        let first = self.last.load(Ordering::Relaxed);
        let mut problem = None;
        for offset in 0..self.addresses.len() {
            let index = (first + offset) % self.addresses.len();
            let address = &self.addresses[index];
            match timeout(CONNECT_DEADLINE, self.reach(address)).await {
                Ok(Ok(stream)) => {
                    self.last.store(index, Ordering::Relaxed);
                    return Ok(stream);
                }
                Ok(Err(error)) => problem = Some(error),
                Err(_) => problem = Some(io::ErrorKind::TimedOut.into()),
            }
        }
        Err(problem.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    async fn reach(&self, address: &Address) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(address.host.clone()).map_err(io::Error::other)?;
        let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
        stream.set_nodelay(true)?;
        self.tls.connect(name, stream).await
    }
}

#[derive(Clone)]
struct Connector(Arc<Dial>);

impl tonic::codegen::Service<Uri> for Connector {
    type Response = TokioIo<TlsStream<TcpStream>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _task: &mut Task<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _uri: Uri) -> Self::Future {
        let dial = Arc::clone(&self.0);
        Box::pin(async move { dial.connect().await.map(TokioIo::new) })
    }
}

const API_PORT: u16 = 50000;
const LARGEST_MESSAGE: usize = 32 << 20;
const STREAM_WINDOW: u32 = 65535 * 32;
const CONNECTION_WINDOW: u32 = 65535 * 16;
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// What a call without a deadline of its own gets to begin with: a stream has begun by then.
const LONGEST_CALL: Duration = Duration::from_secs(30);
/// So that a machine that keeps the deadline can say so.
const GRACE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn endpoints() {
        for (text, expected) in [
            ("10.0.0.1", Some(("10.0.0.1", 50000))),
            ("10.0.0.1:6000", Some(("10.0.0.1", 6000))),
            ("fd00::1", Some(("fd00::1", 50000))),
            ("[fd00::1]", Some(("fd00::1", 50000))),
            ("[fd00::1]:1", Some(("fd00::1", 1))),
            ("https://talos.example", Some(("talos.example", 443))),
            ("https://talos.example:8443/x", Some(("talos.example", 8443))),
            ("", None),
            ("a:b", None),
            ("[::1", None),
        ] {
            let found = Address::parse(text).map(|address| (address.host, address.port));
            let expected = expected.map(|(host, port)| (host.to_owned(), port));
            assert_eq!(found, expected, "{text}");
        }
    }
}
