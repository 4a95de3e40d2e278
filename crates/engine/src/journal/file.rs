//! The journal as files: a line for each record, with its checksum in front.
//!
//! `journal` is the one that is written to. When it is long, it goes on as `journal.1`, `journal.2` and so on, and a
//! new one begins with a [`Checkpoint`]: what all records before amount to, and the digest of the file that they end
//! in.
//!
//! Always holds: whole lines are what was written, or `journal.damaged` names the first that is not; only what a
//! crash left behind the last line break is dropped ([`LineFile`]). Opening and appending cost the same however long
//! the journal is. Readers and crashes find the journal before or after it was continued in a new file, and all of
//! it.

use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use domain::{Digest, Timestamp};
use fs_err::os::unix::fs::OpenOptionsExt;
use plan::{Approved, Draft, Plan};
use serde::{Deserialize, Serialize};
use tracing::info;

use super::{Entry, FORMAT, Journal, JournalError, Ledger, Record, Slot, SlotGuard};
use crate::line_file::{LineFile, LockedLines};
use crate::ports::{Clock, Entropy};
use crate::{atomic_file, bounded_file};

/// A journal in a cluster's directory.
pub struct FileJournal {
    directory: PathBuf,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    /// The bytes of records after which the next file begins.
    longest: u64,
    state: Arc<Mutex<State>>,
}

/// The state of reading so far.
#[derive(Default)]
struct State {
    lines: Option<LineFile>,
    read: Reading,
}

/// The content of one file.
#[derive(Default)]
struct Reading {
    /// The number of lines, the head included.
    count: usize,
    /// The length of the head.
    head: u64,
    /// The checkpoint that the file goes on from.
    before: Option<Checkpoint>,
    ledger: Ledger,
}

/// The head of a file that goes on from another one.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Checkpoint {
    /// The number of that file.
    file: u64,
    digest: Digest,
    /// The number of records up to its end.
    records: u64,
    /// The ledger of these records.
    ledger: Ledger,
}

impl FileJournal {
    /// Returns the journal in a directory, which is made when something is written.
    pub fn new(directory: &Path, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        let (directory, state) = (directory.to_owned(), Arc::default());
        Self { directory, clock, entropy, longest: LONGEST, state }
    }

    /// Checks that every file is there and what was written, and returns how many records there are.
    pub async fn verify(&self) -> Result<usize, JournalError> {
        let records = self.blocking(|_, directory| {
            read_all(directory, |file| {
                Err(JournalError::Damaged(format!("{} is missing", file.display())))
            })
        });
        Ok(records.await?.len())
    }

    /// Returns the file that a plan is kept in.
    pub fn plan_path(&self, plan: Digest) -> PathBuf {
        self.directory.join("plans").join(format!("{plan}.json"))
    }

    /// Returns whether an engine is at work now.
    pub fn is_taken(&self) -> bool {
        let slot = bounded_file::open(&self.directory.join(Slot::Plan.file()));
        slot.is_ok_and(|slot| {
            matches!(slot.file().try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
        })
    }

    /// Does file work on a thread of its own: a lock or a slow disk must not stop the task that renews the lease.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut State, &Path) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (state, directory) = (Arc::clone(&self.state), self.directory.clone());
        let run = move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = work(&mut state, &directory);
            // What was read up to the damage must not pass for the whole the next time.
            if outcome.is_err() {
                *state = State::default();
            }
            outcome
        };
        match tokio::task::spawn_blocking(run).await {
            Ok(outcome) => outcome,
            Err(error) => Err(std::io::Error::other(error).into()),
        }
    }
}

#[async_trait]
impl Journal for FileJournal {
    async fn read(&self) -> Result<Vec<Record>, JournalError> {
        // Old files may be moved away: what is left is what there is to tell.
        self.blocking(|_, directory| read_all(directory, |_| Ok(()))).await
    }

    async fn ledger(&self) -> Result<Ledger, JournalError> {
        self.blocking(|state, directory| {
            state.catch_up(directory)?;
            Ok(state.read.ledger.clone())
        })
        .await
    }

