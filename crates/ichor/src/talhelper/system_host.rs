//! The world of a talconfig: files of this machine, keys, and the image factory.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use talconfig::{Environment, FileError, Host, ReleaseCatalog};
use talos_config::Confidential;
use talos_config::yaml::Limits;

use crate::factory::ImageFactoryClient;
use crate::printer::Printer;
use crate::settings::ClusterLocation;
use crate::sops_files::{self, SopsKeys};
use crate::{clock, release_catalog, settings};

/// Files of this machine.
pub(crate) struct SystemHost {
    /// Whether debug lines are recorded.
    debug: bool,
    /// Lines to print, in order.
    lines: RefCell<Vec<String>>,
    /// Files that were encrypted.
    opened: RefCell<Vec<String>>,
    /// Their values.
    encrypted: RefCell<Confidential>,
    /// From the environment of the process, before an env file adds to it.
    keys: SopsKeys,
    factories: ImageFactoryClient,
    versions: Cow<'static, ReleaseCatalog>,
}

impl SystemHost {
    /// `environment` is that of the process: no env file has been read yet.
    pub(crate) fn new(debug: bool, environment: &Environment) -> Self {
        let variable = |name: &str| environment.get(name).map(OsString::from);
        Self {
            debug,
            lines: RefCell::default(),
            opened: RefCell::default(),
            encrypted: RefCell::default(),
            keys: SopsKeys::resolve(variable),
            factories: ImageFactoryClient { trusted: settings::trusted(variable) },
            versions: release_catalog::load(settings::cache(variable).as_deref()),
        }
    }

    /// The host of a cluster's directory, with its keys.
    pub(crate) fn of_directory(location: &ClusterLocation) -> Self {
        Self { keys: location.keys.clone(), ..Self::new(false, &location.environment()) }
    }

    /// The files that were encrypted.
    pub(crate) fn opened(&self) -> Vec<String> {
        self.opened.borrow().clone()
    }

    /// Redacts the values of encrypted files in a text.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.encrypted.borrow().redact(text).into_owned()
    }

    /// Prints the lines recorded since the last call.
    pub(super) fn tell(&self, printer: &mut Printer) {
        self.lines().iter().for_each(|line| printer.note(&self.redact(line)));
    }

    /// Takes the lines recorded since the last call.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.take()
    }
}

impl Host for SystemHost {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        // What a shell passes is not a regular file.
        let file = if path.starts_with("/dev/fd/") {
            fs_err::File::open(path)
        } else {
            engine::bounded_file::open(Path::new(path))
        };
        let file = file.map_err(|error| file_error("open", path, &error))?;
        let mut bytes = Vec::new();
        // The caller rejects anything longer.
        let limit = Limits::default().bytes as u64 + 1;
        file.take(limit)
            .read_to_end(&mut bytes)
            .map_err(|error| file_error("read", path, &error))?;
        Ok(bytes)
    }

    fn stat(&self, path: &str) -> Result<(), FileError> {
        fs_err::metadata(path).map(drop).map_err(|error| file_error("stat", path, &error))
    }

    fn is_open(&self, path: &str) -> bool {
        fs_err::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    }

    fn absolute(&self, path: &str) -> String {
        let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
        let mut clean = PathBuf::new();
        for component in path.components() {
            match component {
                Component::ParentDir => {
                    clean.pop();
                }
                Component::CurDir => {}
                other => clean.push(other),
            }
        }
        clean.to_string_lossy().into_owned()
    }

    fn identities(&self, environment: &Environment) -> sops::Identities {
        self.keys.with_key(environment.get("SOPS_AGE_KEY")).identities()
    }

    fn decrypt_externally(
        &self,
        text: &str,
        kind: &str,
        _environment: &Environment,
    ) -> Option<Result<String, String>> {
        let opened = sops_files::decrypt_with_program(text, kind)?;
        Some(opened.map_err(|error| error.to_string()))
    }

    fn decrypted_file(&self, file: &str, values: &Confidential) {
        self.opened.borrow_mut().push(file.to_owned());
        self.encrypted.borrow_mut().extend(values);
    }

    fn register(&self, url: &str, schematic: &str) -> Result<String, String> {
        self.factories.register(url, schematic)
    }

    fn release_catalog(&self) -> &ReleaseCatalog {
        &self.versions
    }

    fn lookup(&self, name: &str) -> Option<IpAddr> {
        let (sender, found) = mpsc::channel();
        let name = name.to_owned();
        // The system resolver has no deadline of its own, so its thread is abandoned.
        std::thread::spawn(move || {
            let addresses = (name.as_str(), 0).to_socket_addrs();
            let first = addresses.ok().and_then(|mut addresses| addresses.next());
            // The receiver is gone after the deadline.
            let _ = sender.send(first.map(|address| address.ip()));
        });
        found.recv_timeout(LOOKUP).ok().flatten()
    }

    fn now(&self) -> i64 {
        clock::now()
    }

    fn debug(&self, line: &dyn Fn() -> String) {
        if self.debug {
            self.lines.borrow_mut().push(format!("{} DEBUG {}", time_stamp(), line()));
        }
    }

    fn warn(&self, line: &str) {
        self.lines.borrow_mut().push(format!("warning: {line}"));
    }
}

/// An error in the words that Go has for it.
pub(super) fn file_error(attempt: &'static str, path: &str, error: &std::io::Error) -> FileError {
    let code = error.raw_os_error().or_else(|| {
        // The library in between puts the path in front, and keeps the error of the system inside.
        let inner = error.get_ref().and_then(|inner| inner.source());
        inner.and_then(|inner| inner.downcast_ref::<std::io::Error>()?.raw_os_error())
    });
    let reason = match (error.kind(), code) {
        (ErrorKind::NotFound, _) => "no such file or directory".to_owned(),
        (ErrorKind::PermissionDenied, _) => "permission denied".to_owned(),
        (ErrorKind::IsADirectory, _) => "is a directory".to_owned(),
        (ErrorKind::NotADirectory, _) => "not a directory".to_owned(),
        (_, Some(code)) => std::io::Error::from_raw_os_error(code).to_string(),
        (kind, None) => kind.to_string(),
    };
    let missing = error.kind() == ErrorKind::NotFound;
    FileError { attempt, path: path.to_owned(), reason, missing }
}

/// The time as it stands before every line of a log, in UTC.
pub(super) fn time_stamp() -> String {
    let seconds = u64::try_from(clock::now()).unwrap_or_default();
    let timestamp = sops::Timestamp::from_unix(seconds);
    timestamp.as_str().trim_end_matches('Z').replace('-', "/").replace('T', " ")
}

/// Returns the folder of a file that only its owner may read.
pub(super) fn folder(path: &str) -> &Path {
    Path::new(path)
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A name that has no address by then is taken for one that has none.
const LOOKUP: Duration = Duration::from_secs(5);
