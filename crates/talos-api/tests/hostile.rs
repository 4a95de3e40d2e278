//! The client before machines that are not what they should be: each gives a reason, and none a hang.
//!
//! The server here speaks HTTP/2 and nothing more: what it says is up to each test. What real machines say is in
//! level `talos`.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::SendStream;
use prost::Message;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use talos_api::proto::common::Data;
use talos_api::proto::machine::{
    Event, EventsRequest, LogsRequest, ServiceStateEvent, Version, VersionInfo, VersionResponse,
};
use talos_api::{Client, Followed, Node, NodeError, Occurrence, Reason, Since, each_node};
use talos_config::Context;
use talos_config::pki::{
    self, Authority, Key, Leaf, NewAuthority, Request, Subject, Usage, Validity,
};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tonic::codegen::http::{HeaderMap, HeaderValue, Response};

#[test]
fn a_machine_of_another_authority_is_not_trusted() {
    let reason = run(async {
        let server = Server::start(Pki::new(1), NOW_AND_LATER, version_server).await;
        server.reason(&Pki::new(2).context(NOW_AND_LATER)).await
    });
    assert!(
        matches!(&reason, Reason::Untrusted(text) if text.contains("UnknownIssuer")),
        "{reason}"
    );
}

#[test]
fn certificates_that_have_expired_are_not_trusted() {
    let ours = run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, version_server).await;
        server.reason(&pki.context(LONG_AGO)).await
    });
    assert!(matches!(ours, Reason::Untrusted(_)), "{ours}");
    let theirs = run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), LONG_AGO, version_server).await;
        server.reason(&pki.context(NOW_AND_LATER)).await
    });
    assert!(matches!(&theirs, Reason::Untrusted(text) if text.contains("expired")), "{theirs}");
}

#[test]
fn a_machine_that_says_nothing_is_not_waited_for() {
    for said in [Silence::BeforeTls, Silence::AfterTls] {
        let reason = run(async {
            let pki = Pki::new(1);
            let address = silent_server(&pki, said).await;
            let node = node(&pki, address, SHORT);
            version(&node).await.expect_err("an error").reason
        });
        assert_eq!(reason, Reason::TimedOut(SHORT), "{said:?}");
    }
}

#[test]
fn a_machine_that_takes_a_call_and_never_answers_is_not_waited_for() {
    let reason = run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, |call: Call| async move {
            std::future::pending::<()>().await;
            drop(call);
        })
        .await;
        let node = node(&pki, server.address, SHORT);
        version(&node).await.expect_err("an error").reason
    });
    assert_eq!(reason, Reason::TimedOut(SHORT));
}

#[test]
fn a_connection_that_only_seems_open_is_noticed() {
    let reason = run(async {
        let pki = Pki::new(1);
        // It greets, then takes what is sent and never answers, not even the question whether it is there.
        let address = dying_server(&pki).await;
        let node = node(&pki, address, Duration::from_secs(5));
        let mut stream = node
            .open(|node| async move { node.machine().logs(LogsRequest::default()).await })
            .await
            .expect("a stream")
            .patient();
        loop {
            match stream.next().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("an orderly end"),
                Err(error) => return error.reason,
            }
        }
    });
    assert!(matches!(reason, Reason::Unreachable(_)), "{reason}");
}

#[test]
fn garbage_is_told_as_such() {
    let replies: [(&str, Bytes); 4] = [
        ("no protobuf", frame(&[0xff; 64])),
        ("a frame without its rest", Bytes::from_static(&[0, 0, 0, 0, 9, 1])),
        ("compressed with nothing", Bytes::from_static(&[1, 0, 0, 0, 1, 1])),
        ("no message", frame(&VersionResponse::default().encode_to_vec())),
    ];
    for (name, reply) in replies {
        let error = run(async {
            let pki = Pki::new(1);
            let reply = reply.clone();
            let server = Server::start(pki.clone(), NOW_AND_LATER, move |call: Call| {
                call.answer(vec![reply.clone()])
            });
            let node = node(&pki, server.await.address, SHORT);
            node.release().await.expect_err(name)
        });
        let expected = match name {
            "no protobuf" | "no message" => matches!(error.reason, Reason::Unreadable(_)),
            _ => matches!(error.reason, Reason::Other { .. } | Reason::Unreadable(_)),
        };
        assert!(expected, "{name}: {error:?}");
    }
    let reason = run(async {
        let pki = Pki::new(1);
        let address = garbage_server(&pki).await;
        version(&node(&pki, address, SHORT)).await.expect_err("an error").reason
    });
    assert!(matches!(reason, Reason::Unreachable(_) | Reason::Other { .. }), "{reason:?}");
}

