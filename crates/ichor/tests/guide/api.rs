//! The API of a Talos machine on a loopback address: what it answers is said by the test, and what it is asked is kept.
//! The target `scripted` uses it as well.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use bytes::Bytes;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use talos_config::pki::{self, Authority, Key, NewAuthority, Request, Subject, Validity};
use tokio_rustls::TlsAcceptor;
use tonic::codegen::http::{self, HeaderMap, HeaderValue, Response};

/// A machine. It ends with the test's process.
pub(crate) struct Machine {
    pub(crate) address: SocketAddr,
    calls: Arc<Mutex<Vec<Call>>>,
}

/// What a machine was asked.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) path: String,
    /// Who is meant; empty where the call does not say.
    pub(crate) node: String,
    pub(crate) message: Vec<u8>,
}

impl Machine {
    /// Starts one behind a listener. A call is answered with these messages; without any, that there is no such thing.
    ///
    /// The authority signs for every connection anew. When it has become another one, the machine has booted since, and
    /// hangs up on the connections from before.
    pub(crate) fn start(
        listener: TcpListener,
        authority: impl Fn() -> Authority + Send + Sync + 'static,
        answers: impl Fn(&Call) -> Option<Vec<Vec<u8>>> + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a listener");
        let (authority, answers) = (Arc::new(authority), Arc::new(answers));
        let calls = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&calls);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                while let Ok((stream, _)) = listener.accept().await {
                    let signs = authority();
                    let acceptor = acceptor(&signs, address.ip());
                    let Ok(stream) = acceptor.accept(stream).await else { continue };
                    let signed_by = signs.certificate().clone();
                    let (kept, answers) = (Arc::clone(&kept), Arc::clone(&answers));
                    let authority = Arc::clone(&authority);
                    tokio::spawn(async move {
                        let Ok(mut connection) = h2::server::handshake(stream).await else {
                            return;
                        };
                        while let Some(Ok((request, respond))) = connection.accept().await {
                            if *authority().certificate() != signed_by {
                                return;
                            }
                            let (kept, answers) = (Arc::clone(&kept), Arc::clone(&answers));
                            tokio::spawn(answer(request, respond, kept, answers));
                        }
                    });
                }
            });
        });
        Self { address, calls }
    }

    /// What it was asked so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().expect("the calls").clone()
    }
}

async fn answer<A: Fn(&Call) -> Option<Vec<Vec<u8>>>>(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    kept: Arc<Mutex<Vec<Call>>>,
    answers: Arc<A>,
) {
    let path = request.uri().path().to_owned();
    let node = request.headers().get("node").map_or("", |node| node.to_str().expect("text"));
    let node = node.to_owned();
    let mut body = request.into_body();
    let mut bytes = Vec::new();
    while let Some(Ok(data)) = body.data().await {
        let _ = body.flow_control().release_capacity(data.len());
        bytes.extend_from_slice(&data);
    }
    // One byte says whether it is compressed, four how long it is.
    let message = bytes.get(5..).unwrap_or_default().to_vec();
    let call = Call { path, node, message };
    let answered = answers(&call);
    kept.lock().expect("the calls").push(call);
    // What nobody answers is not there: code 5.
    let code = if answered.is_some() { "0" } else { "5" };
    let response = Response::builder().header("content-type", "application/grpc");
    let response = response.body(()).expect("a response");
    // A client that has gone hears nothing.
    let Ok(mut stream) = respond.send_response(response, false) else { return };
    for message in answered.unwrap_or_default() {
        let length = u32::try_from(message.len()).expect("a short message").to_be_bytes();
        let frame = [&[0][..], &length, &message].concat();
        if stream.send_data(frame.into(), false).is_err() {
            return;
        }
    }
    let code = HeaderValue::from_static(code);
    let trailers = HeaderMap::from_iter([("grpc-status".parse().expect("a name"), code)]);
    let _ = stream.send_trailers(trailers);
}

fn acceptor(authority: &Authority, address: IpAddr) -> TlsAcceptor {
    let key = Key::ed25519(MACHINE_KEY);
    let request = Request::new(&key, &Subject::default(), &[address]);
    let certificate = authority.sign_machine(&request, VALIDITY).expect("a certificate").encode();
    let der = |text: &str| pki::blocks(text).next().expect("a block").bytes;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(
            vec![der(&certificate).into()],
            PrivateKeyDer::from(PrivatePkcs8KeyDer::from(der(key.encode().expose()))),
        )
        .expect("a certificate");
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// An authority that no client trusts: machines in maintenance sign for themselves.
pub(crate) fn stranger() -> Authority {
    let new = NewAuthority {
        organization: Some("maintenance"),
        addresses: &[],
        validity: VALIDITY,
        id: [1; 20],
    };
    Authority::new(Key::ed25519([7; 32]), &new)
}

/// The key of every machine, whichever authority has signed for it.
pub(crate) const MACHINE_KEY: [u8; 32] = [8; 32];
pub(crate) const VALIDITY: Validity =
    Validity { not_before: 0, not_after: 4_102_444_800, serial: [1; 16] };
