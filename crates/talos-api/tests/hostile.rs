//! The client before machines that are not what they should be: each gives a reason, and none a hang.
//!
//! The server speaks HTTP/2 and nothing more ([`testkit::machine_api`]): what it says is up to each test. What real machines
//! say is in level `talos`.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use talos_api::proto::common::Data;
use talos_api::proto::cosi;
use talos_api::proto::definitions::block::DiskSpec;
use talos_api::proto::machine::{
    CopyRequest, Event, EventsRequest, FileInfo, ListRequest, LogsRequest, RebootRequest,
    ServiceStateEvent, Version, VersionInfo, VersionResponse,
};
use talos_api::{
    Bound, Bounds, CallError, Client, EventPayload, Limits, Node, NodeError, Selection, Since,
    Stage, Stream, StreamEvent, Timeout, WatchEvent, each_node,
};
use talos_config::pki::{
    self, Authority, Key, Leaf, NewAuthority, Request, Subject, Usage, Validity,
};
use talos_config::{Coded, Context};
use testkit::machine_api::{self, Call, Identity, frame, send};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
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
        matches!(&reason, CallError::Untrusted(text) if text.contains("not signed by this cluster's CA")),
        "{reason}"
    );
}

#[test]
fn certificates_that_are_not_valid_now_are_told_from_those_of_others() {
    let reason = |machine: (u8, (i64, i64)), client: (u8, (i64, i64))| {
        run(async {
            let server = Server::start(Pki::new(machine.0), machine.1, version_server).await;
            server.reason(&Pki::new(client.0).context(client.1)).await
        })
    };
    for (name, machine, client, expected) in [
        ("theirs expired", (1, LONG_AGO), (1, NOW_AND_LATER), "its certificate is not valid now"),
        ("theirs is early", (1, FAR_AHEAD), (1, NOW_AND_LATER), "its certificate is not valid now"),
        ("ours expired", (1, NOW_AND_LATER), (1, LONG_AGO), "it says that ours is not valid now"),
    ] {
        let reason = reason(machine, client);
        assert_eq!(reason, CallError::CertificateTime(expected.to_owned()), "{name}");
        assert!(reason.to_string().ends_with("do the clocks agree?"), "{reason}");
        assert!(!reason.may_have_happened() && !reason.completed_handshake(), "{name}");
    }
    // A stranger whose clock is wrong is a stranger.
    for validity in [LONG_AGO, FAR_AHEAD] {
        let reason = reason((2, validity), (1, NOW_AND_LATER));
        assert!(
            matches!(&reason, CallError::Untrusted(text) if text.contains("not signed by this cluster's CA")),
            "{reason}"
        );
    }
}

#[test]
fn a_client_of_another_authority_is_told_so() {
    let reason = run(async {
        let (ours, theirs) = (Pki::new(1), Pki::new(2));
        let server = Server::start(theirs.clone(), NOW_AND_LATER, version_server).await;
        let context =
            Context { ca: theirs.authority.certificate().encode(), ..ours.context(NOW_AND_LATER) };
        server.reason(&context).await
    });
    assert!(matches!(&reason, CallError::Untrusted(text) if text.contains("alert")), "{reason:?}");
    assert!(!reason.may_have_happened());
}

