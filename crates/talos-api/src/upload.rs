//! A snapshot on its way to a machine, piece by piece.
//!
//! Always holds: a snapshot that cannot be read to its end is never taken for a whole one. The stream stays open
//! then, until the call is given up, which makes the machine throw away what it has.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::oneshot;
use tonic::codegen::tokio_stream::Stream;

use crate::error::NodeError;
use crate::node::Node;
use crate::proto::common::Data;

/// The failure to upload a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// It cannot be read.
    #[error("cannot read the snapshot")]
    Read(#[source] io::Error),
    /// The machine did not take it.
    #[error(transparent)]
    Node(#[from] NodeError),
}

impl Node {
    /// Gives the machine a snapshot of etcd, for the next bootstrap to begin with. It takes the place of one that was
    /// given before.
    pub async fn upload_snapshot(
        &self,
        snapshot: impl Read + Send + Unpin + 'static,
    ) -> Result<(), UploadError> {
        let (sender, failure) = oneshot::channel();
        let pieces = Pieces { snapshot, failure: Some(sender) };
        let mut machine = self.machine();
        let call = self.call(machine.etcd_recover(pieces));
        tokio::select! {
            biased;
            Ok(error) = failure => Err(UploadError::Read(error)),
            outcome = call => Ok(outcome.map(drop)?),
        }
    }
}

struct Pieces<R> {
    snapshot: R,
    /// Gone once reading has failed.
    failure: Option<oneshot::Sender<io::Error>>,
}

impl<R: Read + Unpin> Stream for Pieces<R> {
    type Item = Data;

    fn poll_next(mut self: Pin<&mut Self>, _task: &mut Context<'_>) -> Poll<Option<Data>> {
        if self.failure.is_none() {
            return Poll::Pending;
        }
        let mut bytes = vec![0; PIECE];
        let read = loop {
            match self.snapshot.read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        match read {
            Ok(0) => Poll::Ready(None),
            Ok(length) => {
                bytes.truncate(length);
                Poll::Ready(Some(Data { metadata: None, bytes }))
            }
            Err(error) => {
                // Whoever waits for the call is told instead of the machine.
                if let Some(sender) = self.failure.take() {
                    let _ = sender.send(error);
                }
                Poll::Pending
            }
        }
    }
}

/// In bytes: as much as fits well into the windows of a connection.
const PIECE: usize = 64 << 10;
