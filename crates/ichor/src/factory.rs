//! The image factory: registers schematics, and says what a release of Talos has.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde::Deserialize;
use talconfig::ReleaseContents;

/// A way to image factories.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImageFactoryClient {
    /// The certificates to trust, instead of those that the operating system trusts: `SSL_CERT_FILE`.
    pub(crate) trusted: Option<PathBuf>,
}

impl ImageFactoryClient {
    /// Registers a schematic and gives its id. Errors are told as talhelper tells them.
    pub(crate) fn register(&self, url: &str, schematic: &str) -> Result<String, String> {
        let refused =
            |reason: String| format!("server not wanting to reply: Post \"{url}\": {reason}");
        let (status, body) = self.ask("POST", url, schematic).map_err(refused)?;
        if !status.starts_with("201") {
            return Err(format!("server not replying StatusCreated ({url}): {status}"));
        }
        let created: Created = serde_json::from_str(&body).map_err(|error| error.to_string())?;
        Ok(created.id)
    }

    /// What a release has; `url` is where the factory is.
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
            self.ask("GET", &url, "").map_err(|reason| format!("{url}: {reason}"))?;
        if !status.starts_with("200") {
            return Err(format!("{url}: {status}"));
        }
        // A release without overlays has `null` in their place.
        let list: Option<Vec<T>> =
            serde_json::from_str(&body).map_err(|error| format!("{url}: {error}"))?;
        Ok(list.unwrap_or_default())
    }

    /// Status and body of the answer to one request, all of it within a deadline.
    fn ask(&self, method: &'static str, url: &str, body: &str) -> Result<(String, String), String> {
        let (sender, receiver) = mpsc::channel();
        let (factories, url, body) = (self.clone(), url.to_owned(), body.to_owned());
        // Nobody waits for it any more once the deadline is over.
        thread::spawn(move || drop(sender.send(factories.converse(method, &url, &body))));
        let late = |_| Err(format!("no answer within {} s", DEADLINE.as_secs()));
        receiver.recv_timeout(DEADLINE).unwrap_or_else(late)
    }

    fn converse(&self, method: &str, url: &str, body: &str) -> Result<(String, String), String> {
        let target = Target::parse(url)?;
        let answer = target.ask(method, body, self)?;
        parse(&answer).ok_or_else(|| "malformed HTTP response".to_owned())
    }

    /// Trusts whom the operating system trusts, or whom it is told to.
    fn trusting(&self) -> Result<ClientConfig, String> {
        let found = match &self.trusted {
            Some(path) => fs_err::read(path).map_err(|error| error.to_string())?,
            None => BUNDLES.iter().find_map(|path| fs_err::read(path).ok()).unwrap_or_default(),
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&found).flatten() {
            // One that cannot be read is trusted by nobody.
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

struct Target<'a> {
    secure: bool,
    host: &'a str,
    port: u16,
    /// Host and port as they were written.
    authority: &'a str,
    path: &'a str,
}

impl<'a> Target<'a> {
    fn parse(url: &'a str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or("unsupported protocol scheme \"\"")?;
        let secure = match scheme {
            "https" => true,
            "http" => false,
            other => return Err(format!("unsupported protocol scheme {other:?}")),
        };
        let slash = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(slash);
        let bad = || format!("invalid port in {authority:?}");
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| bad())?),
            _ => (authority, if secure { 443 } else { 80 }),
        };
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self { secure, host, port, authority, path })
    }

    fn ask(
        &self,
        method: &str,
        body: &str,
        factories: &ImageFactoryClient,
    ) -> Result<Vec<u8>, String> {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        let addresses = (bare, self.port)
            .to_socket_addrs()
            .map_err(|error| format!("dial tcp: lookup {bare}: {error}"))?;
        let mut last = format!("dial tcp: lookup {bare}: no such host");
        let mut connected = None;
        for address in addresses {
            match TcpStream::connect_timeout(&address, DEADLINE) {
                Ok(stream) => {
                    connected = Some(stream);
                    break;
                }
                Err(error) => last = format!("dial tcp {address}: connect: {}", reason(&error)),
            }
        }
        let stream = connected.ok_or(last)?;
        let limit = |error: std::io::Error| error.to_string();
        stream.set_read_timeout(Some(DEADLINE)).map_err(limit)?;
        stream.set_write_timeout(Some(DEADLINE)).map_err(limit)?;
        let request = format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: ichor\r\nContent-Length: {}\r\nConnection: \
             close\r\n\r\n{body}",
            self.path,
            self.authority,
            body.len()
        );
        if !self.secure {
            return converse(stream, &request);
        }
        let name = ServerName::try_from(bare.to_owned()).map_err(|error| error.to_string())?;
        let connection = ClientConnection::new(Arc::new(factories.trusting()?), name)
            .map_err(|error| error.to_string())?;
        converse(StreamOwned::new(connection, stream), &request)
    }
}

fn converse(mut stream: impl Read + Write, request: &str) -> Result<Vec<u8>, String> {
    stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    match stream.take(LONGEST).read_to_end(&mut answer) {
        Ok(_) => Ok(answer),
        // A server that hangs up without saying so has said all that it wanted.
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof && !answer.is_empty() => {
            Ok(answer)
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Status line and body of an answer.
fn parse(answer: &[u8]) -> Option<(String, String)> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.lines().next()?.split_once(' ')?.1.to_owned();
    let chunked = head.lines().filter_map(|line| line.split_once(':')).any(|(name, value)| {
        name.eq_ignore_ascii_case("transfer-encoding")
            && value.trim().eq_ignore_ascii_case("chunked")
    });
    Some((status, if chunked { joined(body) } else { body.to_owned() }))
}

/// A body that came in chunks.
fn joined(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16);
        let Some(chunk) = size.ok().filter(|size| *size > 0).and_then(|size| rest.get(..size))
        else {
            break;
        };
        whole.push_str(chunk);
        body = rest[chunk.len()..].trim_start_matches("\r\n");
    }
    whole
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        std::io::ErrorKind::TimedOut => "connection timed out".to_owned(),
        _ => error.to_string(),
    }
}

/// The one that everybody uses.
pub(crate) const DEFAULT_FACTORY: &str = "https://factory.talos.dev";

/// Long enough for a factory that has to think, short enough for a person that waits.
const DEADLINE: Duration = Duration::from_secs(30);

/// A list of extensions takes some 30 kB.
const LONGEST: u64 = 4 << 20;

/// Where operating systems keep the certificates that they trust.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
