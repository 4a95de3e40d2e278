//! A real Kubernetes API without nodes: etcd and kube-apiserver on loopback, for as long as the value lives.
//!
//! Who starts it brings the certificates, so that credentials are made by the code under test.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The certificates of an API server, as PEM texts.
#[derive(Clone, Copy, Debug)]
pub struct ServerPki<'a> {
    /// The authority that clients are signed by.
    pub ca: &'a str,
    /// The certificate that the server shows, for 127.0.0.1.
    pub certificate: &'a str,
    /// Its key.
    pub key: &'a str,
    /// The key that service accounts are signed with.
    pub service_account: &'a str,
}

/// A running API server with its etcd.
#[derive(Debug)]
pub struct ApiServer {
    /// Where it serves.
    pub address: SocketAddr,
    // Ended before their files are removed.
    _server: Running,
    _etcd: Running,
    _directory: TempDir,
}

impl ApiServer {
    /// Starts both programs and waits until they take connections. What is served before everything is set up is an
    /// error, as it is in a real cluster.
    ///
    /// # Panics
    /// When one of them does not start, with the end of what it said.
    pub fn start(etcd: &Path, kube_apiserver: &Path, pki: ServerPki<'_>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        let ServerPki { ca, certificate, key, service_account } = pki;
        for (name, text) in [
            ("ca.crt", ca),
            ("server.crt", certificate),
            ("server.key", key),
            ("service-account.key", service_account),
        ] {
            fs_err::write(path(name), text).expect("a file");
        }
        let [clients, peers, address] = free_addresses();
        let option = |name: &str, value: &dyn std::fmt::Display| format!("--{name}={value}");
        let file = |name: &str, file: &str| option(name, &path(file).display());

        let mut command = Command::new(etcd);
        command.args([
            file("data-dir", "etcd"),
            option("listen-client-urls", &format_args!("http://{clients}")),
            option("advertise-client-urls", &format_args!("http://{clients}")),
            option("listen-peer-urls", &format_args!("http://{peers}")),
            option("initial-advertise-peer-urls", &format_args!("http://{peers}")),
            option("initial-cluster", &format_args!("default=http://{peers}")),
            // What it stores need not survive anything.
            "--unsafe-no-fsync".to_owned(),
        ]);
        let etcd = Running::start(command, &path("etcd.log"), clients);

        let mut command = Command::new(kube_apiserver);
        command.args([
            option("etcd-servers", &format_args!("http://{clients}")),
            option("bind-address", &address.ip()),
            option("advertise-address", &address.ip()),
            option("secure-port", &address.port()),
            file("cert-dir", "certificates"),
            file("client-ca-file", "ca.crt"),
            file("tls-cert-file", "server.crt"),
            file("tls-private-key-file", "server.key"),
            option("service-account-issuer", &format_args!("https://{address}")),
            file("service-account-key-file", "service-account.key"),
            file("service-account-signing-key-file", "service-account.key"),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            // An address of loopback is no endpoint.
            "--endpoint-reconciler-type=none".to_owned(),
        ]);
        let server = Running::start(command, &path("kube-apiserver.log"), address);
        Self { address, _server: server, _etcd: etcd, _directory: directory }
    }
}

/// A program that ends with the value.
#[derive(Debug)]
struct Running(Child);

impl Running {
    fn start(mut command: Command, log: &Path, address: SocketAddr) -> Self {
        let output = fs_err::File::create(log).expect("a log").into_file();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        let mut running = Self(command.spawn().expect("a program that starts"));
        let begun = Instant::now();
        while let Err(error) = TcpStream::connect(address) {
            let ended = running.0.try_wait().expect("a state of the program");
            let in_time = begun.elapsed() < STARTS_WITHIN;
            if ended.is_some() || !in_time || error.kind() != ErrorKind::ConnectionRefused {
                let said = fs_err::read_to_string(log).unwrap_or_default();
                let end = said.len().saturating_sub(4096);
                let end = said.get(end..).unwrap_or_default();
                panic!("{command:?} does not serve at {address} ({error}, {ended:?}): ...{end}");
            }
            sleep(Duration::from_millis(50));
        }
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Addresses that the kernel has free now. They are held together, so that they differ.
fn free_addresses<const N: usize>() -> [SocketAddr; N] {
    let listeners: [TcpListener; N] = std::array::from_fn(|_| {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on loopback")
    });
    listeners.map(|listener| listener.local_addr().expect("its address"))
}

/// Long enough for a machine that builds at the same time.
const STARTS_WITHIN: Duration = Duration::from_mins(2);
