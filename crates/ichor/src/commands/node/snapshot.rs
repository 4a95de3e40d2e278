//! Snapshots of etcd: looked at before they are sent, and sent.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sha2::{Digest, Sha256};
use talos_api::{Node, UploadError};
use tokio::time::interval;

use super::error::NodeActionError;
use crate::printer::Printer;
use crate::{Error, audit};

/// A validated snapshot file.
#[derive(Debug)]
pub(super) struct Snapshot {
    path: PathBuf,
    length: u64,
    /// Of the whole file, for the audit log.
    pub(super) digest: String,
}

impl Snapshot {
    /// Reads all of it. A machine takes a damaged one without a word and then cannot start etcd, nor take another.
    ///
    /// A snapshot is a database followed by the digest of it; a copy of a database file has no digest.
    pub(super) fn open(path: &Path, has_digest: bool) -> Result<Self, Error> {
        let mut file = fs_err::File::open(path).map_err(Error::Input)?;
        let length = file.metadata().map_err(Error::Input)?.len();
        let refuse = |problem| {
            let file = path.display().to_string();
            Err(Error::from(NodeActionError::Snapshot { file, problem }))
        };
        let database = if has_digest { length.saturating_sub(DIGEST) } else { length };
        if database == 0 || database % PAGE != 0 {
            return refuse(if has_digest && length % PAGE == 0 && length > 0 {
                "a database without a digest, not a snapshot"
            } else {
                "not a snapshot of etcd, or incomplete"
            });
        }
        let mut hash = Sha256::new();
        let mut whole = Sha256::new();
        let mut piece = vec![0; PIECE];
        let mut left = database;
        let mut first = true;
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            file.read_exact(&mut piece[..wanted]).map_err(Error::Input)?;
            if std::mem::take(&mut first) && piece[16..20] != MAGIC {
                return refuse("not a database of etcd");
            }
            hash.update(&piece[..wanted]);
            whole.update(&piece[..wanted]);
            left -= wanted as u64;
        }
        if has_digest {
            let mut said = [0; 32];
            file.read_exact(&mut said).map_err(Error::Input)?;
            whole.update(said);
            if hash.finalize()[..] != said {
                return refuse("corrupt: its digest does not match");
            }
        }
        let digest = audit::digest(&whole.finalize());
        Ok(Self { path: path.to_owned(), length, digest })
    }

    /// Uploads the snapshot to a machine.
    pub(super) async fn send(&self, node: &Node, printer: &mut Printer) -> Result<(), Error> {
        let file = fs_err::File::open(&self.path).map_err(Error::Input)?;
        let sent = Arc::new(AtomicU64::new(0));
        let counted = Counted { file, count: Arc::clone(&sent) };
        let node = node.with_deadline(node.deadline().max(UPLOADED_WITHIN));
        let mut upload = std::pin::pin!(node.upload_snapshot(counted));
        let mut ticks = interval(SHOWN_EVERY);
        loop {
            tokio::select! {
                biased;
                outcome = &mut upload => return match outcome {
                    Ok(()) => {
                        printer.note(&format!("{}: received the snapshot", node.name()));
                        Ok(())
                    }
                    Err(UploadError::Read(error)) => Err(Error::Input(error)),
                    Err(UploadError::Node(error)) => Err(error.into()),
                },
                _ = ticks.tick() => {
                    let percent = sent.load(Ordering::Relaxed) * 100 / self.length.max(1);
                    printer.progress(&format!("{}: {percent} % of the snapshot sent", node.name()));
                }
            }
        }
    }
}

/// A file, and how much of it was read.
struct Counted {
    file: fs_err::File,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let length = self.file.read(bytes)?;
        self.count.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// In bytes: SHA-256.
const DIGEST: u64 = 32;
/// Databases are made of pages, of which this is the smallest.
const PAGE: u64 = 512;
/// Magic number in the first page of a bbolt database: 0xED0CDAED.
const MAGIC: [u8; 4] = [0xed, 0xda, 0x0c, 0xed];
/// In bytes; a multiple of a page.
const PIECE: usize = 1 << 20;
/// The largest database that etcd recommends, 8 GB, over a slow line.
const UPLOADED_WITHIN: Duration = Duration::from_hours(2);
const SHOWN_EVERY: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use talos_config::Coded;

    use super::*;

    #[test]
    fn a_snapshot_is_a_database_and_its_digest() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("snapshot");
        let mut database = vec![7; 3 * 512];
        database[16..20].copy_from_slice(&MAGIC);
        let mut whole = database.clone();
        whole.extend(Sha256::digest(&database));

        let problem = |bytes: &[u8], has_digest| {
            fs_err::write(&path, bytes).unwrap();
            Snapshot::open(&path, has_digest).err().map(|error| error.code())
        };
        assert_eq!(problem(&whole, true), None);
        assert_eq!(problem(&database, false), None);
        for (bytes, has_digest) in [
            (&whole[..], false),
            (&database[..], true),
            (&whole[..whole.len() - 1], true),
            (&whole[512..], true),
            (&[][..], true),
            (&[][..], false),
        ] {
            assert_eq!(problem(bytes, has_digest), Some("etcd.snapshot"), "{}", bytes.len());
        }
        for place in [0, 600, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            assert_eq!(problem(&damaged, true), Some("etcd.snapshot"), "{place}");
        }
    }
}
