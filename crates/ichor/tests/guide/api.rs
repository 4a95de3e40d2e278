//! The API of a Talos machine on a loopback address: what it answers is said by the test, and what it is asked is kept.
//! The target `scripted` uses it as well.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use talos_config::pki::{self, Authority, Key, NewAuthority, Request, Subject, Validity};
use testkit::machine_api::{self, Identity, Server, frame};

/// A machine. It ends with the test's process.
pub(crate) struct Machine {
    pub(crate) address: SocketAddr,
    calls: Arc<Mutex<Vec<Call>>>,
}

/// A call that a machine got.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) path: String,
    /// The machine that is meant; empty where the call names none.
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
        let (answers, calls) = (Arc::new(answers), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&calls);
        let address = listener.local_addr().expect("an address").ip();
        let server = Server::on_thread(
            listener,
            move || identity(&authority(), address),
            move |call: machine_api::Call| answer(call, Arc::clone(&kept), Arc::clone(&answers)),
        );
        Self { address: server.address, calls }
    }

    /// Returns the calls so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().expect("the calls").clone()
    }
}

async fn answer<A: Fn(&Call) -> Option<Vec<Vec<u8>>>>(
    mut call: machine_api::Call,
    kept: Arc<Mutex<Vec<Call>>>,
    answers: Arc<A>,
) {
    let message = call.message().await;
    let asked = Call { path: call.path.clone(), node: call.node.clone(), message };
    let answered = answers(&asked);
    kept.lock().expect("the calls").push(asked);
    match answered {
        Some(messages) => {
            call.answer(messages.iter().map(|message| frame(message)).collect()).await;
        }
        // What has no answer is not there: code 5.
        None => call.refuse("5"),
    }
}

fn identity(authority: &Authority, address: IpAddr) -> Identity {
    let key = Key::ed25519(MACHINE_KEY);
    let request = Request::new(&key, &Subject::default(), &[address]);
    let certificate = authority.sign_machine(&request, VALIDITY).expect("a certificate").encode();
    let der = |text: &str| pki::blocks(text).next().expect("a block").bytes;
    Identity { certificate: der(&certificate), key: der(key.encode().expose()), clients: None }
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

/// A listener with the port of the Talos API on a loopback address of its own: the kernel keeps other tests off it.
pub(crate) fn loopback() -> TcpListener {
    let first = std::process::id();
    let mut numbers = (0..ADDRESSES).map(|offset| first.wrapping_add(offset) % ADDRESSES);
    let bind = |number: u32| {
        let [_, _, high, low] = number.to_be_bytes();
        TcpListener::bind((Ipv4Addr::new(127, 92, high, low), API_PORT)).ok()
    };
    numbers.find_map(bind).expect("a free loopback address")
}

/// The key of every machine, whichever authority has signed for it.
pub(crate) const MACHINE_KEY: [u8; 32] = [8; 32];
pub(crate) const VALIDITY: Validity =
    Validity { not_before: 0, not_after: 4_102_444_800, serial: [1; 16] };
/// The port at which engines call machines.
const API_PORT: u16 = 50_000;
/// As many as a network of sixteen bits has.
const ADDRESSES: u32 = 1 << 16;
