//! A cluster that can be called: one connection, any of the endpoints.

use std::time::Duration;

use rustls::ClientConfig;
use talos_config::Context;
use talos_config::pki::Certificate;
use tonic::transport::{Channel, Endpoint};

use crate::connector::{Connector, HostPort};
use crate::error::{CallError, Disconnect, NodeError, Stage};
use crate::limits::Limits;
use crate::node::Node;
use crate::tls::{self, Fingerprint, Unusable};

/// A cluster, or one machine in maintenance, that can be called.
///
/// It connects when it is first used and again whenever the connection is lost, to the endpoint that
/// answered last or else to the next one. It is made within a runtime of tokio, which it needs for as long
/// as it lives.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) channel: Channel,
    pub(crate) connector: Connector,
    pub(crate) limits: Limits,
}

/// The failure to make a client.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConnectError {
    /// No endpoint is given.
    #[error("the context names no endpoint")]
    NoEndpoint,
    /// An endpoint that is not a host.
    #[error("{0:?} is not an endpoint")]
    Endpoint(String),
    /// Credentials that are none.
    #[error("the context cannot be used: {0} cannot be read")]
    Credentials(&'static str),
}

impl Client {
    /// Returns a client of a cluster, by its talosconfig.
    pub fn new(context: &Context) -> Result<Self, ConnectError> {
        Self::connect(&context.endpoints, tls::mutual(context), Limits::MEMBER)
    }

    /// Returns a client of a machine in maintenance. Without a fingerprint any machine at the address will do.
    pub fn maintenance(
        address: &str,
        fingerprints: Vec<Fingerprint>,
    ) -> Result<Self, ConnectError> {
        Self::connect(&[address.to_owned()], tls::maintenance(fingerprints), Limits::STRANGER)
    }

    /// Returns the certificates that an endpoint shows, its own first, whichever CA signed them: those that have
    /// expired are to be seen too.
    pub async fn certificates_of(endpoint: &str) -> Result<Vec<Certificate>, NodeError> {
        let failed = |message: String| NodeError {
            node: endpoint.to_owned(),
            reason: CallError::Unreachable(Disconnect { message, stage: Stage::Connecting }),
        };
        let address = HostPort::parse(endpoint).ok_or_else(|| failed("no endpoint".to_owned()))?;
        let config = tls::maintenance(Vec::new());
        let config = config.map_err(|Unusable(what)| failed(format!("{what} cannot be used")))?;
        let shown = Connector::new(vec![address], config).certificates().await;
        let shown = shown.map_err(|error| failed(error.to_string()))?;
        Ok(shown.into_iter().filter_map(Certificate::from_der).collect())
    }

    fn connect(
        endpoints: &[String],
        config: Result<ClientConfig, Unusable>,
        limits: Limits,
    ) -> Result<Self, ConnectError> {
        let config = config.map_err(|Unusable(what)| ConnectError::Credentials(what))?;
        let addresses: Vec<HostPort> = endpoints
            .iter()
            .map(|text| HostPort::parse(text).ok_or_else(|| ConnectError::Endpoint(text.clone())))
            .collect::<Result<_, _>>()?;
        if addresses.is_empty() {
            return Err(ConnectError::NoEndpoint);
        }
        Ok(Self::open(Connector::new(addresses, config), limits))
    }

    /// Returns a client of another endpoint, with the same credentials, which are read once for all of them.
    pub fn for_endpoint(&self, endpoint: &str) -> Result<Self, ConnectError> {
        let address = HostPort::parse(endpoint);
        let address = address.ok_or_else(|| ConnectError::Endpoint(endpoint.to_owned()))?;
        Ok(Self::open(self.connector.for_address(address), self.limits))
    }

    fn open(connector: Connector, limits: Limits) -> Self {
        // Whom we mean is said by each endpoint and by the metadata of each call, never by this name.
        let channel = Endpoint::from_static("https://talos")
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .http2_keep_alive_interval(Duration::from_secs(10))
            .keep_alive_timeout(Duration::from_secs(5))
            .keep_alive_while_idle(false)
            .connect_with_connector_lazy(connector.clone());
        Self { channel, connector, limits }
    }

    /// Returns a machine of the cluster, called through any endpoint that answers.
    pub fn node(&self, name: &str, deadline: Duration) -> Result<Node, ConnectError> {
        let route = name.parse().map_err(|_| ConnectError::Endpoint(name.to_owned()))?;
        Ok(Node::new(self, name, Some(route), deadline))
    }

    /// Returns the machine that the connection ends at: the one in maintenance, or the endpoint itself.
    pub fn direct(&self, name: &str, deadline: Duration) -> Node {
        Node::new(self, name, None, deadline)
    }
}

// As large as those of talosctl: what is read slowly fills them, and then the machine waits.
const STREAM_WINDOW: u32 = 65535 * 32;
const CONNECTION_WINDOW: u32 = 65535 * 16;
