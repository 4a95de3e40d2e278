//! The image factory: one request, which gives the id of a schematic.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde::Deserialize;

/// Registers a schematic.
pub(super) fn register(url: &str, schematic: &str) -> Result<String, String> {
    let refused = |reason: String| format!("server not wanting to reply: Post \"{url}\": {reason}");
    let target = Target::parse(url).map_err(refused)?;
    let answer = target.post(schematic).map_err(refused)?;
    let (status, body) =
        parse(&answer).ok_or_else(|| refused("malformed HTTP response".to_owned()))?;
    if !status.starts_with("201") {
        return Err(format!("server not replying StatusCreated ({url}): {status}"));
    }
    let created: Created = serde_json::from_str(&body).map_err(|error| error.to_string())?;
    Ok(created.id)
}

#[derive(Deserialize)]
struct Created {
    #[serde(default)]
    id: String,
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

    fn post(&self, body: &str) -> Result<Vec<u8>, String> {
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
            "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: ichor\r\nContent-Length: {}\r\nConnection: \
             close\r\n\r\n{body}",
            self.path,
            self.authority,
            body.len()
        );
        if !self.secure {
            return converse(stream, &request);
        }
        let name = ServerName::try_from(bare.to_owned()).map_err(|error| error.to_string())?;
        let connection = ClientConnection::new(Arc::new(trusting()?), name)
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

/// Trusts whom the operating system trusts.
fn trusting() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    let found = BUNDLES.iter().find_map(|path| fs_err::read(path).ok());
    for certificate in CertificateDer::pem_slice_iter(&found.unwrap_or_default()).flatten() {
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

/// Long enough for a factory that has to think, short enough for a person that waits.
const DEADLINE: Duration = Duration::from_secs(30);

/// An answer is an id and what was asked for.
const LONGEST: u64 = 1 << 20;

/// Where operating systems keep the certificates that they trust.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