#[test]
fn what_is_no_machine_is_not_connected() {
    run(async {
        let pki = Pki::new(1);
        // Nothing listens there any more.
        let closed = listen().await.local_addr().expect("an address");
        let resets = raw_server(&pki, |stream, _| async move { drop(stream) }).await;
        let babbles = raw_server(&pki, |mut stream, _| async move {
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.9\r\n").await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        });
        for (name, address) in [("closed", closed), ("resets", resets), ("babbles", babbles.await)]
        {
            let reason = reboot(&node(&pki, address, LONG)).await;
            assert!(matches!(reason, CallError::Unreachable(_)), "{name}: {reason:?}");
            assert_eq!(reason.stage(), Stage::Connecting, "{name}: {reason:?}");
            assert!(!reason.may_have_happened() && !reason.completed_handshake(), "{name}");
        }
    });
}

#[test]
fn a_connection_that_breaks_may_have_carried_the_call() {
    run(async {
        let pki = Pki::new(1);
        let greets = raw_server(&pki, |stream, acceptor| async move {
            drop(acceptor.accept(stream).await);
        });
        let takes = raw_server(&pki, |stream, acceptor| async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let mut connection: h2::server::Connection<TlsStream<TcpStream>, Bytes> =
                h2::server::handshake(stream).await.expect("a client");
            drop(connection.accept().await.expect("a call").expect("a call"));
        });
        for (name, address) in [("greets", greets.await), ("takes", takes.await)] {
            let reason = reboot(&node(&pki, address, LONG)).await;
            assert!(matches!(reason, CallError::Unreachable(_)), "{name}: {reason:?}");
            assert_eq!(reason.stage(), Stage::Sent, "{name}: {reason:?}");
            assert!(reason.completed_handshake() && reason.may_have_happened(), "{name}");
        }
    });
}

#[test]
fn a_machine_that_refuses_did_not_do_it() {
    run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, |call: Call| {
            call.refuse("9");
            async {}
        });
        let reason = reboot(&node(&pki, server.await.address, LONG)).await;
        assert!(matches!(reason, CallError::Refused(_)), "{reason:?}");
        assert!(reason.completed_handshake() && !reason.may_have_happened());
    });
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
        let stage = match said {
            Silence::BeforeTls => Stage::Connecting,
            Silence::AfterTls => Stage::Sent,
        };
        assert_eq!(reason, CallError::TimedOut(Timeout { deadline: SHORT, stage }), "{said:?}");
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
    assert_eq!(reason, CallError::TimedOut(Timeout { deadline: SHORT, stage: Stage::Sent }));
    assert!(reason.may_have_happened());
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
            .without_idle_timeout();
        loop {
            match stream.next().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("an orderly end"),
                Err(error) => return error.reason,
            }
        }
    });
    assert!(matches!(reason, CallError::Unreachable(_)), "{reason}");
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
            "no protobuf" | "no message" => matches!(error.reason, CallError::Unreadable(_)),
            _ => matches!(error.reason, CallError::Other { .. } | CallError::Unreadable(_)),
        };
        assert!(expected, "{name}: {error:?}");
    }
    let reason = run(async {
        let pki = Pki::new(1);
        let address = garbage_server(&pki).await;
        version(&node(&pki, address, SHORT)).await.expect_err("an error").reason
    });
    assert!(matches!(reason, CallError::Unreachable(_) | CallError::Other { .. }), "{reason:?}");
}

#[test]
fn details_that_cannot_be_read_are_left_out() {
    run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, |call: Call| async move {
            let response = Response::builder()
                .header("content-type", "application/grpc")
                .header("grpc-status", "9")
                .header("grpc-status-details-bin", "!");
            call.answer_with_head(response.body(()).expect("a response"));
        });
        let at_once = reboot(&node(&pki, server.await.address, LONG)).await;
        assert_eq!(at_once, CallError::Refused(String::new()));
        let server = Server::start(pki.clone(), NOW_AND_LATER, |call: Call| async move {
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", HeaderValue::from_static("9"));
            trailers.insert("grpc-status-details-bin", HeaderValue::from_static("!"));
            call.begin().send_trailers(trailers).expect("a client");
        });
        let in_the_end = reboot(&node(&pki, server.await.address, LONG)).await;
        assert_eq!(in_the_end, CallError::Refused(String::new()));
    });
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
    assert!(matches!(reason, CallError::TooLarge(_)), "{reason:?}");
}

#[test]
fn a_stranger_may_say_less_at_once() {
    run(async {
        let pki = Pki::new(1);
        let reply = VersionResponse {
            messages: vec![Version::default(); Limits::STRANGER.message / 2 + 1],
        };
        let reply = frame(&reply.encode_to_vec());
        let server = Server::start_open(pki, move |call: Call| call.answer(vec![reply.clone()]));
        let reason = version(&stranger(server.await.address)).await.expect_err("too much").reason;
        assert!(matches!(reason, CallError::TooLarge(_)), "{reason:?}");
    });
}

