//! Machines that never end what they send: a command ends within its limits, names the one that was reached, and leaves
//! nothing half behind.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use talos_api::proto::common::Data;
use talos_api::proto::machine::image_service_pull_response::Response as Pulled;
use talos_api::proto::machine::lifecycle_service_install_progress::Response as Installed;
use talos_api::proto::machine::{
    ImageServicePullLayerProgress, ImageServicePullProgress, ImageServicePullResponse,
    LifecycleServiceInstallProgress, LifecycleServiceUpgradeResponse, ServiceInfo, ServiceList,
    ServiceListResponse, Version, VersionInfo, VersionResponse,
};
use talos_config::pki::{
    self, Authority, Key, Leaf, NewAuthority, Request, Subject, Usage, Validity,
};
use tempfile::TempDir;
use testkit::machine_api::{Call, Identity, Server, frame, send};
use tokio::time::sleep;

#[test]
fn snapshot_without_an_end_stops_at_its_limits_and_leaves_no_file() {
    for (data, pause, limit, code, reached) in [
        (vec![7; 64 << 10], None, "--max-size 1MB", 1, "1.0 MB"),
        // Never silent, and no bytes to count.
        (Vec::new(), Some(SLOWLY), "--timeout 1s", 6, "1 s"),
        (Vec::new(), None, "--timeout 1s", 6, "1 s"),
    ] {
        let rest = piece(data);
        let home = Home::new(Endless { path: SNAPSHOT, first: rest.clone(), rest, pause });
        let said = home.ichor(&format!("etcd snapshot db.snapshot {limit}"));
        said.reached(code, reached, limit);
        assert_eq!(home.files(""), ["talosconfig"], "{limit}");
    }
}

#[test]
fn copy_without_an_end_stops_at_its_limits_and_leaves_whole_files_only() {
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    let noise: Vec<u8> = (0..64 << 10).map(|_| noise()).collect();
    // A thousandth of it when it is packed.
    let zeroes = vec![0; 2 << 20];
    for (name, rest, pause, limit, code, reached) in [
        ("much", packed(&noise), None, "--max-size 1MB", 1, "1.0 MB"),
        ("little that unpacks to much", packed(&zeroes), None, "--max-size 1MB", 1, "1.0 MB"),
        ("nothing, slowly", Vec::new(), Some(SLOWLY), "--timeout 1s", 6, "1 s"),
        ("nothing, at once", Vec::new(), None, "--timeout 1s", 6, "1 s"),
    ] {
        let (first, rest) = (piece(packed(&archive())), piece(rest));
        let home = Home::new(Endless { path: COPY, first, rest, pause });
        let said = home.ichor(&format!("cp /var copy {limit}"));
        said.reached(code, reached, limit);
        assert_eq!(home.files("copy"), ["whole"], "{name}");
        assert_eq!(home.files(""), ["copy", "talosconfig"], "{name}");
    }
}

#[test]
fn copy_to_stdout_without_an_end_stops_at_its_limits() {
    let rest = piece(vec![7; 64 << 10]);
    let home = Home::new(Endless { path: COPY, first: rest.clone(), rest, pause: None });
    let said = home.ichor("cp /var - --max-size 1MB");
    said.reached(1, "1.0 MB", "--max-size 1MB");
    assert!((900_000..=1_000_000).contains(&said.stdout.len()), "{} bytes", said.stdout.len());
}

#[test]
fn image_pull_without_an_end_stops_at_its_timeout() {
    for pause in [None, Some(SLOWLY)] {
        let layer = ImageServicePullLayerProgress { total: 1, ..Default::default() };
        let progress =
            ImageServicePullProgress { layer_id: "sha256:0".to_owned(), progress: Some(layer) };
        let rest = ImageServicePullResponse { response: Some(Pulled::PullProgress(progress)) };
        let rest = rest.encode_to_vec();
        let home = Home::new(Endless { path: PULL, first: rest.clone(), rest, pause });
        let said = home.ichor("node image pull registry.example/pause:1 --timeout 1s");
        said.is_not_done("image pull");
    }
}

