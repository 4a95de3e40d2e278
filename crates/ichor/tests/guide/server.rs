//! An image factory as its published description has it, on a loopback address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What it was asked, and where it is.
pub(crate) struct Factory {
    pub(crate) authority: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) body: String,
}

impl Factory {
    /// Starts one over HTTP.
    pub(crate) fn start() -> Self {
        Self::serve(None)
    }

    /// Starts one over HTTPS, with a certificate and its key.
    pub(crate) fn start_secure(certificate: &str, key: &str) -> Self {
        let certificates = CertificateDer::pem_slice_iter(certificate.as_bytes())
            .map(|one| one.expect("a certificate"));
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(certificates.collect(), key)
            .expect("a certificate and its key");
        Self::serve(Some(Arc::new(config)))
    }

    /// What was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("the requests").clone()
    }

    fn serve(config: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let authority = listener.local_addr().expect("an address").to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&requests);
        // It ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let timeout = Some(Duration::from_secs(10));
                stream.set_read_timeout(timeout).expect("a time-out");
                match &config {
                    None => answer(stream, &told),
                    Some(config) => {
                        let connection =
                            ServerConnection::new(Arc::clone(config)).expect("a connection");
                        answer_securely(StreamOwned::new(connection, stream), &told);
                    }
                }
            }
        });
        Self { authority, requests }
    }
}

fn answer_securely(
    mut stream: StreamOwned<ServerConnection, TcpStream>,
    told: &Mutex<Vec<Request>>,
) {
    // Who does not trust us hangs up in the middle of it.
    if stream.conn.complete_io(&mut stream.sock).is_ok() {
        answer(stream, told);
    }
}

fn answer(stream: impl Read + Write, told: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a request");
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).expect("a header");
        if header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let body = String::from_utf8(body).expect("text");
    let line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let (status, said) = reply(&line);
    told.lock().expect("the requests").push(Request { line, body });
    let length = said.len();
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{said}"
    );
    // Who hung up has seen enough.
    let _ = reader.get_mut().write_all(text.as_bytes());
    let _ = reader.get_mut().flush();
}

fn reply(line: &str) -> (&'static str, String) {
    match line {
        "POST /schematics" => ("201 Created", format!("{{\"id\":\"{ID}\"}}")),
        "GET /version/v1.13.99/extensions/official" => (
            "200 OK",
            "[{\"name\":\"siderolabs/brand-new\",\"ref\":\"ghcr.io/siderolabs/brand-new:1\",\"digest\":\
             \"sha256:00\"},{\"name\":\"siderolabs/iscsi-tools\",\"ref\":\"ghcr.io/siderolabs/iscsi-tools:v1\",\
             \"digest\":\"sha256:01\"}]"
                .to_owned(),
        ),
        "GET /version/v1.13.99/overlays/official" => (
            "200 OK",
            "[{\"name\":\"board\",\"image\":\"siderolabs/sbc-board\",\"ref\":\"r\",\"digest\":\"d\"}]"
                .to_owned(),
        ),
        "POST /broken" => ("500 Internal Server Error", String::new()),
        _ => ("404 Not Found", "no such release\n".to_owned()),
    }
}

/// An id that nobody can compute: whoever has it was told.
pub(crate) const ID: &str = "f00dfeedf00dfeedf00dfeedf00dfeedf00dfeedf00dfeedf00dfeedf00dfeed";
