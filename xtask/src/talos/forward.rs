//! Connections from this machine's loopback into the network of a site.
//!
//! A socket belongs to the network in which it was made. So the listener is made outside, and the thread that accepts
//! from it enters the site's network, where its connections to the nodes begin.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fs_err::File;
use nix::sched::{CloneFlags, setns};

/// Forwards until the process ends. When the node does not answer, the client's connection is closed.
pub(super) fn serve(listener: TcpListener, network: Arc<File>, node: SocketAddr) {
    thread::spawn(move || {
        if setns(&*network, CloneFlags::CLONE_NEWNET).is_err() {
            return;
        }
        for client in listener.incoming().flatten() {
            // Threads begin in the network of the thread that starts them.
            thread::spawn(move || connect(&client, node).ok());
        }
    });
}

fn connect(client: &TcpStream, node: SocketAddr) -> io::Result<()> {
    let node = TcpStream::connect_timeout(&node, Duration::from_secs(5))?;
    let back = (node.try_clone()?, client.try_clone()?);
    thread::spawn(move || copy(&back.0, &back.1));
    copy(client, &node);
    Ok(())
}

/// Copies one direction to its end, and says so to the other side.
fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    // However it ended, there is nothing more to come.
    io::copy(&mut from, &mut to).ok();
    to.shutdown(Shutdown::Write).ok();
}
