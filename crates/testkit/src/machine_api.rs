//! The API of a Talos machine on loopback, with answers that a test scripts.
//!
//! In: a certificate, and a function that answers each call. Out: what was called, and by which connections. It speaks TLS,
//! HTTP/2 and the frames of gRPC and knows no message: certificates and messages are made by the code under test.
//!
//! Always holds: no more is sent than the client has room for; a client that is refused gets the alert that says so.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tonic::codegen::http::{HeaderMap, HeaderValue, Request, Response};

/// The certificate that a server shows, and the clients that it takes; all of it in DER.
#[derive(Clone)]
pub struct Identity {
    /// The certificate of the server.
    pub certificate: Vec<u8>,
    /// The key of the certificate, as PKCS#8.
    pub key: Vec<u8>,
    /// The authority that clients are signed by; none where they are not asked for a certificate, as in maintenance.
    pub clients: Option<Vec<u8>>,
}

impl Identity {
    /// Returns what accepts connections with this certificate.
    ///
    /// # Panics
    /// When the certificate, its key or the authority cannot be used.
    pub fn acceptor(&self) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let clients = match &self.clients {
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(authority.clone().into()).expect("an authority");
                WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider))
                    .build()
                    .expect("a verifier")
            }
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![self.certificate.clone().into()], key)
            .expect("a certificate and its key");
        config.alpn_protocols = vec![b"h2".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

/// A server that leaves every answer to its test. It serves for as long as its runtime runs.
pub struct Server {
    /// The address that it listens at.
    pub address: SocketAddr,
    connections: Arc<Connections>,
}

#[derive(Default)]
struct Connections {
    accepted: AtomicUsize,
    open: AtomicUsize,
    clients: Mutex<Vec<Vec<u8>>>,
}

impl Server {
    /// Serves on a port of 127.0.0.1 that the kernel has free.
    ///
    /// # Panics
    /// When there is none.
    pub async fn start<F>(
        identity: &Identity,
        answer: impl Fn(Call) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let identity = identity.clone();
        Self::serve(listener, move || identity.clone(), answer)
    }

    /// Serves on a listener. The identity is asked for with every connection. When it has become another one the machine has
    /// booted since, and hangs up on the connections from before.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn serve<F>(
        listener: TcpListener,
        identity: impl Fn() -> Identity + Send + Sync + 'static,
        answer: impl Fn(Call) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(Connections::default());
        let (identity, counted) = (Arc::new(identity), Arc::clone(&connections));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let open = Open::count(&counted);
                tokio::spawn(connection(stream, Arc::clone(&identity), answer.clone(), open));
            }
        });
        Self { address, connections }
    }

    /// Serves on a thread of its own until the process ends, for tests of other programs.
    ///
    /// # Panics
    /// When there is no runtime.
    pub fn on_thread<F>(
        listener: std::net::TcpListener,
        identity: impl Fn() -> Identity + Send + Sync + 'static,
        answer: impl Fn(Call) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, receiver) = std::sync::mpsc::channel();
        listener.set_nonblocking(true).expect("a listener");
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = TcpListener::from_std(listener).expect("a listener");
                let server = Self::serve(listener, identity, answer);
                sender.send(server).expect("a test that waits");
                std::future::pending::<()>().await;
            });
        });
        receiver.recv().expect("a server")
    }

    /// Counts all connections so far, those that were refused included.
    pub fn accepted(&self) -> usize {
        self.connections.accepted.load(Ordering::Relaxed)
    }

    /// Counts the connections that are open.
    pub fn open(&self) -> usize {
        self.connections.open.load(Ordering::Relaxed)
    }

    /// Returns the certificates that clients have shown, in DER, one for each connection that was not refused.
    pub fn clients(&self) -> Vec<Vec<u8>> {
        self.connections.clients.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A connection that is counted until this is dropped.
struct Open(Arc<Connections>);

impl Open {
    fn count(connections: &Arc<Connections>) -> Self {
        connections.accepted.fetch_add(1, Ordering::Relaxed);
        connections.open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(connections))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn connection<F>(
    stream: TcpStream,
    identity: Arc<impl Fn() -> Identity>,
    answer: impl Fn(Call) -> F,
    open: Open,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let shows = identity();
    let stream = match shows.acceptor().accept(stream).into_fallible().await {
        Ok(stream) => stream,
        Err((_, mut stream)) => {
            // A connection that is closed with something unread loses the alert.
            let _ = stream.read_to_end(&mut Vec::new()).await;
            return;
        }
    };
    let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    if let Some(certificate) = shown.map(|certificate| certificate.to_vec()) {
        open.0.clients.lock().unwrap_or_else(PoisonError::into_inner).push(certificate);
    }
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        if identity().certificate != shows.certificate {
            return;
        }
        tokio::spawn(answer(Call::new(request, respond)));
    }
}

/// A call that waits for its answer.
pub struct Call {
    /// The service and its method, as in `/machine.MachineService/Version`.
    pub path: String,
    /// The machine that is meant; empty where the call names none.
    pub node: String,
    body: RecvStream,
    respond: SendResponse<Bytes>,
}

impl Call {
    /// Takes a call as a connection gives it.
    pub fn new(request: Request<RecvStream>, respond: SendResponse<Bytes>) -> Self {
        let node = request.headers().get("node").and_then(|node| node.to_str().ok());
        let (path, node) = (request.uri().path().to_owned(), node.unwrap_or_default().to_owned());
        Self { path, node, body: request.into_body(), respond }
    }

    /// Reads the message of the call.
    pub async fn message(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some(Ok(data)) = self.body.data().await {
            // A call that was given up needs no more room.
            let _ = self.body.flow_control().release_capacity(data.len());
            bytes.extend_from_slice(&data);
        }
        // One byte says whether it is compressed, four how long it is.
        bytes.get(5..).unwrap_or_default().to_vec()
    }

    /// Begins an answer, to which [`send`] and [`end`] add.
    ///
    /// # Panics
    /// When the client is gone.
    pub fn begin(mut self) -> SendStream<Bytes> {
        let response = Response::builder().header("content-type", "application/grpc");
        let response = response.body(()).expect("a response");
        self.respond.send_response(response, false).expect("a client")
    }

    /// Answers with a head alone.
    ///
    /// # Panics
    /// When the client is gone.
    pub fn answer_with_head(mut self, head: Response<()>) {
        self.respond.send_response(head, true).expect("a client");
    }

    /// Answers with frames, which [`frame`] makes of messages, and that all went well.
    ///
    /// # Panics
    /// When the client is gone.
    pub async fn answer(self, frames: Vec<Bytes>) {
        let mut stream = self.begin();
        for frame in frames {
            send(&mut stream, frame).await;
        }
        end(stream, "0");
    }

    /// Answers with the same message for as long as the client takes it: many at once, or one after each pause.
    ///
    /// # Panics
    /// When the client is gone before it begins.
    pub fn repeat(
        self,
        message: &[u8],
        pause: Option<Duration>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let frames: Bytes = frame(message).repeat(if pause.is_some() { 1 } else { 64 }).into();
        async move {
            let mut stream = self.begin();
            while send(&mut stream, frames.clone()).await.is_some() {
                if let Some(pause) = pause {
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    /// Refuses the call with a code of gRPC.
    ///
    /// # Panics
    /// When the client is gone.
    pub fn refuse(self, code: &'static str) {
        end(self.begin(), code);
    }
}

/// Frames a message as gRPC sends it: not compressed, its length, itself.
///
/// # Panics
/// For a message of 4 GiB or more.
pub fn frame(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).expect("a short message");
    [&[0][..], &length.to_be_bytes(), message].concat().into()
}

/// Sends bytes as the client has room for them; `None` once it wants no more.
pub async fn send(stream: &mut SendStream<Bytes>, mut bytes: Bytes) -> Option<()> {
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        let room = std::future::poll_fn(|task| stream.poll_capacity(task)).await?.ok()?;
        stream.send_data(bytes.split_to(room.min(bytes.len())), false).ok()?;
    }
    Some(())
}

/// Ends an answer with a code of gRPC.
pub fn end(mut stream: SendStream<Bytes>, code: &'static str) {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static(code));
    // A client that is gone needs no end.
    let _ = stream.send_trailers(trailers);
}