#[test]
fn a_stranger_without_an_end_is_left() {
    run(async {
        let server = Server::start_open(Pki::new(1), |call: Call| {
            call.repeat(&cosi::ListResponse::default().encode_to_vec(), None)
        });
        let node = stranger(server.await.address);
        let reason = node.list::<DiskSpec>().await.expect_err("no end").reason;
        assert_eq!(reason, CallError::Endless("10000 messages".to_owned()));
        assert_eq!(reason.code(), "machine.endless");
    });
}

#[test]
fn what_is_collected_is_bounded_by_count_size_and_time() {
    let resource = cosi::Resource {
        metadata: None,
        spec: Some(cosi::Spec { proto_spec: vec![7; 4096], ..Default::default() }),
    };
    let large = cosi::ListResponse { resource: Some(resource) };
    let empty = cosi::ListResponse::default();
    for (reply, pause, limits, expected) in [
        (&empty, None, Limits { messages: 50, ..Limits::MEMBER }, "50 messages"),
        (&empty, None, Limits { bytes: 5000, ..Limits::MEMBER }, "5000 bytes"),
        (&large, None, Limits { bytes: 50_000, ..Limits::MEMBER }, "50000 bytes"),
        (
            &empty,
            Some(Duration::from_millis(100)),
            Limits { total: Duration::ZERO, ..Limits::MEMBER },
            "1 s",
        ),
    ] {
        run(async {
            let pki = Pki::new(1);
            let reply = reply.encode_to_vec();
            let server = Server::start(pki.clone(), NOW_AND_LATER, move |call: Call| {
                call.repeat(&reply, pause)
            });
            let node = node(&pki, server.await.address, SHORT).limited(limits);
            let listed = node.list_resources("runtime", "Disks.block.talos.dev").await;
            let reason = listed.expect_err("no end").reason;
            assert_eq!(reason, CallError::Endless(expected.to_owned()));
        });
    }
}

#[test]
fn what_ends_within_the_limits_is_whole() {
    run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, |call: Call| {
            let file = |number: u8| FileInfo { name: number.to_string(), ..Default::default() };
            call.answer((0..10).map(|number| frame(&file(number).encode_to_vec())).collect())
        });
        let node = node(&pki, server.await.address, LONG);
        let list = async |limits| {
            let list =
                |node: Node| async move { node.machine().list(ListRequest::default()).await };
            node.limited(limits).open(list).await?.collect().await
        };
        let files = list(Limits { messages: 10, ..Limits::MEMBER }).await.expect("ten files");
        assert_eq!(files.iter().map(|file| file.name.as_str()).collect::<String>(), "0123456789");
        let more = list(Limits { messages: 9, ..Limits::MEMBER }).await.expect_err("ten files");
        assert_eq!(more.reason, CallError::Endless("9 messages".to_owned()));
    });
}

#[test]
fn a_boot_id_a_kubeconfig_and_a_directory_have_an_end() {
    let said = Data { bytes: b"x".to_vec(), ..Default::default() };
    for message in [said, Data::default()] {
        run(async {
            let (pki, message) = (Pki::new(1), message.encode_to_vec());
            let server = Server::start(pki.clone(), NOW_AND_LATER, move |call: Call| {
                call.repeat(&message, None)
            });
            let node = node(&pki, server.await.address, LONG);
            let boot = node.boot_id().await.expect_err("no end").reason;
            assert_eq!(boot, CallError::Endless("16 messages".to_owned()));
            let kubeconfig = node.kubeconfig().await.err().expect("no end").reason;
            assert_eq!(kubeconfig, CallError::Endless("4096 messages".to_owned()));
        });
    }
    run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, |call: Call| {
            call.repeat(&FileInfo::default().encode_to_vec(), None)
        });
        let node = node(&pki, server.await.address, LONG);
        let list = |node: Node| async move { node.machine().list(ListRequest::default()).await };
        let listed = node.open(list).await.expect("a stream").collect().await;
        let reason = listed.expect_err("no end").reason;
        assert_eq!(reason, CallError::Endless("100000 messages".to_owned()));
    });
}