    async fn append(&self, entry: Entry) -> Result<(), JournalError> {
        let (at, longest) = (self.clock.now(), self.longest);
        self.blocking(move |state, directory| {
            make(directory)?;
            while !state.append(directory, longest, at, &entry)? {
                // Another process has put another file in its place.
                *state = State::default();
            }
            Ok(())
        })
        .await
    }

    async fn acquire(&self, slot: Slot) -> Result<SlotGuard, JournalError> {
        make(&self.directory)?;
        let path = self.directory.join(slot.file());
        let mut engine = [0; 8];
        self.entropy.fill(&mut engine);
        for _ in 0..SLOT_TRIES {
            // Opened anew each time, so that two engines of one process exclude each other as well.
            let mut file = fs_err::OpenOptions::new()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .mode(0o600)
                .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK)
                .open(&path)?;
            bounded_file::check(&file, &path)?;
            match file.file().try_lock() {
                Ok(()) => {
                    // A copy of the directory is another file, and so another engine.
                    let place = place_of(&file.metadata()?).short();
                    let id = format!("{}-{place}", engine_id(&mut file, engine)?);
                    info!(slot = slot.file(), engine = id, "journal slot acquired");
                    return Ok(SlotGuard::new(id, file));
                }
                // A process that only looks holds the lock for microseconds.
                Err(std::fs::TryLockError::WouldBlock) => self.clock.sleep(SLOT_PAUSE).await,
                Err(std::fs::TryLockError::Error(error)) => return Err(error.into()),
            }
        }
        Err(JournalError::Busy(self.ledger().await?.holder))
    }

    async fn store_plan(&self, plan: &Plan<Approved>) -> Result<(), JournalError> {
        let (path, text) = (self.plan_path(plan.hash()), plan.encode());
        self.blocking(move |_, directory| {
            make(directory)?;
            atomic_file::create_directory(&directory.join("plans"))?;
            Ok(atomic_file::write(&path, &text)?)
        })
        .await
    }

    async fn stored_plan(&self, hash: Digest) -> Option<Plan<Draft>> {
        let path = self.plan_path(hash);
        self.blocking(move |_, _| {
            let plan = Plan::decode(&bounded_file::read_to_string(&path)?).ok();
            Ok(plan.filter(|plan| plan.hash() == hash))
        })
        .await
        .ok()
        .flatten()
    }
}

impl State {
    /// Reads what was appended since the last time.
    fn catch_up(&mut self, directory: &Path) -> Result<(), JournalError> {
        if self.lines.as_ref().is_some_and(|lines| !lines.is_current()) {
            *self = Self::default();
        }
        let file = directory.join(FILE);
        if self.lines.is_none() {
            self.lines = LineFile::open(&file)?;
        }
        let Self { lines: Some(lines), read } = self else { return Ok(()) };
        let new = lines.read_new()?;
        read.parse(&file, &new, |_| ())?;
        if read.count == 0 {
            check_torn_format(&file, &lines.torn()?)?;
        }
        Ok(())
    }

    /// Appends an entry, unless the file is not the current one any more.
    fn append(
        &mut self,
        directory: &Path,
        longest: u64,
        at: Timestamp,
        entry: &Entry,
    ) -> Result<bool, JournalError> {
        self.catch_up(directory)?;
        let Self { lines, read } = self;
        let file = directory.join(FILE);
        let lines = match lines {
            Some(lines) => lines,
            none => none.insert(LineFile::create(&file)?),
        };
        lines.make_writable()?;
        let mut locked = lines.lock()?;
        let new = locked.read_new()?;
        read.parse(&file, &new, |_| ())?;
        if locked.read_to() - read.head >= longest && locked.is_current() {
            // Where that cannot be done, as on a disk without links, the journal goes on in the same file.
            let _ = read.begin_next_file(&mut locked, directory);
        }
        if !locked.is_current() {
            return Ok(false);
        }
        let mut text = String::new();
        if read.count == 0 {
            check_torn_format(&file, &locked.torn()?)?;
            text.push_str(&line(FORMAT));
        }
        let record = Record { number: read.records() + 1, at, entry: entry.clone() };
        text.push_str(&line(&serde_json::to_string(&record).map_err(std::io::Error::from)?));
        locked.append(&text)?;
        read.parse(&file, text.as_bytes(), |_| ())?;
        Ok(true)
    }
}

