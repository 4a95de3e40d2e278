//! Connections: to the first endpoint that answers, beginning with the one that did last.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context as Task, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::codegen::http::Uri;
use tracing::debug;

/// The address of an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct HostPort {
    host: String,
    port: u16,
}

impl HostPort {
    /// `host`, `host:port`, `[address]:port` or a URL.
    pub(crate) fn parse(text: &str) -> Option<Self> {
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

/// The endpoints, and which of them answered last.
struct Endpoints {
    addresses: Vec<HostPort>,
    last: AtomicUsize,
    /// Set while calls wait for a connection.
    connecting: AtomicBool,
    tls: TlsConnector,
}

impl Endpoints {
    async fn connect(&self) -> io::Result<TlsStream<TcpStream>> {
        self.connecting.store(true, Ordering::Relaxed);
        let outcome = self.reach_any().await;
        self.connecting.store(false, Ordering::Relaxed);
        outcome
    }

    async fn reach_any(&self) -> io::Result<TlsStream<TcpStream>> {
        let first = self.last.load(Ordering::Relaxed);
        let mut problem = None;
        for offset in 0..self.addresses.len() {
            let index = (first + offset) % self.addresses.len();
            let address = &self.addresses[index];
            let HostPort { host, port } = address;
            debug!(host, port, "connecting");
            match timeout(CONNECT_DEADLINE, self.reach(address)).await {
                Ok(Ok(stream)) => {
                    debug!(host, port, "connected");
                    self.last.store(index, Ordering::Relaxed);
                    return Ok(stream);
                }
                Ok(Err(error)) => {
                    debug!(host, port, %error, "connection failed");
                    problem = Some(error);
                }
                Err(_) => problem = Some(io::ErrorKind::TimedOut.into()),
            }
        }
        Err(problem.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    async fn reach(&self, address: &HostPort) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(address.host.clone()).map_err(io::Error::other)?;
        let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
        stream.set_nodelay(true)?;
        self.tls.connect(name, stream).await
    }
}

/// Makes the connections of a channel.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Endpoints>);

impl Connector {
    pub(crate) fn new(addresses: Vec<HostPort>, tls: ClientConfig) -> Self {
        Self::with(addresses, TlsConnector::from(Arc::new(tls)))
    }

    /// To another address, with the same credentials.
    pub(crate) fn for_address(&self, address: HostPort) -> Self {
        Self::with(vec![address], self.0.tls.clone())
    }

    fn with(addresses: Vec<HostPort>, tls: TlsConnector) -> Self {
        let (last, connecting) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self(Arc::new(Endpoints { addresses, last, connecting, tls }))
    }

    /// Returns whether a connection is being made. What is called meanwhile is sent once it stands.
    pub(crate) fn is_connecting(&self) -> bool {
        self.0.connecting.load(Ordering::Relaxed)
    }

    /// Returns the certificates that the first endpoint that answers shows, in DER.
    pub(crate) async fn certificates(&self) -> io::Result<Vec<Vec<u8>>> {
        let stream = self.0.connect().await?;
        let (_, connection) = stream.get_ref();
        let shown = connection.peer_certificates().unwrap_or_default();
        Ok(shown.iter().map(|certificate| certificate.to_vec()).collect())
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connector").field(&self.0.addresses).finish()
    }
}

impl tonic::codegen::Service<Uri> for Connector {
    type Response = TokioIo<TlsStream<TcpStream>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _task: &mut Task<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _uri: Uri) -> Self::Future {
        let endpoints = Arc::clone(&self.0);
        Box::pin(async move { endpoints.connect().await.map(TokioIo::new) })
    }
}

const API_PORT: u16 = 50000;
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::HostPort;

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
            let found = HostPort::parse(text).map(|address| (address.host, address.port));
            let expected = expected.map(|(host, port)| (host.to_owned(), port));
            assert_eq!(found, expected, "{text}");
        }
    }
}