#[test]
fn a_reply_that_is_too_large_is_refused_before_it_is_read() {
    let reason = run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, |call: Call| {
            // The length of a gigabyte, and nothing of it.
            call.answer(vec![Bytes::from_static(&[0, 0x40, 0, 0, 0])])
        });
        let node = node(&pki, server.await.address, SHORT);
        version(&node).await.expect_err("an error").reason
    });
    assert!(matches!(reason, Reason::TooLarge(_)), "{reason:?}");
}

#[test]
fn values_that_are_not_known_are_kept() {
    let service = ServiceStateEvent { service: "new".to_owned(), action: 99, ..Default::default() };
    let data = |name: &str, value: Vec<u8>| {
        Some(prost_types::Any { type_url: format!("talos/runtime/{name}"), value })
    };
    let event = |id: &str, data| Event { id: id.to_owned(), data, ..Default::default() };
    let events = [
        event("1", None),
        event("2", data("machine.ServiceStateEvent", service.encode_to_vec())),
        event("3", data("machine.FromTheFuture", vec![1, 2, 3])),
        event("4", data("machine.TaskEvent", vec![0xff])),
    ];
    let read = run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, move |call: Call| {
            call.answer(events.iter().map(|event| frame(&event.encode_to_vec())).collect())
        });
        let node = node(&pki, server.await.address, SHORT);
        let mut followed = node.events(Since::Now, "");
        let mut read = Vec::new();
        while let Followed::Event(event) = followed.next().await.expect("an event") {
            read.push(Occurrence::decode(&event.data.expect("data")).expect("no greeting"));
        }
        read
    });
    assert_eq!(read, [Occurrence::Service(service), Occurrence::Other, Occurrence::Other]);
}