#[test]
fn upgrade_without_an_end_stops_at_its_timeout() {
    let response = Some(Installed::Message("copying\n".to_owned()));
    let progress = Some(LifecycleServiceInstallProgress { response });
    let rest = LifecycleServiceUpgradeResponse { progress }.encode_to_vec();
    let pause = Some(SLOWLY);
    let home = Home::new(Endless { path: UPGRADE, first: rest.clone(), rest, pause });
    let line = "node upgrade --image registry.example/installer:v1.13.9 --yes --timeout 1s";
    let said = home.ichor(line);
    said.is_not_done("upgrade");
    assert!(said.stderr.contains("127.0.0.1: copying\n"), "{}", said.stderr);
}

/// The one call that a machine does not end: a message, and then another one again and again.
struct Endless {
    path: &'static str,
    first: Vec<u8>,
    rest: Vec<u8>,
    /// Between messages; none where they come as fast as they are taken.
    pause: Option<Duration>,
}

async fn answer(call: Call, script: Arc<Endless>) {
    if call.path == script.path {
        let mut stream = call.begin();
        let mut next = frame(&script.first);
        while send(&mut stream, next).await.is_some() {
            let rest = frame(&script.rest);
            // Many small messages in one frame of HTTP/2: a client hangs up on too many small ones of those by itself.
            let at_once = if script.pause.is_some() { 1 } else { (64 << 10) / rest.len() };
            next = rest.repeat(at_once.max(1)).into();
            if let Some(pause) = script.pause {
                sleep(pause).await;
            }
        }
        return;
    }
    let reply = match call.path.as_str() {
        "/machine.MachineService/Version" => {
            let info = VersionInfo { tag: "v1.13.9".to_owned(), ..Default::default() };
            let version = Version { version: Some(info), ..Default::default() };
            Some(VersionResponse { messages: vec![version] }.encode_to_vec())
        }
        // A stopped etcd has no vote to lose.
        "/machine.MachineService/ServiceList" => {
            let (id, state) = ("etcd".to_owned(), "Preparing".to_owned());
            let services = vec![ServiceInfo { id, state, ..Default::default() }];
            let messages = vec![ServiceList { services, ..Default::default() }];
            Some(ServiceListResponse { messages }.encode_to_vec())
        }
        LIST => return call.answer(Vec::new()).await,
        PULL => {
            let response = Some(Pulled::Name("registry.example/installer@sha256:0".to_owned()));
            Some(ImageServicePullResponse { response }.encode_to_vec())
        }
        _ => None,
    };
    match reply {
        Some(reply) => call.answer(vec![frame(&reply)]).await,
        // Code 12: the machine does not know the call.
        None => call.refuse("12"),
    }
}

/// A working directory with credentials for a scripted machine, and a home beside it.
struct Home(TempDir);

impl Home {
    fn new(script: Endless) -> Self {
        let home = Self(tempfile::tempdir().expect("a directory"));
        for folder in ["home", "work"] {
            fs_err::create_dir(home.0.path().join(folder)).expect("a directory");
        }
        let (script, authority) = (Arc::new(script), authority());
        let identity = identity(&authority);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let server = Server::on_thread(
            listener,
            move || identity.clone(),
            move |call| answer(call, Arc::clone(&script)),
        );
        let key = Key::ed25519([9; 32]);
        let subject = Subject { organizations: vec!["os:admin".to_owned()], common_name: None };
        let leaf = Leaf { subject, usage: Usage::Signature, validity: VALIDITY };
        let certificate = authority.sign(&leaf, &key).expect("a certificate");
        let text = format!(
            "context: home\ncontexts:\n  home:\n    endpoints: [\"{}\"]\n    ca: {}\n    crt: {}\n    key: {}\n",
            server.address,
            STANDARD.encode(authority.certificate().encode()),
            STANDARD.encode(certificate.encode()),
            STANDARD.encode(key.encode().expose()),
        );
        fs_err::write(home.0.path().join("work/talosconfig"), text).expect("a talosconfig");
        home
    }

