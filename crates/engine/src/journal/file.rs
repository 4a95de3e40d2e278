//! The journal as a file: a line for each record, with its checksum in front.
//!
//! Always holds: a record that `append` has returned for is on the disk; a line that was being written when the process or
//! the machine died is not there for readers, and is cut off before the next one is written; any other change is noticed.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use fs_err::os::unix::fs::OpenOptionsExt;
use plan::{Approved, Digest, Draft, Moment, Plan};
use sha2::{Digest as _, Sha256};

use super::{Entry, Journal, JournalError, Record};
use crate::whole;

/// A journal in a cluster's directory.
#[derive(Debug)]
pub struct FileJournal {
    directory: PathBuf,
    now: fn() -> Moment,
    /// Held while an engine of ours is at work. The system lets go of it when the process ends, however it ends.
    slot: Mutex<Option<fs_err::File>>,
}

impl FileJournal {
    /// The journal in a directory, which is made when something is written.
    pub fn new(directory: &Path, now: fn() -> Moment) -> Self {
        Self { directory: directory.to_owned(), now, slot: Mutex::new(None) }
    }

    /// Where plans are kept.
    pub fn plan_path(&self, plan: Digest) -> PathBuf {
        self.directory.join("plans").join(format!("{plan}.json"))
    }

    /// A plan that was kept, to be looked at.
    pub fn kept(&self, plan: Digest) -> Option<Plan<Draft>> {
        Plan::decode(&fs_err::read_to_string(self.plan_path(plan)).ok()?).ok()
    }