#[test]
fn stream_that_is_passed_on_ends_within_its_bounds() {
    let piece = Data { bytes: vec![7; 1000], ..Data::default() }.encode_to_vec();
    let empty = Data::default().encode_to_vec();
    let pause = Some(Duration::from_millis(100));
    let bounds = |bytes, total| Bounds { bytes, total };
    for (name, message, pause, bounds, expected) in [
        ("bytes", &piece, None, bounds(50_000, LONG), Bound::Bytes(50_000)),
        ("bytes one by one", &piece, pause, bounds(5_000, LONG), Bound::Bytes(5_000)),
        ("time", &piece, pause, bounds(u64::MAX, SHORT), Bound::Time(SHORT)),
        // Never silent, and no bytes to count.
        ("nothing, slowly", &empty, pause, bounds(1, SHORT), Bound::Time(SHORT)),
        ("nothing, at once", &empty, None, bounds(1, SHORT), Bound::Time(SHORT)),
    ] {
        run(async {
            let (pki, message) = (Pki::new(1), message.clone());
            let server = Server::start(pki.clone(), NOW_AND_LATER, move |call: Call| {
                call.repeat(&message, pause)
            });
            let node = node(&pki, server.await.address, LONG);
            let mut stream = copied(&node).await.bounded(bounds);
            let mut received = 0;
            let reason = loop {
                match stream.bytes().await {
                    Ok(Some(bytes)) => received += bytes.len() as u64,
                    Ok(None) => panic!("{name}: an end"),
                    Err(error) => break error.reason,
                }
            };
            assert_eq!(reason, CallError::OverLimit(expected), "{name}");
            assert_eq!(reason.code(), "machine.over-limit");
            assert!(reason.hint().is_some_and(|hint| hint.contains("--")), "{name}");
            assert!(received <= bounds.bytes, "{name}: {received} bytes were passed on");
        });
    }
}

#[test]
fn stream_that_ends_within_its_bounds_is_whole() {
    run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, |call: Call| {
            let piece = Data { bytes: vec![7; 1000], ..Data::default() }.encode_to_vec();
            call.answer(vec![frame(&piece); 5])
        });
        let node = node(&pki, server.await.address, LONG);
        let mut stream = copied(&node).await.bounded(Bounds { bytes: 5_000, total: LONG });
        let mut received = 0;
        while let Some(bytes) = stream.bytes().await.expect("bytes") {
            received += bytes.len();
        }
        assert_eq!(received, 5_000);
    });
}

#[test]
fn a_watch_remembers_no_more_than_is_kept_of_a_machine() {
    run(async {
        let pki = Pki::new(1);
        let server = Server::start(pki.clone(), NOW_AND_LATER, |call: Call| async move {
            let mut stream = call.begin();
            for id in 0.. {
                let metadata = cosi::Metadata { id: format!("{id}"), ..Default::default() };
                let resource = cosi::Resource { metadata: Some(metadata), spec: None };
                let event = cosi::Event {
                    event_type: cosi::EventType::Created.into(),
                    resource: Some(resource),
                    ..Default::default()
                };
                let response = cosi::WatchResponse { event: vec![event] };
                if send(&mut stream, frame(&response.encode_to_vec())).await.is_none() {
                    return;
                }
            }
        });
        let limits = Limits { messages: 100, ..Limits::MEMBER };
        let node = node(&pki, server.await.address, LONG).limited(limits);
        let mut watch = node.watch(Selection {
            namespace: "runtime".to_owned(),
            kind: "Disks.block.talos.dev".to_owned(),
            id: None,
        });
        let mut appeared = 0;
        let reason = loop {
            match watch.next().await {
                Ok(WatchEvent::Created(_)) => appeared += 1,
                Ok(_) => panic!("something else than a resource"),
                Err(error) => break error.reason,
            }
        };
        assert_eq!((appeared, reason), (100, CallError::Endless("100 messages".to_owned())));
    });
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
        while let StreamEvent::Event(event) = followed.next().await.expect("an event") {
            read.push(EventPayload::decode(&event.data.expect("data")).expect("no greeting"));
        }
        read
    });
    assert_eq!(read, [EventPayload::Service(service), EventPayload::Other, EventPayload::Other]);
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
        assert_eq!(server.scripted.accepted(), 1);
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
        assert!(matches!(asked.reason, CallError::Unreachable(_)), "{asked}");
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
        let server = Server::start(pki.clone(), NOW_AND_LATER, move |mut call: Call| {
            let asked = asked.clone();
            async move {
                let request = call.message().await;
                let request = EventsRequest::decode(request.as_slice()).expect("a request");
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
                StreamEvent::Event(event) => ids.push(event.id),
                StreamEvent::Interrupted(_) => {}
            }
        }
        assert_eq!(ids, ["7", "9"]);
        assert_eq!(
            (asks.recv().await.unwrap(), asks.recv().await.unwrap()),
            (String::new(), "7".to_owned())
        );
    });
}

