//! `ichor etcd snapshot`: etcd's data in a file.
//!
//! Always holds: an existing file is complete; an incomplete one is removed.

use std::io::Write as _;

use sha2::{Digest, Sha256};
use talos_api::proto::machine::EtcdSnapshotRequest;
use talos_api::{Bounds, CallError, Node, NodeError};
use talos_config::hex;

use crate::args::inspect::etcd::EtcdSnapshotArgs;
use crate::commands::inspect::Download;
use crate::files::PendingFile;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(in crate::commands::inspect) async fn run(
    args: &EtcdSnapshotArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let node = nodes.single("etcd snapshot")?;
    let mut file = PendingFile::create(&args.path, args.force)?;
    let snapshot =
        |node: Node| async move { node.machine().etcd_snapshot(EtcdSnapshotRequest {}).await };
    let bounds = Bounds { bytes: args.max_size, total: args.timeout };
    let stream = node.open(snapshot).await?.bounded(bounds);
    let mut download = Download { stream, printer, received: 0 };
    let mut digest_so_far = SnapshotDigest::default();
    while let Some(bytes) = download.next().await? {
        file.write_all(&bytes)?;
        digest_so_far.add(&bytes);
    }
    let size = download.received;
    let digest = digest_so_far.check(size).map_err(|problem| {
        let reason = CallError::Unreadable(format!("the snapshot {problem}"));
        NodeError { node: node.name().to_owned(), reason }
    })?;
    file.commit()?;
    printer.note(&format!("wrote {} ({size} bytes, sha256 {digest})", args.path.display()));
    Ok(ExitStatus::Done)
}

/// The digest at the end of a snapshot: SHA-256 of everything before it.
#[derive(Default)]
struct SnapshotDigest {
    hash: Sha256,
    /// The last bytes, which are the digest if nothing follows.
    tail: Vec<u8>,
}

impl SnapshotDigest {
    fn add(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        let content = self.tail.len().saturating_sub(DIGEST);
        self.hash.update(&self.tail[..content]);
        self.tail.drain(..content);
    }

    /// The digest in hexadecimal, if it is right.
    fn check(self, size: u64) -> Result<String, &'static str> {
        // The data are pages of a multiple of 512 bytes.
        if size % 512 != DIGEST as u64 {
            return Err("is incomplete: it has no digest");
        }
        let digest = self.hash.finalize();
        if digest.as_slice() != self.tail {
            return Err("is corrupt: its digest does not match");
        }
        Ok(hex(&digest))
    }
}

/// In bytes: SHA-256.
const DIGEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_checked_however_the_bytes_come() {
        let content = vec![7; 1024];
        let sealed = [content.clone(), Sha256::digest(&content).to_vec()].concat();
        for size in [1, 31, 33, 1000, 2000] {
            assert!(check(&sealed, size).is_ok(), "{size}");
        }
        let mut damaged = sealed.clone();
        damaged[5] = 8;
        assert!(check(&damaged, 100).is_err());
        assert!(check(&sealed[..sealed.len() - 1], 100).is_err());
        assert!(check(&sealed[..544], 100).is_err());
        assert!(check(&[], 100).is_err());
    }

    fn check(bytes: &[u8], size: usize) -> Result<String, &'static str> {
        let mut digest_so_far = SnapshotDigest::default();
        bytes.chunks(size).for_each(|chunk| digest_so_far.add(chunk));
        digest_so_far.check(bytes.len() as u64)
    }
}