impl Reading {
    /// Reads whole lines of a file, behind those that were read before.
    fn parse(
        &mut self,
        file: &Path,
        bytes: &[u8],
        mut each: impl FnMut(Record),
    ) -> Result<(), JournalError> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.count == 0 {
                self.before = head(file, line)?;
                self.head = line.len() as u64;
                if let Some(checkpoint) = &self.before {
                    self.ledger = checkpoint.ledger.clone();
                }
            } else {
                let damaged = || {
                    let line = self.count + 1;
                    JournalError::Damaged(format!("line {line} of {}", file.display()))
                };
                let text = checked(line).ok_or_else(damaged)?;
                let record: Record = serde_json::from_str(text).map_err(|_| damaged())?;
                if record.number != self.records() + 1 {
                    return Err(damaged());
                }
                self.ledger.fold(record.at, &record.entry);
                each(record);
            }
            self.count += 1;
        }
        Ok(())
    }

    /// Returns the number of records, those of earlier files included.
    fn records(&self) -> u64 {
        let before = self.before.as_ref().map_or(0, |checkpoint| checkpoint.records);
        before + self.count.saturating_sub(1) as u64
    }

    /// Puts a new file in the place of one that was read to its end, which keeps its records under a name of its own.
    fn begin_next_file(
        &self,
        locked: &mut LockedLines<'_>,
        directory: &Path,
    ) -> Result<(), JournalError> {
        let text = bounded_file::read_to_string(&directory.join(FILE))?;
        let whole = usize::try_from(locked.read_to()).unwrap_or(usize::MAX);
        let mut checkpoint = Checkpoint {
            file: self.before.as_ref().map_or(0, |checkpoint| checkpoint.file),
            digest: Digest::of(text.get(..whole).unwrap_or(&text)),
            records: self.records(),
            ledger: self.ledger.clone(),
        };
        loop {
            checkpoint.file += 1;
            let head = serde_json::to_string(&checkpoint).map_err(std::io::Error::from)?;
            let kept_as = directory.join(name(checkpoint.file));
            match locked.replace(&kept_as, &line(&format!("{FORMAT} {head}"))) {
                // Left by a journal that was deleted.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                replaced => return Ok(replaced?),
            }
        }
    }
}

/// Returns all records, from those files that are there; what else there should be is told to `missing`.
fn read_all(
    directory: &Path,
    missing: impl Fn(&Path) -> Result<(), JournalError>,
) -> Result<Vec<Record>, JournalError> {
    let newest = directory.join(FILE);
    let Some(mut lines) = LineFile::open(&newest)? else { return Ok(Vec::new()) };
    let bytes = lines.read_new()?;
    if bytes.is_empty() {
        check_torn_format(&newest, &lines.torn()?)?;
    }
    let (mut records, mut before) = read_file(&newest, &bytes)?;
    while let Some(checkpoint) = before {
        let file = directory.join(name(checkpoint.file));
        let Some(mut lines) = LineFile::open(&file)? else {
            missing(&file)?;
            break;
        };
        let bytes = lines.read_new()?;
        if std::str::from_utf8(&bytes).map(Digest::of) != Ok(checkpoint.digest) {
            return Err(JournalError::Damaged(format!("{} was changed", file.display())));
        }
        let (mut earlier, earliest) = read_file(&file, &bytes)?;
        earlier.append(&mut records);
        (records, before) = (earlier, earliest);
    }
    Ok(records)
}

fn read_file(file: &Path, bytes: &[u8]) -> Result<(Vec<Record>, Option<Checkpoint>), JournalError> {
    let (mut read, mut records) = (Reading::default(), Vec::new());
    read.parse(file, bytes, |record| records.push(record))?;
    Ok((records, read.before))
}

impl Slot {
    fn file(self) -> &'static str {
        match self {
            Self::Plan => "slot",
            Self::Backup => "backup-slot",
        }
    }
}

/// Tells a slot's file from copies of it: in another directory, on another disk, on another host.
fn place_of(file: &std::fs::Metadata) -> Digest {
    let host = fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Digest::of(&format!("{} {} {}", file.dev(), file.ino(), host.trim()))
}