/// How a call that changes something fails.
async fn reboot(node: &Node) -> CallError {
    let outcome = node.call(node.machine().reboot(RebootRequest::default())).await;
    outcome.expect_err("an error").reason
}

/// A file that is on its way from a machine.
async fn copied(node: &Node) -> Stream<Data> {
    let copy = |node: Node| async move { node.machine().copy(CopyRequest::default()).await };
    node.open(copy).await.expect("a stream")
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

fn node(pki: &Pki, address: SocketAddr, deadline: Duration) -> Node {
    let client = Client::new(&pki.context(NOW_AND_LATER).at(address)).expect("a client");
    client.node("127.0.0.1", deadline).expect("a node")
}

/// Something that answers at an address, and shows no credentials.
fn stranger(address: SocketAddr) -> Node {
    let client = Client::maintenance(&address.to_string(), Vec::new()).expect("a client");
    client.direct("127.0.0.1", LONG)
}

trait At {
    fn at(self, address: SocketAddr) -> Self;
}

impl At for Context {
    fn at(self, address: SocketAddr) -> Self {
        Self { endpoints: vec![address.to_string()], ..self }
    }
}

/// A scripted machine of a cluster, or one in maintenance.
struct Server {
    address: SocketAddr,
    scripted: machine_api::Server,
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
        Self::scripted(&pki.identity(validity, Clients::Ours), answer).await
    }

    /// Starts one that asks clients for no certificate, as in maintenance.
    async fn start_open<F>(
        pki: Pki,
        answer: impl Fn(Call) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::scripted(&pki.identity(NOW_AND_LATER, Clients::Any), answer).await
    }

    async fn scripted<F>(
        identity: &Identity,
        answer: impl Fn(Call) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let scripted = machine_api::Server::start(identity, answer).await;
        Self { address: scripted.address, scripted }
    }

    async fn reason(&self, context: &Context) -> CallError {
        let client = Client::new(&context.clone().at(self.address)).expect("a client");
        let node = client.node("127.0.0.1", SHORT).expect("a node");
        version(&node).await.expect_err("an error").reason
    }
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
        let stream = Call::new(request, respond).begin();
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
    let acceptor = pki.identity(NOW_AND_LATER, Clients::Ours).acceptor();
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

    fn identity(&self, times: (i64, i64), clients: Clients) -> Identity {
        let key = Key::ed25519([8; 32]);
        let request = Request::new(&key, &subject(), &[IpAddr::V4(Ipv4Addr::LOCALHOST)]);
        let certificate =
            self.authority.sign_machine(&request, validity(times)).expect("a certificate").encode();
        let clients = match clients {
            Clients::Ours => Some(der(&self.authority.certificate().encode())),
            Clients::Any => None,
        };
        Identity { certificate: der(&certificate), key: der(key.encode().expose()), clients }
    }
}

#[derive(Clone, Copy)]
enum Clients {
    Ours,
    Any,
}

fn subject() -> Subject {
    Subject { organizations: vec!["os:admin".to_owned()], common_name: None }
}

fn der(text: &str) -> Vec<u8> {
    pki::blocks(text).next().expect("a block").bytes
}

fn validity((not_before, not_after): (i64, i64)) -> Validity {
    Validity { not_before, not_after, serial: [5; 16] }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

const SHORT: Duration = Duration::from_secs(1);
/// For what does not depend on it.
const LONG: Duration = Duration::from_secs(30);
/// From 2020 to 2090.
const NOW_AND_LATER: (i64, i64) = (1_577_836_800, 3_786_912_000);
/// A day in 2020.
const LONG_AGO: (i64, i64) = (1_577_836_800, 1_577_923_200);
/// From 2080 to 2090.
const FAR_AHEAD: (i64, i64) = (3_471_292_800, 3_786_912_000);
