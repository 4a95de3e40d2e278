//! The image factory: registers schematics, and says what a release of Talos has.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::client::conn::http1;
use hyper::ext::ReasonPhrase;
use hyper::header::{CONTENT_LENGTH, HOST, USER_AGENT};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;
use talconfig::ReleaseContents;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tracing::debug;

/// A way to image factories.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImageFactoryClient {
    /// The certificates to trust, instead of those that the operating system trusts: `SSL_CERT_FILE`.
    pub(crate) trusted: Option<PathBuf>,
}

impl ImageFactoryClient {
    /// Registers a schematic and returns its id. Errors have talhelper's wording.
    pub(crate) fn register(&self, url: &str, schematic: &str) -> Result<String, String> {
        let refused =
            |reason: String| format!("server not wanting to reply: Post \"{url}\": {reason}");
        let (status, body) = self.ask(Method::POST, url, schematic).map_err(refused)?;
        if !status.starts_with("201") {
            return Err(format!("server not replying StatusCreated ({url}): {status}"));
        }
        let created: Created = serde_json::from_str(&body).map_err(|error| error.to_string())?;
        Ok(created.id)
    }

    /// Returns the contents of a release from the factory at `url`.
    pub(crate) fn release(&self, url: &str, version: &str) -> Result<ReleaseContents, String> {
        let extensions: Vec<Extension> = self.list(url, version, "extensions")?;
        let overlays: Vec<Overlay> = self.list(url, version, "overlays")?;
        Ok(ReleaseContents {
            extensions: extensions.into_iter().map(|extension| extension.name).collect(),
            overlays: overlays.into_iter().map(|overlay| (overlay.name, overlay.image)).collect(),
        })
    }

    fn list<T: for<'a> Deserialize<'a>>(
        &self,
        url: &str,
        version: &str,
        what: &str,
    ) -> Result<Vec<T>, String> {
        let url = format!("{}/version/{version}/{what}/official", url.trim_end_matches('/'));
        let (status, body) =
            self.ask(Method::GET, &url, "").map_err(|reason| format!("{url}: {reason}"))?;
        if !status.starts_with("200") {
            return Err(format!("{url}: {status}"));
        }
        // A release without overlays has `null` in their place.
        let list: Option<Vec<T>> =
            serde_json::from_str(&body).map_err(|error| format!("{url}: {error}"))?;
        Ok(list.unwrap_or_default())
    }

    /// Returns status and body of the reply to one request, all of it within a deadline.
    fn ask(&self, method: Method, url: &str, body: &str) -> Result<(String, String), String> {
        let asked = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            let reply = runtime.block_on(async {
                timeout(DEADLINE, self.converse(method, url, body))
                    .await
                    .unwrap_or_else(|_| Err(format!("no reply within {} s", DEADLINE.as_secs())))
            });
            // A name that is still being looked up is not waited for.
            runtime.shutdown_background();
            reply
        };
        // A thread of its own, because the caller may be on a runtime already.
        thread::scope(|scope| scope.spawn(asked).join())
            .unwrap_or_else(|_| Err("the request ended early".to_owned()))
    }

    async fn converse(
        &self,
        method: Method,
        url: &str,
        body: &str,
    ) -> Result<(String, String), String> {
        let target = Target::parse(url)?;
        let request = target.request(&method, body)?;
        let stream = target.connect().await?;
        let reply = if target.secure {
            let name =
                ServerName::try_from(target.host.clone()).map_err(|error| error.to_string())?;
            let connector = TlsConnector::from(Arc::new(self.trusting()?));
            let stream =
                connector.connect(name, stream).await.map_err(|error| error.to_string())?;
            exchange(stream, request).await
        } else {
            exchange(stream, request).await
        };
        // Without path and user: they may hold a token.
        let Target { host, port, .. } = &target;
        match &reply {
            Ok((status, _)) => debug!(%method, host, port, status, "HTTP reply"),
            Err(error) => debug!(%method, host, port, error, "HTTP request failed"),
        }
        reply
    }

    /// Returns a TLS configuration with the configured certificates, or else those of the operating system.
    fn trusting(&self) -> Result<ClientConfig, String> {
        let found = match &self.trusted {
            Some(path) => fs_err::read(path).map_err(|error| error.to_string())?,
            None => BUNDLES.iter().find_map(|path| fs_err::read(path).ok()).unwrap_or_default(),
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&found).flatten() {
            // Unreadable certificates are skipped.
            let _ = roots.add(certificate);
        }
        if roots.is_empty() {
            return Err(
                "x509: certificate signed by unknown authority (no trusted certificates found)"
                    .to_owned(),
            );
        }
        Ok(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
    }
}