    /// Whether an engine is at work now.
    pub fn is_taken(&self) -> bool {
        let slot = fs_err::File::open(self.directory.join(SLOT));
        slot.is_ok_and(|slot| {
            matches!(slot.file().try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
        })
    }

    fn slot(&self) -> MutexGuard<'_, Option<fs_err::File>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn lock_slot(&self) -> Result<fs_err::File, JournalError> {
        let file = self.open(SLOT)?;
        for _ in 0..TRIES {
            match file.file().try_lock() {
                Ok(()) => return Ok(file),
                // Somebody may be looking only.
                Err(std::fs::TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
                Err(std::fs::TryLockError::Error(error)) => return Err(error.into()),
            }
        }
        let holder = self.load()?.into_iter().rev().find_map(|record| {
            let Entry::Taken { holder, .. } = record.entry else { return None };
            Some(holder)
        });
        Err(JournalError::Busy(holder.unwrap_or_default()))
    }

    fn open(&self, name: &str) -> std::io::Result<fs_err::File> {
        fs_err::create_dir_all(&self.directory)?;
        // What is in here is of no use elsewhere, whatever the directory above keeps in Git.
        let ignored = self.directory.join(".gitignore");
        if !ignored.exists() {
            fs_err::write(ignored, "*\n")?;
        }
        let path = self.directory.join(name);
        fs_err::OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(path)
    }

    fn load(&self) -> Result<Vec<Record>, JournalError> {
        match fs_err::read(self.directory.join(FILE)) {
            Ok(bytes) => parse(&bytes).map(|(records, _)| records),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn add(&self, entry: Entry) -> Result<(), JournalError> {
        let mut file = self.open(FILE)?;
        // One writer at a time; readers see whole lines in any case.
        file.file().lock()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (records, end) = parse(&bytes)?;
        let mut text = String::new();
        if end == 0 {
            text.push_str(&line(FORMAT));
        }
        let number = records.last().map_or(0, |record| record.number) + 1;
        let record = Record { number, at: (self.now)(), entry };
        text.push_str(&line(&serde_json::to_string(&record).map_err(std::io::Error::from)?));
        file.seek(SeekFrom::Start(end as u64))?;
        file.set_len(end as u64)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(())
    }
}

#[async_trait]
impl Journal for FileJournal {
    async fn read(&self) -> Result<Vec<Record>, JournalError> {
        self.load()
    }

    async fn append(&self, entry: Entry) -> Result<(), JournalError> {
        self.add(entry)
    }

    async fn take(&self, plan: Digest, holder: &str) -> Result<(), JournalError> {
        let ours = self.slot().is_some();
        if !ours {
            let file = self.lock_slot().await?;
            *self.slot() = Some(file);
        }
        self.add(Entry::Taken { plan, holder: holder.to_owned() })
    }

    async fn keep_plan(&self, plan: &Plan<Approved>) -> Result<(), JournalError> {
        let path = self.plan_path(plan.hash());
        if let Some(directory) = path.parent() {
            fs_err::create_dir_all(directory)?;
        }
        whole::write(&path, &plan.encode())?;
        self.add(Entry::Approved(plan.approval().clone()))
    }
}

/// The records, and where the next one belongs: behind the last line that is whole.
fn parse(bytes: &[u8]) -> Result<(Vec<Record>, usize), JournalError> {
    let mut records: Vec<Record> = Vec::new();
    let mut end = 0;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let last = end + line.len() == bytes.len();
        let Some(text) = checked(line) else {
            // Only the end can be torn; everything before it was written whole once.
            if last {
                break;
            }
            return Err(JournalError::Damaged(index + 1));
        };
        if index == 0 {
            if text != FORMAT {
                return Err(JournalError::Format(text.to_owned()));
            }
        } else {
            let record: Record =
                serde_json::from_str(text).map_err(|_| JournalError::Damaged(index + 1))?;
            if record.number != records.len() as u64 + 1 {
                return Err(JournalError::Damaged(index + 1));
            }
            records.push(record);
        }
        end += line.len();
    }
    Ok((records, end))
}

/// What a line says, if it is whole.
fn checked(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = text.split_once(' ')?;
    (sum == checksum(text)).then_some(text)
}

fn line(text: &str) -> String {
    format!("{} {text}\n", checksum(text))
}

fn checksum(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest[..8].iter().fold(String::new(), |sum, byte| format!("{sum}{byte:02x}"))
}

const FILE: &str = "journal";
const SLOT: &str = "slot";
/// A look takes microseconds.
const TRIES: usize = 3;
const PAUSE: Duration = Duration::from_millis(20);
const FORMAT: &str = "ichor-journal/v1";

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(directory: &Path) -> FileJournal {
        FileJournal::new(directory, || Moment(7))
    }

    fn entry(number: u8) -> Entry {
        Entry::Cancelled { plan: format!("{number:064}").parse().unwrap() }
    }

    #[test]
    fn what_was_appended_is_read_again_wherever_the_file_was_torn() {
        let directory = tempfile::tempdir().unwrap();
        let writer = journal(directory.path());
        for number in 0..3 {
            writer.add(entry(number)).unwrap();
        }
        let whole = fs_err::read(directory.path().join(FILE)).unwrap();
        let lines: Vec<usize> =
            (0..whole.len()).filter(|at| whole[*at] == b'\n').map(|at| at + 1).collect();
        for cut in 0..=whole.len() {
            fs_err::write(directory.path().join(FILE), &whole[..cut]).unwrap();
            let left = lines.iter().filter(|end| **end <= cut).count().saturating_sub(1);
            assert_eq!(writer.load().unwrap().len(), left, "cut at {cut}");
            writer.add(entry(9)).unwrap();
            let records = writer.load().unwrap();
            assert_eq!(records.len(), left + 1, "cut at {cut}");
            assert_eq!(records[left].entry, entry(9));
        }
    }

    #[test]
    fn a_change_in_the_middle_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let writer = journal(directory.path());
        for number in 0..3 {
            writer.add(entry(number)).unwrap();
        }
        let whole = fs_err::read(directory.path().join(FILE)).unwrap();
        let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
        for at in (0..last_line).step_by(7) {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs_err::write(directory.path().join(FILE), &changed).unwrap();
            assert!(writer.load().is_err(), "byte {at}");
            assert!(writer.add(entry(9)).is_err(), "byte {at}");
        }
    }

    #[test]
    fn only_one_engine_at_a_time_has_the_slot() {
        let directory = tempfile::tempdir().unwrap();
        let plan: Digest = "0".repeat(64).parse().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let first = journal(directory.path());
            first.take(plan, "first").await.unwrap();
            let second = journal(directory.path());
            let busy = second.take(plan, "second").await.unwrap_err();
            assert!(matches!(busy, JournalError::Busy(who) if who == "first"));
            assert!(second.is_taken());
            drop(first);
            assert!(!second.is_taken());
            second.take(plan, "second").await.unwrap();
        });
    }
}
