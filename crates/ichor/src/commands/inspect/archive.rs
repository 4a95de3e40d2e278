//! Archives that machines send: tar files, packed with gzip.
//!
//! Always holds: nothing is written outside of the target, through a link or over existing files; no more is unpacked
//! than the caller allows, however well it is compressed; every file that exists is complete.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use flate2::read::MultiGzDecoder;
use fs_err::os::unix::fs::{OpenOptionsExt, symlink};
use tar::{Archive, EntryType, PaxExtensions};
use tokio::sync::mpsc;

/// Result of unpacking.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Skipped entries, with the reasons.
    pub(super) left_out: Vec<String>,
}

/// Reasons why an archive cannot be unpacked.
#[derive(Debug)]
pub(super) enum EntryError {
    /// With the archive.
    Archive(String),
    /// With files here.
    Local(io::Error),
    /// It unpacks to more than the caller allows.
    TooLarge,
}

impl From<io::Error> for EntryError {
    fn from(error: io::Error) -> Self {
        Self::Local(error)
    }
}

/// Unpacks an archive of at most so many bytes, when it is unpacked, into a directory that is there.
pub(super) fn unpack(packed: impl Read, target: &Path, most: u64) -> Result<Unpacked, EntryError> {
    let exceeded = Cell::new(false);
    let content = Bounded { content: MultiGzDecoder::new(packed), left: most, exceeded: &exceeded };
    let unpacked = unpack_content(content, target);
    if exceeded.get() { Err(EntryError::TooLarge) } else { unpacked }
}

fn unpack_content(content: impl Read, target: &Path) -> Result<Unpacked, EntryError> {
    let mut unpacked = Unpacked::default();
    let mut links = Vec::new();
    let mut archive = Archive::new(content);
    // As they are: the library would keep a name of any length, and fill holes of any size.
    let mut long = LongNames::default();
    for entry in archive.entries().map_err(unreadable)?.raw(true) {
        let mut entry = entry.map_err(unreadable)?;
        let kind = entry.header().entry_type();
        if long.read(kind, &mut entry)? {
            continue;
        }
        let LongNames { path, link } = std::mem::take(&mut long);
        let path = inside(&path.unwrap_or_else(|| entry.path_bytes().into_owned()))?;
        let mode = entry.header().mode().map_err(unreadable)? & 0o777;
        // The directory itself.
        if path.as_os_str().is_empty() {
            continue;
        }
        match kind {
            EntryType::Directory => {
                let above = make_directories(target, path.parent().unwrap_or(Path::new("")))?;
                let directory = above.join(path.file_name().unwrap_or_default());
                if fs_err::symlink_metadata(&directory).is_err() {
                    // The owner has to get in to unpack what is in it.
                    DirBuilder::new().mode(mode | 0o700).create(&directory)?;
                }
                make_directories(target, &path)?;
            }
            EntryType::Regular | EntryType::Continuous => {
                make_directories(target, path.parent().unwrap_or(Path::new("")))?;
                let size = entry.size();
                unpacked.bytes += write(&mut entry, size, &target.join(&path), mode)?;
                unpacked.files += 1;
            }
            EntryType::Symlink => {
                let link = link.or_else(|| entry.link_name_bytes().map(Cow::into_owned));
                let to = OsString::from_vec(link.unwrap_or_default());
                links.push((path, PathBuf::from(to)));
            }
            _ => unpacked.left_out.push(format!("{} (a special file)", path.display())),
        }
    }
    // The checksum is behind everything else.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(unreadable)?;
    // At the end, so that nothing can be written through them.
    for (path, to) in links {
        if leads_outside(&path, &to) {
            let text = format!("{} -> {} (a link out of the target)", path.display(), to.display());
            unpacked.left_out.push(text);
            continue;
        }
        make_directories(target, path.parent().unwrap_or(Path::new("")))?;
        symlink(to, target.join(&path))?;
        unpacked.files += 1;
    }
    Ok(unpacked)
}