#[test]
fn what_is_not_read_is_not_sent_and_what_is_dropped_is_ended() {
    run(async {
        let pki = Pki::new(1);
        let sent = Arc::new(AtomicUsize::new(0));
        let (ended, mut has_ended) = tokio::sync::mpsc::channel::<()>(1);
        let count = Arc::clone(&sent);
        let server = Server::start(pki.clone(), NOW_AND_LATER, move |call: Call| {
            let (count, ended) = (Arc::clone(&count), ended.clone());
            async move {
                let chunk =
                    frame(&Data { bytes: vec![7; 64 << 10], ..Default::default() }.encode_to_vec());
                let mut stream = call.begin();
                while send(&mut stream, chunk.clone()).await.is_some() {
                    count.fetch_add(chunk.len(), Ordering::Relaxed);
                }
                let _ = ended.send(()).await;
            }
        });
        let node = node(&pki, server.await.address, Duration::from_secs(5));
        let mut stream = node
            .open(|node| async move { node.machine().logs(LogsRequest::default()).await })
            .await
            .expect("a stream");
        stream.bytes().await.expect("bytes").expect("some");
        let mut before = usize::MAX;
        // Until nothing more is sent.
        while before != sent.load(Ordering::Relaxed) {
            before = sent.load(Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        assert!(before < 8 << 20, "{before} bytes were sent to somebody who does not read");
        drop(stream);
        let end = tokio::time::timeout(Duration::from_secs(5), has_ended.recv()).await;
        assert!(end.is_ok(), "the machine does not know that nobody listens");
    });
}

#[test]
fn a_thousand_calls_to_four_machines_share_one_connection() {
    run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, version_server).await;
        let client = Client::new(&pki.context(NOW_AND_LATER).at(server.address)).expect("a client");
        let names = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"];
        for _ in 0..250 {
            let nodes = names.map(|name| client.node(name, SHORT).expect("a node"));
            let answers =
                each_node(nodes.into(), 4, |node| async move { version(&node).await }).await;
            assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        }
        assert_eq!(server.connections.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn only_what_changes_nothing_is_asked_again() {
    run(async {
        let pki = Pki::new(1);
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        let server = Server::start(pki.clone(), NOW_AND_LATER, move |call: Call| {
            count.fetch_add(1, Ordering::Relaxed);
            call.refuse("14");
            async {}
        });
        let node = node(&pki, server.await.address, SHORT);
        let asked = node.release().await.expect_err("unavailable");
        assert!(matches!(asked.reason, Reason::Unreachable(_)), "{asked}");
        assert_eq!(calls.swap(0, Ordering::Relaxed), 3);
        node.call(node.machine().version(())).await.expect_err("unavailable");
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn events_are_asked_for_from_the_last_one_on() {
    run(async {
        let pki = Pki::new(1);
        let (asked, mut asks) = tokio::sync::mpsc::channel(8);
        let server = Server::start(pki.clone(), NOW_AND_LATER, move |call: Call| {
            let asked = asked.clone();
            async move {
                let (call, request) = call.read::<EventsRequest>().await;
                asked.send(request.tail_id.clone()).await.expect("somebody listens");
                let any = prost_types::Any { type_url: "x/y".to_owned(), ..Default::default() };
                let event =
                    |id: &str, data| Event { id: id.to_owned(), data, ..Default::default() };
                let events = match request.tail_id.as_str() {
                    "" => vec![event("5", None), event("7", Some(any))],
                    _ => vec![event("8", None), event("9", Some(any))],
                };
                call.answer(events.iter().map(|event| frame(&event.encode_to_vec())).collect())
                    .await;
            }
        });
        let node = node(&pki, server.await.address, SHORT);
        let mut followed = node.events(Since::Now, "");
        let mut ids = Vec::new();
        while ids.len() < 2 {
            match followed.next().await.expect("an event") {
                Followed::Event(event) => ids.push(event.id),
                Followed::Interrupted(_) => {}
            }
        }
        assert_eq!(ids, ["7", "9"]);
        assert_eq!(
            (asks.recv().await.unwrap(), asks.recv().await.unwrap()),
            (String::new(), "7".to_owned())
        );
    });
}

async fn version(node: &Node) -> Result<VersionResponse, NodeError> {
    node.call(node.machine().version(())).await
}

fn version_server(call: Call) -> impl Future<Output = ()> {
    let info = VersionInfo { tag: "v1.13.9".to_owned(), ..Default::default() };
    let message = Version { version: Some(info), ..Default::default() };
    let reply = VersionResponse { messages: vec![message] };
    call.answer(vec![frame(&reply.encode_to_vec())])
}

/// A message as gRPC sends it: not compressed, its length, itself.
fn frame(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).expect("a short message");
    [&[0][..], &length.to_be_bytes(), message].concat().into()
}

fn node(pki: &Pki, address: SocketAddr, deadline: Duration) -> Node {
    let client = Client::new(&pki.context(NOW_AND_LATER).at(address)).expect("a client");
    client.node("127.0.0.1", deadline).expect("a node")
}

trait At {
    fn at(self, address: SocketAddr) -> Self;
}

impl At for Context {
    fn at(self, address: SocketAddr) -> Self {
        Self { endpoints: vec![address.to_string()], ..self }
    }
}

/// A server that leaves every answer to its test.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Server {
    async fn start<F>(
        pki: Pki,
        validity: (i64, i64),
        answer: impl Fn(Call) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = listen().await;
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            let acceptor = pki.acceptor(validity);
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                let answer = answer.clone();
                tokio::spawn(async move {
                    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        let body = request.into_body();
                        tokio::spawn(answer(Call { body, respond }));
                    }
                });
            }
        });
        Self { address, connections }
    }

    async fn reason(&self, context: &Context) -> Reason {
        let client = Client::new(&context.clone().at(self.address)).expect("a client");
        let node = client.node("127.0.0.1", SHORT).expect("a node");
        version(&node).await.expect_err("an error").reason
    }
}

struct Call {
    body: h2::RecvStream,
    respond: h2::server::SendResponse<Bytes>,
}

impl Call {
    async fn read<M: Message + Default>(mut self) -> (Self, M) {
        let mut bytes = Vec::new();
        while let Some(Ok(data)) = self.body.data().await {
            bytes.extend_from_slice(&data);
        }
        let message = M::decode(&bytes[5..]).expect("a request");
        (self, message)
    }

    fn begin(mut self) -> SendStream<Bytes> {
        let response = Response::builder().header("content-type", "application/grpc");
        self.respond.send_response(response.body(()).expect("a response"), false).expect("a client")
    }

    async fn answer(self, frames: Vec<Bytes>) {
        let mut stream = self.begin();
        for frame in frames {
            send(&mut stream, frame).await;
        }
        end(stream, "0");
    }

    fn refuse(self, code: &'static str) {
        end(self.begin(), code);
    }
}

fn end(mut stream: SendStream<Bytes>, code: &'static str) {
    let trailers = HeaderMap::from_iter([(
        "grpc-status".parse().expect("a name"),
        HeaderValue::from_static(code),
    )]);
    let _ = stream.send_trailers(trailers);
}

/// Sends as the other side has room; nothing once it does not want more.
async fn send(stream: &mut SendStream<Bytes>, mut bytes: Bytes) -> Option<()> {
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        let room = std::future::poll_fn(|task| stream.poll_capacity(task)).await?.ok()?;
        stream.send_data(bytes.split_to(room.min(bytes.len())), false).ok()?;
    }
    Some(())
}

