//! `ichor gen machine` before a machine in maintenance: links and addresses as a real one sent them, with disks that it
//! did not have.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use prost::Message;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use talos_api::proto::cosi::{self, ListRequest, ListResponse, Metadata, Resource};
use talos_api::proto::definitions::block::DiskSpec;
use talos_api::resource::Spec as _;
use talos_config::pki::{self, Authority, Key, NewAuthority, Request, Subject, Validity};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tonic::codegen::http::{HeaderMap, HeaderValue, Response};

use crate::Directory;

#[test]
fn a_machine_becomes_an_entry_that_its_file_accepts() {
    let address = machine(vec![
        disk("/dev/sr0", "sata", 700, |disk| disk.cdrom = true),
        disk("/dev/sda", "usb", 32, |_| {}),
        disk("/dev/sdb", "sata", 4000, |disk| disk.rotational = true),
        disk("/dev/nvme0n1", "nvme", 500, |disk| disk.serial = "S4EVNX0T".to_owned()),
    ]);
    let directory = Directory::new(&[]);
    let line = format!("gen machine --insecure --control-plane --name cp-1 -n {address}");
    let said = directory.run(&line);
    assert_eq!(said.code, 0, "{}", said.stderr);
    for reason in [
        "disk /dev/nvme0n1 (NVME, 500 GB, serial S4EVNX0T)",
        "not /dev/sdb (HDD, 4.0 TB): slower, larger or second by name",
        "not /dev/sr0 is a CD",
        "not /dev/sda is attached by USB",
        "link eth0 has 10.77.0.11: 8e:b2:0a:85:6d:b7",
    ] {
        assert!(
            said.stderr.contains(&format!("{address}: {reason}\n")),
            "{reason}\n{}",
            said.stderr
        );
    }
    assert_eq!(
        said.stdout,
        "  - hostname: cp-1\n    ipAddress: \"10.77.0.11\"\n    controlPlane: true\n    installDisk: /dev/nvme0n1\n    \
         networkInterfaces:\n      - deviceSelector:\n          hardwareAddr: \"8e:b2:0a:85:6d:b7\"\n        dhcp: \
         true\n"
    );
    let head = "clusterName: home\ntalosVersion: v1.12.0\nkubernetesVersion: v1.35.0\nendpoint: https://10.77.0.11:6443\n";
    directory.write("talconfig.yaml", &format!("{head}nodes:\n{}", said.stdout));
    directory.done("talhelper validate talconfig");
    directory.done("talhelper genconfig --offline-mode");

    let nodes = directory.done(&format!("{line} --for nodes"));
    directory.write("cluster.yaml", "node_cidr: 10.77.0.0/24\ncluster_api_addr: 10.77.0.10\n");
    directory.write("nodes.yaml", &format!("nodes:\n{nodes}"));
    directory.done("gen talconfig");
    let native = directory.done(&format!("{line} --for ichor"));
    assert_eq!(native, "    - {name: cp-1, address: 10.77.0.11, disk: /dev/nvme0n1}\n");
    let wrong = directory.run(&line.replace("cp-1", "Not_A_Name"));
    assert_eq!(wrong.code, 3, "{}", wrong.stderr);
}