/// The names of the next entry that are too long for its header.
#[derive(Default)]
struct LongNames {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

impl LongNames {
    /// Reads an entry that is about the next one. Returns whether it is such a one.
    fn read(&mut self, kind: EntryType, entry: &mut impl Read) -> Result<bool, EntryError> {
        match kind {
            EntryType::GNULongName => self.path = Some(name(entry)?),
            EntryType::GNULongLink => self.link = Some(name(entry)?),
            EntryType::XHeader => {
                for extension in PaxExtensions::new(&bounded(entry, LONGEST_HEADER)?) {
                    let extension = extension.map_err(unreadable)?;
                    let value = || Some(extension.value_bytes().to_vec());
                    match extension.key_bytes() {
                        b"path" => self.path = value(),
                        b"linkpath" => self.link = value(),
                        _ => {}
                    }
                }
            }
            EntryType::XGlobalHeader => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A name of GNU's tar, which ends with a zero.
fn name(entry: &mut impl Read) -> Result<Vec<u8>, EntryError> {
    let mut name = bounded(entry, LONGEST_NAME)?;
    name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
    Ok(name)
}

fn bounded(entry: &mut impl Read, longest: u64) -> Result<Vec<u8>, EntryError> {
    let mut bytes = Vec::new();
    entry.take(longest + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > longest {
        return Err(EntryError::Archive(format!("a name has more than {longest} bytes")));
    }
    Ok(bytes)
}

/// Content of which no more than a number of bytes can be read.
struct Bounded<'a, R> {
    content: R,
    left: u64,
    /// Set if there was more: readers of archives wrap errors, so the kind of an error is lost.
    exceeded: &'a Cell<bool>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => {
                self.left = left;
                Ok(count)
            }
            None => {
                self.exceeded.set(true);
                Err(io::Error::other("it exceeds the size limit"))
            }
        }
    }
}

/// Bytes that come from another task. They end when it has no more.
pub(super) struct Pieces {
    receiver: mpsc::Receiver<Vec<u8>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Pieces {
    /// The sender waits while this many chunks are unread.
    pub(super) fn new(queued: usize) -> (mpsc::Sender<Vec<u8>>, Self) {
        let (sender, receiver) = mpsc::channel(queued);
        (sender, Self { receiver, piece: io::Cursor::default() })
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.piece.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            match self.receiver.blocking_recv() {
                Some(piece) => self.piece = io::Cursor::new(piece),
                None => return Ok(0),
            }
        }
    }
}

/// The path of an entry, which leads down only.
fn inside(path: &[u8]) -> Result<PathBuf, EntryError> {
    let path = Path::new(OsStr::from_bytes(path));
    let mut inside = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                let text = format!("{} is outside of the requested path", path.display());
                return Err(EntryError::Archive(text));
            }
        }
    }
    Ok(inside)
}