    /// The names in a folder, sorted.
    fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs_err::read_dir(self.0.path().join("work").join(folder)).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().display().to_string())
            .collect();
        names.sort();
        names
    }

    /// Runs a command line, in which blanks are between words and nowhere else.
    fn ichor(&self, line: &str) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_ichor"))
            .args(line.split(' '))
            .args(["--talosconfig", "talosconfig", "-n", "127.0.0.1", "--deadline", "20s"])
            .current_dir(self.0.path().join("work"))
            .env_clear()
            .env("HOME", self.0.path().join("home"))
            .stdin(Stdio::null())
            .output()
            .expect("ichor");
        Said {
            code: output.status.code().expect("no signal"),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Output and exit status of the program.
struct Said {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Said {
    /// Asserts that a limit ended it, and that the hint names the flag of the limit.
    #[track_caller]
    fn reached(&self, code: i32, limit: &str, flag: &str) {
        assert_eq!(self.code, code, "{}", self.stderr);
        let error =
            format!("error[machine.over-limit]: 127.0.0.1: the data is longer than {limit}\n");
        assert!(self.stderr.contains(&error), "{}", self.stderr);
        let flag = flag.split(' ').next().expect("a flag");
        let hint = self.stderr.lines().find_map(|line| line.strip_prefix("hint: "));
        assert!(hint.is_some_and(|hint| hint.contains(flag)), "{}", self.stderr);
    }

    /// Asserts that `--timeout` ended it.
    #[track_caller]
    fn is_not_done(&self, action: &str) {
        assert_eq!(self.code, 6, "{}", self.stderr);
        let error = format!("error[machine.not-done]: 127.0.0.1: {action} is not done after 1 s\n");
        assert!(self.stderr.contains(&error), "{}", self.stderr);
        assert!(self.stderr.contains("--timeout"), "{}", self.stderr);
    }
}

fn piece(bytes: Vec<u8>) -> Vec<u8> {
    Data { metadata: None, bytes }.encode_to_vec()
}

/// A tar file with a whole file in it, and the head of one that is too large for any disk.
fn archive() -> Vec<u8> {
    let mut content = b"whole".to_vec();
    content.resize(512, 0);
    [head("whole", 5), content, head("large", 1 << 40)].concat()
}

fn head(name: &str, size: u64) -> Vec<u8> {
    let mut head = tar::Header::new_gnu();
    head.set_path(name).expect("a name");
    head.set_entry_type(tar::EntryType::Regular);
    head.set_mode(0o600);
    head.set_size(size);
    head.set_cksum();
    head.as_bytes().to_vec()
}

/// A member of a file in gzip, which goes on with the next member.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("bytes");
    encoder.finish().expect("a member")
}

fn authority() -> Authority {
    let new = NewAuthority {
        organization: Some("endless"),
        addresses: &[],
        validity: VALIDITY,
        id: [1; 20],
    };
    Authority::new(Key::ed25519([1; 32]), &new)
}

fn identity(authority: &Authority) -> Identity {
    let key = Key::ed25519([8; 32]);
    let request = Request::new(&key, &Subject::default(), &[IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    let certificate = authority.sign_machine(&request, VALIDITY).expect("a certificate").encode();
    let der = |text: &str| pki::blocks(text).next().expect("a block").bytes;
    Identity {
        certificate: der(&certificate),
        key: der(key.encode().expose()),
        clients: Some(der(&authority.certificate().encode())),
    }
}

const COPY: &str = "/machine.MachineService/Copy";
const LIST: &str = "/machine.MachineService/List";
const PULL: &str = "/machine.ImageService/Pull";
const SNAPSHOT: &str = "/machine.MachineService/EtcdSnapshot";
const UPGRADE: &str = "/machine.LifecycleService/Upgrade";
/// Often enough for every deadline between messages.
const SLOWLY: Duration = Duration::from_millis(100);
/// From 1970 to 2100.
const VALIDITY: Validity = Validity { not_before: 0, not_after: 4_102_444_800, serial: [1; 16] };
