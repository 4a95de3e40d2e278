//! A way to the API that can be cut: what is sent is neither delivered nor refused.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A listener on loopback whose connections lead to another address.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    open: watch::Sender<bool>,
}

impl Proxy {
    pub(crate) async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let open = watch::Sender::new(true);
        let gate = open.subscribe();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(connect(client, to, gate.clone()));
            }
        });
        Self { address, open }
    }

    /// Holds everything back that is sent from now on.
    pub(crate) fn cut(&self) {
        self.open.send_replace(false);
    }

    /// Delivers what was held back, and what is sent from now on.
    pub(crate) fn heal(&self) {
        self.open.send_replace(true);
    }
}

async fn connect(client: TcpStream, to: SocketAddr, gate: watch::Receiver<bool>) {
    let Ok(server) = TcpStream::connect(to).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::spawn(carry(from_client, to_server, gate.clone()));
    carry(from_server, to_client, gate).await;
}

/// Carries bytes for as long as both ends are there and the way is open.
async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut gate: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if gate.wait_for(|open| *open).await.is_err()
            || to.write_all(&buffer[..count]).await.is_err()
        {
            return;
        }
    }
    // The other end may still be waiting for the end of what was sent.
    let _ = to.shutdown().await;
}