#[test]
fn a_machine_that_boots_from_usb_is_taken_only_when_asked_for() {
    let address = machine(vec![disk("/dev/sda", "usb", 32, |_| {})]);
    let directory = Directory::new(&[]);
    let line = format!("gen machine --insecure -n {address}");
    let said = directory.run(&line);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(
        said.stderr.contains("no disk to install to: /dev/sda is attached by USB"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("hint: --usb takes one"), "{}", said.stderr);
    assert!(directory.done(&format!("{line} --usb")).contains("installDisk: /dev/sda\n"));
}

fn disk(device: &str, transport: &str, gigabytes: u64, change: impl Fn(&mut DiskSpec)) -> DiskSpec {
    let mut disk = DiskSpec {
        dev_path: device.to_owned(),
        size: gigabytes * 1_000_000_000,
        transport: transport.to_owned(),
        ..DiskSpec::default()
    };
    change(&mut disk);
    disk
}

/// Starts a machine that has these disks; it ends with the test's process.
fn machine(disks: Vec<DiskSpec>) -> SocketAddr {
    let mut replies: BTreeMap<String, Vec<Vec<u8>>> = include_str!("maintenance.jsonl")
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let frames = line["replies"].as_array().expect("a list").iter();
            let frames =
                frames.map(|frame| STANDARD.decode(frame.as_str().expect("text")).expect("base64"));
            (line["type"].as_str().expect("a type").to_owned(), frames.collect())
        })
        .collect();
    let disks = disks.into_iter().map(|disk| {
        let id = disk.dev_path.trim_start_matches("/dev/").to_owned();
        let metadata = Metadata {
            namespace: DiskSpec::NAMESPACE.to_owned(),
            r#type: DiskSpec::TYPE.to_owned(),
            id,
            version: "1".to_owned(),
            phase: "running".to_owned(),
            ..Metadata::default()
        };
        let spec = cosi::Spec { proto_spec: disk.encode_to_vec(), ..cosi::Spec::default() };
        ListResponse { resource: Some(Resource { metadata: Some(metadata), spec: Some(spec) }) }
            .encode_to_vec()
    });
    replies.insert(DiskSpec::TYPE.to_owned(), disks.collect());
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            sender.send(listener.local_addr().expect("an address")).expect("somebody who waits");
            let acceptor = acceptor();
            let replies = Arc::new(replies);
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                let replies = Arc::clone(&replies);
                tokio::spawn(async move {
                    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        tokio::spawn(answer(
                            request.uri().path().to_owned(),
                            request.into_body(),
                            respond,
                            Arc::clone(&replies),
                        ));
                    }
                });
            }
        });
    });
    receiver.recv().expect("an address")
}

async fn answer(
    path: String,
    mut body: h2::RecvStream,
    mut respond: h2::server::SendResponse<Bytes>,
    replies: Arc<BTreeMap<String, Vec<Vec<u8>>>>,
) {
    let mut request = Vec::new();
    while let Some(Ok(data)) = body.data().await {
        let _ = body.flow_control().release_capacity(data.len());
        request.extend_from_slice(&data);
    }
    let asked = ListRequest::decode(request.get(5..).unwrap_or_default()).unwrap_or_default();
    // What is not listed is not there: code 5.
    let (frames, code) = match replies.get(&asked.r#type) {
        Some(frames) if path == "/cosi.resource.State/List" => (frames.as_slice(), "0"),
        _ => (&[][..], "5"),
    };
    let response = Response::builder().header("content-type", "application/grpc");
    let response = response.body(()).expect("a response");
    let mut stream = respond.send_response(response, false).expect("a client");
    for frame in frames {
        let length = u32::try_from(frame.len()).expect("a short frame").to_be_bytes();
        let bytes = [&[0][..], &length, frame].concat();
        stream.send_data(bytes.into(), false).expect("a client");
    }
    let code = HeaderValue::from_static(code);
    let trailers = HeaderMap::from_iter([("grpc-status".parse().expect("a name"), code)]);
    stream.send_trailers(trailers).expect("a client");
}

/// A certificate that nobody signed whom anybody knows, as machines in maintenance have one.
fn acceptor() -> TlsAcceptor {
    let validity = Validity { not_before: 0, not_after: 4_102_444_800, serial: [1; 16] };
    let new =
        NewAuthority { organization: Some("maintenance"), addresses: &[], validity, id: [1; 20] };
    let authority = Authority::new(Key::ed25519([7; 32]), &new);
    let key = Key::ed25519([8; 32]);
    let request =
        Request::new(&key, &Subject::default(), &["127.0.0.1".parse().expect("an address")]);
    let certificate = authority.sign_machine(&request, validity).expect("a certificate").encode();
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