/// Returns the identity in a slot's file, which is made with the file and stays for as long as that does.
fn engine_id(file: &mut fs_err::File, fresh: [u8; 8]) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.take(ID as u64 + 1).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    if text.len() == ID && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text);
    }
    let id = talos_config::hex(&fresh);
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(id.as_bytes())?;
    file.sync_all()?;
    Ok(id)
}

/// The hexadecimal digits of an identity.
const ID: usize = 16;

/// Makes the directory, and keeps it out of Git, whether or not the directory above does.
fn make(directory: &Path) -> std::io::Result<()> {
    atomic_file::create_directory(directory)?;
    let ignored = directory.join(".gitignore");
    // A full disk may have left an empty one, and a link may lead anywhere or nowhere.
    let complete =
        fs_err::symlink_metadata(&ignored).is_ok_and(|file| !file.is_symlink() && file.len() > 0);
    if complete { Ok(()) } else { atomic_file::write(&ignored, "*\n") }
}

/// Reads the first line of a file: its format, and the checkpoint that it goes on from.
fn head(file: &Path, line: &[u8]) -> Result<Option<Checkpoint>, JournalError> {
    let text = checked(line).ok_or_else(|| format_error(file, line))?;
    match text.strip_prefix(FORMAT).map(|rest| rest.strip_prefix(' ').ok_or(rest)) {
        Some(Err("")) => Ok(None),
        Some(Ok(checkpoint)) => {
            let checkpoint = serde_json::from_str(checkpoint);
            Ok(Some(checkpoint.map_err(|_| format_error(file, text.as_bytes()))?))
        }
        Some(Err(_)) | None => Err(format_error(file, text.as_bytes())),
    }
}

/// Returns an error that shows the beginning of what there is.
fn format_error(file: &Path, found: &[u8]) -> JournalError {
    let found = String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned();
    JournalError::Format { file: file.to_owned(), found }
}

/// Checks a file without a whole line: it is a journal only if it is the beginning of one.
fn check_torn_format(file: &Path, torn: &[u8]) -> Result<(), JournalError> {
    if line(FORMAT).as_bytes().starts_with(torn) { Ok(()) } else { Err(format_error(file, torn)) }
}

/// Returns the text of a line, if it is what was written.
fn checked(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = text.split_once(' ')?;
    (sum == checksum(text)).then_some(text)
}

fn line(text: &str) -> String {
    format!("{} {text}\n", checksum(text))
}

fn checksum(text: &str) -> String {
    Digest::of(text).to_string()[..16].to_owned()
}

/// Returns a file that the journal has gone on from.
fn name(number: u64) -> String {
    format!("{FILE}.{number}")
}