#[derive(Deserialize)]
struct Created {
    #[serde(default)]
    id: String,
}

#[derive(Deserialize)]
struct Extension {
    name: String,
}

#[derive(Deserialize)]
struct Overlay {
    name: String,
    image: String,
}

struct Target {
    secure: bool,
    /// A name or an address, without brackets.
    host: String,
    port: u16,
    uri: Uri,
}

impl Target {
    fn parse(url: &str) -> Result<Self, String> {
        let (scheme, _) = url.split_once("://").ok_or("unsupported protocol scheme \"\"")?;
        let secure = match scheme {
            "https" => true,
            "http" => false,
            other => return Err(format!("unsupported protocol scheme {other:?}")),
        };
        let uri: Uri = url.parse().map_err(|error| format!("{error}"))?;
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        Ok(Self { secure, host, port, uri })
    }

    fn request(&self, method: &Method, body: &str) -> Result<Request<String>, String> {
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        let authority = authority.rsplit_once('@').map_or(authority, |(_, authority)| authority);
        let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
        Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, authority)
            .header(USER_AGENT, "ichor")
            .header(CONTENT_LENGTH, body.len())
            .body(body.to_owned())
            .map_err(|error| error.to_string())
    }

    /// Connects to the first address of the host that accepts.
    async fn connect(&self) -> Result<TcpStream, String> {
        let Self { host, port, .. } = self;
        let addresses = lookup_host((host.as_str(), *port)).await;
        let addresses = addresses.map_err(|error| format!("dial tcp: lookup {host}: {error}"))?;
        let mut last = format!("dial tcp: lookup {host}: no such host");
        for address in addresses {
            debug!(%address, "connecting");
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = format!("dial tcp {address}: connect: {}", reason(&error)),
            }
        }
        Err(last)
    }
}

/// Sends a request, and returns status and body of the reply.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<String>,
) -> Result<(String, String), String> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // Ends with the runtime, at the latest.
    tokio::spawn(connection);
    let reply = sender.send_request(request).await.map_err(|error| malformed(&error))?;
    let status = reply.status();
    let given = reply.extensions().get::<ReasonPhrase>().map(|reason| reason.as_bytes().to_vec());
    let reason = given.map_or_else(
        || status.canonical_reason().unwrap_or_default().to_owned(),
        |reason| String::from_utf8_lossy(&reason).into_owned(),
    );
    let body = Limited::new(reply.into_body(), LONGEST).collect().await;
    let body = body.map_err(|error| error.to_string())?.to_bytes();
    Ok((format!("{} {reason}", status.as_u16()), String::from_utf8_lossy(&body).into_owned()))
}

fn malformed(error: &hyper::Error) -> String {
    if error.is_parse() { "malformed HTTP response".to_owned() } else { error.to_string() }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        std::io::ErrorKind::TimedOut => "connection timed out".to_owned(),
        _ => error.to_string(),
    }
}

/// The public image factory.
pub(crate) const DEFAULT_FACTORY: &str = "https://factory.talos.dev";

/// Long enough for a slow factory, short enough for a waiting user.
const DEADLINE: Duration = Duration::from_secs(30);

/// A list of extensions takes some 30 kB.
const LONGEST: usize = 4 << 20;

/// Certificate bundles of operating systems.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