#[derive(Clone, Copy, Debug)]
enum Silence {
    BeforeTls,
    AfterTls,
}

async fn silent_server(pki: &Pki, silence: Silence) -> SocketAddr {
    raw_server(pki, move |stream, acceptor| async move {
        let kept: Box<dyn std::any::Any + Send> = match silence {
            Silence::BeforeTls => Box::new(stream),
            Silence::AfterTls => Box::new(acceptor.accept(stream).await),
        };
        std::future::pending::<()>().await;
        drop(kept);
    })
    .await
}

async fn garbage_server(pki: &Pki) -> SocketAddr {
    raw_server(pki, |stream, acceptor| async move {
        let Ok(mut stream) = acceptor.accept(stream).await else { return };
        let _ = stream.write_all(&[0x5a; 4096]).await;
        std::future::pending::<()>().await;
    })
    .await
}

/// Begins a stream, and is then there no more, without a word.
async fn dying_server(pki: &Pki) -> SocketAddr {
    raw_server(pki, |stream, acceptor| async move {
        let Ok(stream) = acceptor.accept(stream).await else { return };
        let mut connection: h2::server::Connection<TlsStream<TcpStream>, Bytes> =
            h2::server::handshake(stream).await.expect("a client");
        let (request, respond) = connection.accept().await.expect("a call").expect("a call");
        let stream = Call { body: request.into_body(), respond }.begin();
        // The beginning is sent, and nothing afterwards: nobody drives the connection any more.
        let _ = tokio::time::timeout(Duration::from_millis(300), connection.accept()).await;
        std::future::pending::<()>().await;
        drop((stream, connection));
    })
    .await
}

async fn raw_server<F>(
    pki: &Pki,
    serve: impl Fn(TcpStream, TlsAcceptor) -> F + Send + 'static,
) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = listen().await;
    let address = listener.local_addr().expect("an address");
    let acceptor = pki.acceptor(NOW_AND_LATER);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, acceptor.clone()));
        }
    });
    address
}

async fn listen() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port")
}

/// An authority with keys that everybody knows.
#[derive(Clone)]
struct Pki {
    authority: Authority,
}

impl Pki {
    fn new(seed: u8) -> Self {
        let new = NewAuthority {
            organization: Some(&format!("authority {seed}")),
            addresses: &[],
            validity: validity(NOW_AND_LATER),
            id: [seed; 20],
        };
        Self { authority: Authority::new(Key::ed25519([seed; 32]), &new) }
    }

    fn context(&self, times: (i64, i64)) -> Context {
        let key = Key::ed25519([9; 32]);
        let leaf = Leaf { subject: subject(), usage: Usage::Signature, validity: validity(times) };
        let certificate = self.authority.sign(&leaf, &key).expect("a certificate");
        Context {
            endpoints: Vec::new(),
            nodes: Vec::new(),
            ca: self.authority.certificate().encode(),
            certificate: certificate.encode(),
            key: key.encode(),
        }
    }

    fn acceptor(&self, times: (i64, i64)) -> TlsAcceptor {
        let key = Key::ed25519([8; 32]);
        let request = Request::new(&key, &subject(), &[IpAddr::V4(Ipv4Addr::LOCALHOST)]);
        let certificate =
            self.authority.sign_machine(&request, validity(times)).expect("a certificate").encode();
        let mut roots = RootCertStore::empty();
        roots.add(der(&self.authority.certificate().encode())).expect("an authority");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let clients =
            WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
        let key = pki::blocks(key.encode().expose()).next().expect("a key").bytes;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_client_cert_verifier(clients.build().expect("a verifier"))
            .with_single_cert(
                vec![der(&certificate)],
                PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key)),
            )
            .expect("a certificate");
        config.alpn_protocols = vec![b"h2".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

fn subject() -> Subject {
    Subject { organizations: vec!["os:admin".to_owned()], common_name: None }
}

fn der(text: &str) -> CertificateDer<'static> {
    pki::blocks(text).next().expect("a certificate").bytes.into()
}

fn validity((not_before, not_after): (i64, i64)) -> Validity {
    Validity { not_before, not_after, serial: [5; 16] }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

const SHORT: Duration = Duration::from_secs(1);
/// From 2020 to 2090.
const NOW_AND_LATER: (i64, i64) = (1_577_836_800, 3_786_912_000);
/// A day in 2020.
const LONG_AGO: (i64, i64) = (1_577_836_800, 1_577_923_200);