const FILE: &str = "journal";
/// Some thousand records: few enough to be read in milliseconds whenever a command starts.
const LONGEST: u64 = 1 << 20;
/// A look takes microseconds.
const SLOT_TRIES: usize = 3;
const SLOT_PAUSE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    struct Fixed;

    #[async_trait]
    impl Clock for Fixed {
        fn now(&self) -> Timestamp {
            Timestamp(7)
        }

        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }

        async fn sleep(&self, duration: Duration) {
            tokio::time::sleep(duration).await;
        }
    }

    struct Counter(AtomicU64);

    impl Entropy for Counter {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(u8::try_from(self.0.fetch_add(1, Relaxed) % 256).unwrap());
        }
    }

    fn journal(directory: &Path) -> FileJournal {
        FileJournal::new(directory, Arc::new(Fixed), Arc::new(Counter(AtomicU64::new(1))))
    }

    /// Returns one that begins a new file with every few records.
    fn short(directory: &Path) -> FileJournal {
        FileJournal { longest: 400, ..journal(directory) }
    }

    /// Returns the names of the files of a journal, in the order of their records.
    fn files(directory: &Path) -> Vec<String> {
        let current = std::iter::once(FILE.to_owned());
        let earlier = (1..).map(name).take_while(|name| directory.join(name).exists());
        earlier.chain(current).collect()
    }

    fn entry(number: u8) -> Entry {
        Entry::PlanCancelled { plan: format!("{number:064}").parse().unwrap() }
    }

    /// Returns the identity of the engine that has the slot of a directory for a moment.
    async fn engine(directory: &Path) -> String {
        journal(directory).acquire(Slot::Plan).await.expect("a slot").engine
    }

    async fn written(directory: &Path, count: u8) -> Vec<u8> {
        let writer = journal(directory);
        for number in 0..count {
            writer.append(entry(number)).await.unwrap();
        }
        fs_err::read(directory.join(FILE)).unwrap()
    }

    #[tokio::test]
    async fn journal_torn_at_any_byte_keeps_its_whole_lines() {
        let directory = tempfile::tempdir().unwrap();
        let whole = written(directory.path(), 3).await;
        let ends: Vec<usize> =
            (0..whole.len()).filter(|at| whole[*at] == b'\n').map(|at| at + 1).collect();
        for cut in 0..=whole.len() {
            fs_err::write(directory.path().join(FILE), &whole[..cut]).unwrap();
            let left = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
            let next = journal(directory.path());
            assert_eq!(next.read().await.unwrap().len(), left, "cut at {cut}");
            next.append(entry(9)).await.unwrap();
            let records = journal(directory.path()).read().await.unwrap();
            assert_eq!(records.len(), left + 1, "cut at {cut}");
            assert_eq!(records[left].entry, entry(9));
            assert!(records.iter().zip(1..).all(|(record, number)| record.number == number));
        }
    }

    #[tokio::test]
    async fn journal_changed_at_any_byte_of_any_line_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let whole = written(directory.path(), 3).await;
        // The last line break is the one byte without which a line counts as torn.
        for at in 0..whole.len() - 1 {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs_err::write(directory.path().join(FILE), &changed).unwrap();
            let next = journal(directory.path());
            let refused = next.read().await.unwrap_err();
            assert!(
                matches!(refused, JournalError::Damaged(_) | JournalError::Format { .. }),
                "byte {at}: {refused}"
            );
            assert!(next.append(entry(9)).await.is_err(), "byte {at}");
            assert_eq!(fs_err::read(directory.path().join(FILE)).unwrap(), changed, "byte {at}");
        }
    }

    #[tokio::test]
    async fn journal_with_a_line_missing_or_twice_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let whole = String::from_utf8(written(directory.path(), 3).await).unwrap();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        for order in [vec![0, 2, 3], vec![0, 1, 1, 2, 3], vec![0, 2, 1, 3]] {
            let text: String = order.iter().map(|at| lines[*at]).collect();
            fs_err::write(directory.path().join(FILE), text).unwrap();
            let refused = journal(directory.path()).ledger().await.unwrap_err();
            assert!(matches!(refused, JournalError::Damaged(_)), "{order:?}: {refused}");
        }
    }

    #[tokio::test]
    async fn journal_of_another_format_is_refused_by_name_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        for format in ["ichor-journal/v1", "ichor-journal/v3"] {
            let text = line(format);
            fs_err::write(directory.path().join(FILE), &text).unwrap();
            let next = journal(directory.path());
            for refused in [
                next.read().await.unwrap_err(),
                next.ledger().await.unwrap_err(),
                next.append(entry(1)).await.unwrap_err(),
            ] {
                assert!(
                    matches!(&refused, JournalError::Format { found, .. } if found == format),
                    "{refused}"
                );
                let file = directory.path().join(FILE);
                assert!(refused.to_string().starts_with(&file.display().to_string()), "{refused}");
            }
            assert_eq!(fs_err::read_to_string(directory.path().join(FILE)).unwrap(), text);
        }
    }

    #[tokio::test]
    async fn file_that_is_not_a_journal_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        for text in ["my diary", "my diary\n", "\u{fc}\n"] {
            fs_err::write(directory.path().join(FILE), text).unwrap();
            let next = journal(directory.path());
            assert!(next.append(entry(1)).await.is_err(), "{text:?}");
            assert!(next.ledger().await.is_err(), "{text:?}");
            assert_eq!(fs_err::read_to_string(directory.path().join(FILE)).unwrap(), text);
        }
    }

    #[tokio::test]
    async fn journal_and_slot_behind_a_symbolic_link_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        fs_err::write(&target, "").unwrap();
        fs_err::os::unix::fs::symlink(&target, directory.path().join(FILE)).unwrap();
        fs_err::os::unix::fs::symlink(&target, directory.path().join(Slot::Plan.file())).unwrap();
        let next = journal(directory.path());
        assert!(next.append(entry(1)).await.is_err());
        assert!(next.read().await.is_err());
        assert!(next.acquire(Slot::Plan).await.is_err());
        assert_eq!(fs_err::read_to_string(&target).unwrap(), "");
    }

    #[tokio::test]
    async fn slot_is_exclusive_also_within_one_process() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (journal(directory.path()), journal(directory.path()));
        let plan = "0".repeat(64).parse().unwrap();
        let started = Entry::PlanStarted {
            plan,
            goal: plan::Goal::Spec,
            holder: "first".to_owned(),
            fencing: None,
        };
        let slot = first.acquire(Slot::Plan).await.unwrap();
        first.append(started).await.unwrap();
        let busy = second.acquire(Slot::Plan).await.err().unwrap();
        assert!(matches!(busy, JournalError::Busy(holder) if holder == "first"));
        assert!(first.acquire(Slot::Plan).await.is_err(), "nor twice by the same");
        assert!(second.is_taken());
        let backup = second.acquire(Slot::Backup).await.unwrap();
        let engine = slot.engine.clone();
        drop(slot);
        assert!(!second.is_taken());
        let next = second.acquire(Slot::Plan).await.unwrap();
        assert_eq!(next.engine, engine, "a successor is known by the same identity");
        drop((next, backup));
    }

    #[tokio::test]
    async fn copy_of_a_directory_is_another_engine() {
        let parent = tempfile::tempdir().expect("a directory");
        let (original, copy) = (parent.path().join("original"), parent.path().join("copy"));
        let before = engine(&original).await;
        journal(&original).append(entry(1)).await.expect("a record");
        fs_err::create_dir(&copy).expect("a directory");
        for file in fs_err::read_dir(&original).expect("files") {
            let file = file.expect("a file");
            fs_err::copy(file.path(), copy.join(file.file_name())).expect("a copy");
        }
        let slot = Slot::Plan.file();
        let text = |directory: &Path| fs_err::read(directory.join(slot)).expect("an identity");
        assert_eq!(text(&original), text(&copy), "all of it was copied");
        let copied = engine(&copy).await;
        assert_ne!(copied, before);
        // Both stay what they are.
        assert_eq!(engine(&original).await, before);
        assert_eq!(engine(&copy).await, copied);
    }

    #[tokio::test]
    async fn directory_that_was_deleted_and_made_again_is_another_engine() {
        let parent = tempfile::tempdir().expect("a directory");
        let directory = parent.path().join("state");
        // The same journal, whose entropy goes on: the new file may get the inode of the old one.
        let journal = journal(&directory);
        let before = journal.acquire(Slot::Plan).await.expect("a slot").engine;
        fs_err::remove_dir_all(&directory).expect("a directory that is gone");
        let after = journal.acquire(Slot::Plan).await.expect("a slot").engine;
        assert_ne!(after, before);
    }

    #[tokio::test]
    async fn gitignore_that_is_empty_is_written_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let ignored = directory.path().join(".gitignore");
        let read = || fs_err::read_to_string(&ignored).expect("a file");
        fs_err::write(&ignored, "").expect("a file");
        journal(directory.path()).append(entry(1)).await.expect("a record");
        assert_eq!(read(), "*\n");
        // One with text in it is left to the person who wrote it.
        fs_err::write(&ignored, "journal\n").expect("a file");
        journal(directory.path()).append(entry(2)).await.expect("a record");
        assert_eq!(read(), "journal\n");
    }

    #[tokio::test]
    async fn gitignore_that_is_a_link_is_replaced_and_what_it_leads_to_is_left_alone() {
        let parent = tempfile::tempdir().expect("a directory");
        let (directory, target) = (parent.path().join("state"), parent.path().join("target"));
        let ignored = directory.join(".gitignore");
        fs_err::create_dir(&directory).expect("a directory");
        for text in [None, Some(""), Some("text\n")] {
            if let Some(text) = text {
                fs_err::write(&target, text).expect("a file");
            }
            let _ = fs_err::remove_file(&ignored);
            fs_err::os::unix::fs::symlink(&target, &ignored).expect("a link");
            journal(&directory).append(entry(1)).await.expect("a record");
            let kind = fs_err::symlink_metadata(&ignored).expect("a file").file_type();
            assert!(kind.is_file(), "{text:?}: {kind:?}");
            assert_eq!(fs_err::read_to_string(&ignored).expect("a file"), "*\n", "{text:?}");
            let left = fs_err::read_to_string(&target).ok();
            assert_eq!(left.as_deref(), text);
        }
    }

    #[tokio::test]
    async fn journals_that_append_side_by_side_number_without_gaps() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (journal(directory.path()), journal(directory.path()));
        let each = |journal: FileJournal, from: u8| async move {
            for number in from..from + 50 {
                journal.append(entry(number)).await.unwrap();
            }
            journal
        };
        let (one, two) = tokio::join!(each(first, 0), each(second, 50));
        let records = journal(directory.path()).read().await.unwrap();
        let numbers: Vec<u64> = records.iter().map(|record| record.number).collect();
        assert_eq!(numbers, (1..=100).collect::<Vec<u64>>());
        let mut plans: Vec<&Entry> = records.iter().map(|record| &record.entry).collect();
        plans.sort_by_key(|entry| serde_json::to_string(entry).unwrap());
        plans.dedup();
        assert_eq!(plans.len(), 100);
        assert_eq!(one.ledger().await.unwrap(), two.ledger().await.unwrap());
    }

    #[tokio::test]
    async fn journal_whose_directory_was_deleted_begins_again() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("state");
        let writer = journal(&directory);
        let plan = "0".repeat(64).parse().unwrap();
        writer.append(Entry::CancelRequested { plan }).await.unwrap();
        assert_eq!(writer.ledger().await.unwrap().cancelled, Some(plan));
        fs_err::remove_dir_all(&directory).unwrap();
        assert_eq!(writer.ledger().await.unwrap(), Ledger::default());
        writer.append(entry(2)).await.unwrap();
        let records = journal(&directory).read().await.unwrap();
        assert_eq!(records.len(), 1);
        assert_eq!((records[0].number, &records[0].entry), (1, &entry(2)));
    }

    #[tokio::test]
    async fn journal_that_is_long_goes_on_in_another_file() {
        let directory = tempfile::tempdir().unwrap();
        let (writer, whole) = (short(directory.path()), journal(&directory.path().join("whole")));
        let machine: domain::MachineName = "cp-1".parse().unwrap();
        for number in 0..20 {
            let configuring = Entry::MachineConfiguring { machine: machine.clone() };
            for entry in [entry(number), configuring] {
                writer.append(entry.clone()).await.unwrap();
                whole.append(entry).await.unwrap();
            }
        }
        assert!(files(directory.path()).len() > 5, "{:?}", files(directory.path()));
        for reader in [&writer, &journal(directory.path())] {
            assert_eq!(reader.read().await.unwrap(), whole.read().await.unwrap());
            assert_eq!(reader.ledger().await.unwrap(), whole.ledger().await.unwrap());
            assert_eq!(reader.verify().await.unwrap(), 40);
        }
        let longest = files(directory.path())
            .into_iter()
            .map(|name| fs_err::metadata(directory.path().join(name)).unwrap().len());
        assert!(longest.max().unwrap() < 1_200);
    }

    #[tokio::test]
    async fn journal_in_many_files_torn_at_any_byte_keeps_its_whole_lines() {
        let directory = tempfile::tempdir().unwrap();
        let writer = short(directory.path());
        let mut count = 0;
        // Until there is a record behind the head of a third file.
        while files(directory.path()).len() < 3 {
            writer.append(entry(count)).await.unwrap();
            count += 1;
        }
        let path = directory.path().join(FILE);
        let whole = fs_err::read(&path).unwrap();
        // The head is put in place at once, with its line break.
        let head = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for cut in head..=whole.len() {
            fs_err::write(&path, &whole[..cut]).unwrap();
            let left = usize::from(count) - usize::from(cut < whole.len());
            let next = short(directory.path());
            assert_eq!(next.read().await.unwrap().len(), left, "cut at {cut}");
            next.append(entry(99)).await.unwrap();
            assert_eq!(journal(directory.path()).verify().await.unwrap(), left + 1, "cut at {cut}");
        }
    }

    #[tokio::test]
    async fn journal_killed_while_it_begins_another_file_loses_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        let unlimited = written(directory.path(), 4).await;
        // The file has its second name, and there is no other one in its place yet; a torn line is behind it.
        fs_err::hard_link(&path, directory.path().join(name(1))).unwrap();
        fs_err::write(&path, [&unlimited, b"torn".as_slice()].concat()).unwrap();
        fs_err::write(directory.path().join(".ichor-left"), "half").unwrap();
        assert_eq!(journal(directory.path()).verify().await.unwrap(), 4);
        short(directory.path()).append(entry(4)).await.unwrap();
        assert_eq!(files(directory.path()), [name(1), FILE.to_owned()]);
        assert_eq!(fs_err::read(directory.path().join(name(1))).unwrap(), unlimited);
        assert_eq!(journal(directory.path()).verify().await.unwrap(), 5);
    }

    #[tokio::test]
    async fn file_of_an_earlier_journal_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        fs_err::write(directory.path().join(name(1)), "another journal").unwrap();
        let writer = short(directory.path());
        for number in 0..20 {
            writer.append(entry(number)).await.unwrap();
        }
        assert!(files(directory.path()).len() > 3);
        assert_eq!(writer.verify().await.unwrap(), 20);
        let left = fs_err::read_to_string(directory.path().join(name(1))).unwrap();
        assert_eq!(left, "another journal");
    }

    #[tokio::test]
    async fn journal_of_which_an_earlier_file_was_changed_or_lost_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let writer = short(directory.path());
        for number in 0..20 {
            writer.append(entry(number)).await.unwrap();
        }
        let ledger = writer.ledger().await.unwrap();
        let path = directory.path().join(name(2));
        let whole = fs_err::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs_err::write(&path, &changed).unwrap();
            let refused = journal(directory.path()).read().await.unwrap_err();
            assert!(refused.to_string().contains("journal.2 was changed"), "byte {at}: {refused}");
        }
        fs_err::remove_file(&path).unwrap();
        let next = journal(directory.path());
        let refused = next.verify().await.unwrap_err();
        assert!(refused.to_string().contains("journal.2 is missing"), "{refused}");
        // What is there is told, and what everything amounts to is known without it.
        let records = next.read().await.unwrap();
        assert!(records[0].number > 5 && records.last().unwrap().number == 20);
        assert_eq!(next.ledger().await.unwrap(), ledger);
    }

    #[tokio::test]
    async fn reader_and_writers_beside_a_journal_that_begins_other_files_see_all_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let write = |writer: FileJournal, from: u8| async move {
            for number in from..from + 60 {
                writer.append(entry(number)).await.unwrap();
            }
        };
        let read = async {
            let (reader, mut seen) = (journal(directory.path()), 0);
            while seen < 120 {
                let records = reader.read().await.unwrap();
                assert!(records.len() >= seen, "{} after {seen}", records.len());
                assert!(records.iter().zip(1..).all(|(record, number)| record.number == number));
                seen = records.len();
                reader.ledger().await.unwrap();
            }
        };
        let (one, two) = (short(directory.path()), short(directory.path()));
        tokio::join!(write(one, 0), write(two, 60), read);
        assert_eq!(journal(directory.path()).verify().await.unwrap(), 120);
        assert!(files(directory.path()).len() > 10);
    }

    #[tokio::test]
    async fn journal_that_was_shortened_is_refused_and_then_read_anew() {
        let directory = tempfile::tempdir().unwrap();
        let whole = written(directory.path(), 3).await;
        let writer = journal(directory.path());
        writer.ledger().await.unwrap();
        let path = directory.path().join(FILE);
        let shortened =
            &whole[..=whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').unwrap()];
        fs_err::write(&path, shortened).unwrap();
        let refused = writer.append(entry(9)).await.unwrap_err();
        assert!(
            matches!(&refused, JournalError::Io(error) if error.to_string().contains("shortened"))
        );
        assert_eq!(fs_err::read(&path).unwrap(), shortened);
        assert_eq!(writer.read().await.unwrap().len(), 2);
    }
}