/// Returns whether a link leads out of the target. Its directory is not a link, and no link leads out: so it may go
/// up as far as the target, and then down, also through other links. Going up again could lead anywhere.
fn leads_outside(path: &Path, to: &Path) -> bool {
    let mut above = path.components().count() - 1;
    let mut down = false;
    for component in to.components() {
        match component {
            Component::Normal(_) => down = true,
            Component::CurDir => {}
            Component::ParentDir if !down && above > 0 => above -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

/// Makes the directories that are not there. None of them may be a link.
fn make_directories(target: &Path, path: &Path) -> Result<PathBuf, EntryError> {
    let mut directory = target.to_owned();
    for component in path.components() {
        directory.push(component);
        match fs_err::symlink_metadata(&directory) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                let message = format!("{} is not a directory", directory.display());
                return Err(EntryError::Local(io::Error::other(message)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs_err::create_dir(&directory)?;
            }
            Err(error) => return Err(EntryError::Local(error)),
        }
    }
    Ok(directory)
}

/// Writes a new file of a size, with the permissions that it has on the machine and the umask lets.
fn write(entry: &mut impl Read, size: u64, path: &Path, mode: u32) -> Result<u64, EntryError> {
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    let written = fill(&mut file, entry).and_then(|written| {
        // An archive may be packed well and be no more than the beginning of one.
        if written < size {
            return Err(EntryError::Archive("it ends within a file".to_owned()));
        }
        Ok(written)
    });
    if written.is_err() {
        // Half a file would pass for a whole one. Where it cannot be removed, the error still says that it is not.
        let _ = fs_err::remove_file(path);
    }
    written
}

fn fill(file: &mut fs_err::File, entry: &mut impl Read) -> Result<u64, EntryError> {
    let mut buffer = vec![0; 1 << 16];
    let mut written = 0;
    loop {
        let count = entry.read(&mut buffer).map_err(unreadable)?;
        if count == 0 {
            break;
        }
        file.write_all(&buffer[..count])?;
        written += count as u64;
    }
    Ok(written)
}

/// As long as Linux takes a path, with its zero.
const LONGEST_NAME: u64 = 4096;
/// Two such names, and all else that a header may say.
const LONGEST_HEADER: u64 = 64 << 10;

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn unreadable(error: io::Error) -> EntryError {
    EntryError::Archive(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    #[test]
    fn files_directories_and_links_are_unpacked() {
        let directory = tempfile::tempdir().unwrap();
        let packed = pack(&[
            ("sub/", "", EntryType::Directory),
            ("sub/file", "content", EntryType::Regular),
            ("sub/link", "file", EntryType::Symlink),
            ("up", "sub/link", EntryType::Symlink),
        ]);
        let unpacked = unpack(packed.as_slice(), directory.path(), MOST).unwrap();
        assert_eq!((unpacked.files, unpacked.bytes, unpacked.left_out.len()), (3, 7, 0));
        let up = directory.path().join("up");
        assert_eq!(fs_err::read_to_string(&up).unwrap(), "content");
        assert_eq!(fs_err::metadata(up).unwrap().permissions().mode() & 0o777, 0o640);
        let again = unpack(packed.as_slice(), directory.path(), MOST).unwrap_err();
        assert!(matches!(again, EntryError::Local(_)), "{again:?}");

        let elsewhere = tempfile::tempdir().unwrap();
        let cut = unpack(&packed[..packed.len() - 1], elsewhere.path(), MOST).unwrap_err();
        assert!(matches!(cut, EntryError::Archive(_)), "{cut:?}");
    }

    #[test]
    fn nothing_leaves_the_target() {
        let around = tempfile::tempdir().unwrap();
        let target = around.path().join("target");
        for name in ["../escaped", "sub/../../escaped", "/escaped"] {
            fs_err::create_dir_all(&target).unwrap();
            let error = unpack(pack(&[(name, "", EntryType::Regular)]).as_slice(), &target, MOST);
            assert!(matches!(error, Err(EntryError::Archive(_))), "{name}: {error:?}");
        }
        for (name, to) in [
            ("link", "/etc"),
            ("link", ".."),
            ("sub/link", "../.."),
            ("sub/link", "../a/../../b"),
            ("link", "a/.."),
        ] {
            let packed = pack(&[
                (name, to, EntryType::Symlink),
                (&format!("{name}/file"), "through", EntryType::Regular),
                ("device", "", EntryType::Char),
                ("hard", "file", EntryType::Link),
            ]);
            let _ = fs_err::remove_dir_all(&target);
            fs_err::create_dir_all(&target).unwrap();
            let unpacked = unpack(packed.as_slice(), &target, MOST).unwrap();
            assert_eq!(unpacked.left_out.len(), 3, "{:?}", unpacked.left_out);
            assert!(target.join(name).join("file").is_file());
        }
        let _ = fs_err::remove_dir_all(&target);
        fs_err::create_dir_all(&target).unwrap();
        symlink(around.path(), target.join("sub")).unwrap();
        let packed = pack(&[("sub/escaped", "", EntryType::Regular)]);
        assert!(unpack(packed.as_slice(), &target, MOST).is_err());
        assert!(!around.path().join("escaped").exists());
    }

    #[test]
    fn a_link_may_go_where_it_stays_inside() {
        for (path, to, outside) in [
            ("a", "b", false),
            ("a/b", "../c", false),
            ("a/b", "./../c/d", false),
            ("a/b", "../../c", true),
            ("a/b", "c/../d", true),
            ("a", "/", true),
        ] {
            assert_eq!(leads_outside(Path::new(path), Path::new(to)), outside, "{path} {to}");
        }
    }

    #[test]
    fn archive_that_unpacks_to_more_than_is_taken_leaves_whole_files_only() {
        let (whole, large) = ("x".repeat(1000), "x".repeat(1 << 20));
        let packed =
            pack(&[("whole", &whole, EntryType::Regular), ("large", &large, EntryType::Regular)]);
        assert!(packed.len() < 16 << 10, "{} bytes are no bomb", packed.len());
        // A head and the content in blocks for each file, two blocks at the end.
        let size = (512 + 1024) + (512 + (1 << 20)) + 1024;
        let names = |directory: &Path| {
            let entries = fs_err::read_dir(directory).expect("a directory");
            let mut names: Vec<String> = entries
                .map(|entry| entry.expect("an entry").file_name().display().to_string())
                .collect();
            names.sort();
            names
        };
        for most in [512, 1 << 16, size - 1] {
            let directory = tempfile::tempdir().expect("a directory");
            let unpacked = unpack(packed.as_slice(), directory.path(), most);
            let error = unpacked.expect_err("more than is taken");
            assert!(matches!(error, EntryError::TooLarge), "{most}: {error:?}");
            let expected: &[&str] = match most {
                512 => &[],
                65536 => &["whole"],
                _ => &["large", "whole"],
            };
            assert_eq!(names(directory.path()), expected, "{most}");
        }
        let directory = tempfile::tempdir().expect("a directory");
        let unpacked = unpack(packed.as_slice(), directory.path(), size).expect("all of it");
        assert_eq!((unpacked.files, unpacked.bytes), (2, 1000 + (1 << 20)));

        // An archive that ends within a file, torn when it was packed or before.
        let mut content = Vec::new();
        MultiGzDecoder::new(packed.as_slice()).read_to_end(&mut content).expect("content");
        let torn = gzip(&content[..4096]);
        for cut in [&packed[..packed.len() / 2], torn.as_slice()] {
            let directory = tempfile::tempdir().expect("a directory");
            let unpacked = unpack(cut, directory.path(), size);
            let error = unpacked.expect_err("a part of an archive");
            assert!(matches!(error, EntryError::Archive(_)), "{error:?}");
            assert!(!directory.path().join("large").exists());
        }
    }

    #[test]
    fn archive_with_long_names_is_unpacked_and_an_endless_name_is_refused() {
        let long = format!("{}/file", "d".repeat(200));
        let mut builder = tar::Builder::new(Vec::new());
        for (path, link) in [(&long, None), (&"link".to_owned(), Some(&long))] {
            let mut header = tar::Header::new_gnu();
            header.set_mode(0o600);
            header.set_size(0);
            match link {
                Some(link) => {
                    header.set_entry_type(EntryType::Symlink);
                    builder.append_link(&mut header, path, link).unwrap();
                }
                None => builder.append_data(&mut header, path, io::empty()).unwrap(),
            }
        }
        let pax = [("path", "p".repeat(150))];
        builder
            .append_pax_extensions(pax.iter().map(|(key, value)| (*key, value.as_bytes())))
            .unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_path("short").unwrap();
        header.set_mode(0o600);
        header.set_size(0);
        header.set_cksum();
        builder.append(&header, io::empty()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let packed = gzip(&builder.into_inner().unwrap());
        unpack(packed.as_slice(), directory.path(), MOST).unwrap();
        for path in [long, "link".to_owned(), "p".repeat(150)] {
            assert!(directory.path().join(&path).is_file(), "{path}");
        }

        for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader] {
            let endless = "x".repeat(1 << 19);
            let packed = pack(&[("long", &endless, kind), ("file", "", EntryType::Regular)]);
            let error = unpack(packed.as_slice(), directory.path(), MOST).unwrap_err();
            let refused = matches!(&error, EntryError::Archive(text) if text.contains("more than"));
            assert!(refused, "{kind:?}: {error:?}");
        }
    }

    #[test]
    fn archive_with_a_sparse_file_is_not_filled_with_its_holes() {
        let packed = pack(&[("holes", "", EntryType::GNUSparse)]);
        let directory = tempfile::tempdir().unwrap();
        let unpacked = unpack(packed.as_slice(), directory.path(), MOST).unwrap();
        assert_eq!((unpacked.files, unpacked.left_out.len()), (0, 1));
    }

    #[test]
    fn archive_follows_the_umask() {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, kind) in [("sub/", EntryType::Directory), ("file", EntryType::Regular)] {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_mode(0o777);
            header.set_size(0);
            builder.append_data(&mut header, name, io::empty()).unwrap();
        }
        let directory = tempfile::tempdir().unwrap();
        let packed = gzip(&builder.into_inner().unwrap());
        unpack(packed.as_slice(), directory.path(), MOST).unwrap();
        let plain = directory.path().join("plain");
        DirBuilder::new().mode(0o777).create(&plain).unwrap();
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        for name in ["sub", "file"] {
            assert_eq!(mode(&directory.path().join(name)), mode(&plain), "{name}");
        }
    }

    const MOST: u64 = 1 << 20;

    /// A tar file in gzip.
    fn pack(entries: &[(&str, &str, EntryType)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, content, kind) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_mode(0o640);
            // As they are: the library refuses to write such names itself.
            let gnu = header.as_gnu_mut().unwrap();
            gnu.name[..name.len()].copy_from_slice(name.as_bytes());
            if matches!(kind, EntryType::Symlink | EntryType::Link) {
                gnu.linkname[..content.len()].copy_from_slice(content.as_bytes());
                header.set_size(0);
                header.set_cksum();
                builder.append(&header, io::empty()).unwrap();
            } else {
                header.set_size(content.len() as u64);
                header.set_cksum();
                builder.append(&header, content.as_bytes()).unwrap();
            }
        }
        gzip(&builder.into_inner().unwrap())
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(content).expect("content");
        packed.finish().expect("all of it")
    }
}
