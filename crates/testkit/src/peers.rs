//! The real programs that tests run against: how each is pinned and built, and where it is.
//!
//! A pin is a folder `peers/<folder>` with a Go module that requires exactly one release. Its programs
//! are built by `cargo xtask peers` into a cache whose key covers everything that shapes the result, so
//! that a program found there is the program that was meant.

mod pins;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use pins::PINS;
pub use pins::{NODES_KUBERNETES, NODES_TALOS};

/// One Go module that pins one release of somebody's programs.
#[derive(Debug)]
pub struct Pin {
    /// The folder below `peers/`.
    pub folder: &'static str,
    /// Release stamps that the makers of the program set when they link it.
    pub stamps: &'static [(&'static str, &'static str)],
    /// What must change in the sources before they build, where the pinned module does not as it is.
    pub patch: Option<Patch>,
    /// Go's build tags.
    pub tags: &'static [&'static str],
    /// A library in C that it is linked with, statically.
    pub library: Option<Library>,
    /// What is built from it.
    pub programs: &'static [Program],
}

/// One program of a pin.
#[derive(Debug)]
pub struct Program {
    /// The name tests ask for; with the release where several are in use.
    pub name: &'static str,
    /// The main package.
    pub package: &'static str,
    /// How it tells its version; none where it has no version of its own, or must not run outside of a node.
    pub version: Option<Version>,
}

/// How a program tells its version.
#[derive(Debug)]
pub struct Version {
    /// What it is asked with.
    pub arguments: &'static [&'static str],
    /// What it then says.
    pub says: &'static str,
}

/// A library of the operating system.
#[derive(Debug)]
pub struct Library {
    /// What the linker calls it.
    pub name: &'static str,
    /// The Debian package with its header and its archive.
    pub package: &'static str,
}

/// A module whose sources are copied and changed before the build.
#[derive(Debug)]
pub struct Patch {
    /// The module to change.
    pub module: &'static str,
    /// Files to leave out.
    pub remove: &'static [&'static str],
    /// Files of the pin folder to put in, and where.
    pub add: &'static [(&'static str, &'static str)],
    /// Text to change: the file, what stands there once, and what is to stand there.
    pub edit: &'static [(&'static str, &'static str, &'static str)],
}

/// Why a program cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing by that name is pinned.
    #[error("no peer is called {0:?}; `cargo xtask peers --list` names them")]
    Unknown(String),
    /// It has not been built yet.
    #[error("{0} is not built; run `cargo xtask peers {0}`")]
    NotBuilt(&'static str),
    /// `ICHOR_PEERS_DIR` is set, and it is not in there.
    #[error("{0} is not in ICHOR_PEERS_DIR ({1})")]
    NotProvided(&'static str, PathBuf),
    /// There is no Go to build with.
    #[error("Go is missing: install Go {GO_WANTED} or later, so that `go version` works")]
    NoGo,
    /// Go refused.
    #[error("`go {command}` failed in peers/{folder}:\n{stderr}")]
    Go {
        /// Its arguments.
        command: String,
        /// The pin.
        folder: &'static str,
        /// What it said.
        stderr: String,
    },
    /// It runs, and is not the release that is pinned.
    #[error("{name} does not say {wanted:?} but: {said}")]
    OtherRelease {
        /// The program.
        name: &'static str,
        /// What the pinned release says.
        wanted: &'static str,
        /// What it said.
        said: String,
    },
    /// A file of a pin cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The release of Go that the pins were made with.
pub const GO_WANTED: &str = "1.26.8";

/// The path of a program that a test needs.
///
/// # Panics
/// When it is not there, saying how to get it. A test that needs a peer belongs to a level that
/// `cargo xtask test` builds the peer for.
pub fn program(name: &str) -> PathBuf {
    find(name)
        .and_then(|(pin, program)| pin.locate(program))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The directory of a Go module that a pin requires, for reading its test data where it lies.
///
/// # Panics
/// When Go cannot tell, with what it said.
pub fn module(folder: &str, module: &str) -> PathBuf {
    let pin = PINS.iter().find(|pin| pin.folder == folder).expect("a folder below peers/");
    pin.module(module).unwrap_or_else(|error| panic!("{error}"))
}

/// All programs with their pins.
pub fn all() -> impl Iterator<Item = (&'static Pin, &'static Program)> {
    PINS.iter().flat_map(|pin| pin.programs.iter().map(move |program| (pin, program)))
}

/// One program by its name.
pub fn find(name: &str) -> Result<(&'static Pin, &'static Program), Error> {
    all().find(|(_, program)| program.name == name).ok_or_else(|| Error::Unknown(name.to_owned()))
}

impl Pin {
    /// Where a program is: provided by the user, or built by us.
    pub fn locate(&self, program: &'static Program) -> Result<PathBuf, Error> {
        if let Some(directory) = std::env::var_os("ICHOR_PEERS_DIR").map(PathBuf::from) {
            let path = directory.join(program.name);
            return if path.exists() {
                Ok(path)
            } else {
                Err(Error::NotProvided(program.name, directory))
            };
        }
        if let Some(path) = std::env::var_os("KUBEBUILDER_ASSETS")
            .map(|directory| Path::new(&directory).join(program.name))
            .filter(|path| path.exists())
        {
            return Ok(path);
        }
        let path = self.cached(program)?;
        if path.exists() { Ok(path) } else { Err(Error::NotBuilt(program.name)) }
    }

    /// Where a program that we build is kept.
    pub fn cached(&self, program: &Program) -> Result<PathBuf, Error> {
        Ok(cache().join("peers").join(self.key(program)?).join(program.name))
    }

    /// Go, ready to run in this pin's folder.
    pub fn go(&self) -> Command {
        let mut command = Command::new("go");
        command
            .current_dir(self.path())
            .env("CGO_ENABLED", if self.library.is_some() { "1" } else { "0" })
            .env("GOFLAGS", "-mod=readonly")
            .env("GOWORK", "off");
        command
    }

    /// The folder of this pin.
    pub fn path(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers").join(self.folder)
    }

    /// The linker's arguments: no debugging symbols, nothing to load when it starts, and the stamps.
    pub fn linker_flags(&self) -> String {
        let flags = match self.library {
            Some(_) => "-s -w -linkmode external -extldflags -static",
            None => "-s -w",
        };
        self.stamps
            .iter()
            .fold(flags.to_owned(), |flags, (name, value)| format!("{flags} -X {name}={value}"))
    }

    /// The directory of a module that this pin requires, fetched when it is not there.
    ///
    /// # Panics
    /// When Go answers something else than it documents.
    pub fn module(&self, module: &str) -> Result<PathBuf, Error> {
        let stdout = self.run_go(&["mod", "download", "-json", module])?;
        let answer: serde_json::Value =
            serde_json::from_str(&stdout).expect("JSON as Go documents");
        Ok(answer["Dir"].as_str().expect("a directory as Go documents").into())
    }

    fn run_go(&self, arguments: &[&str]) -> Result<String, Error> {
        run(self.go().args(arguments), self.folder)
    }

    /// Covers the pin, the recipe and the compiler: a change of any of them is another program.
    fn key(&self, program: &Program) -> Result<String, Error> {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(go_version()?.as_bytes());
        part(program.package.as_bytes());
        part(self.linker_flags().as_bytes());
        part(format!("{:?}", self.patch).as_bytes());
        // Only where there are any: programs that were built before there were these are still good.
        if !self.tags.is_empty() {
            part(self.tags.join(",").as_bytes());
        }
        if let Some(library) = &self.library {
            part(format!("{library:?}").as_bytes());
        }
        let mut files: Vec<_> = fs_err::read_dir(self.path())?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        files.sort();
        for file in files {
            part(file.file_name().unwrap_or_default().as_encoded_bytes());
            part(&fs_err::read(&file)?);
        }
        // 64 bits: enough to tell a few hundred builds apart, short enough to read.
        let short =
            hash.finalize().iter().take(8).fold(0, |short, byte| short << 8 | u64::from(*byte));
        Ok(format!("{short:016x}"))
    }
}

impl Program {
    /// The file name that Go gives to what it builds of the package.
    pub fn executable(&self) -> &'static str {
        let is_version = |element: &&str| {
            element.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
        };
        // A package that is the pin's folder itself has the name of the program.
        let mut elements = self.package.rsplit('/').filter(|element| *element != ".");
        elements.find(|element| !is_version(element)).unwrap_or(self.name)
    }

    /// Asks a built program for its version, and compares with what the pinned release says.
    pub fn check_release(&self, path: &Path) -> Result<(), Error> {
        let Some(version) = &self.version else { return Ok(()) };
        let output = Command::new(path).args(version.arguments).output()?;
        let said =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if output.status.success() && said.contains(version.says) {
            return Ok(());
        }
        let said = format!("{} ({})", said.trim(), output.status);
        Err(Error::OtherRelease { name: self.name, wanted: version.says, said })
    }
}

/// Runs Go for a pin and gives its stdout.
pub fn run(go: &mut Command, folder: &'static str) -> Result<String, Error> {
    let output = go.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::NoGo,
        _ => Error::Io(error),
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let command =
        go.get_args().map(|argument| argument.to_string_lossy()).collect::<Vec<_>>().join(" ");
    Err(Error::Go { command, folder, stderr: String::from_utf8_lossy(&output.stderr).into_owned() })
}

/// The version of the Go compiler, asked once.
pub fn go_version() -> Result<&'static str, Error> {
    static VERSION: OnceLock<Option<String>> = OnceLock::new();
    VERSION
        .get_or_init(|| {
            let output = Command::new("go").args(["env", "GOVERSION"]).output().ok()?;
            output
                .status
                .success()
                .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        })
        .as_deref()
        .ok_or(Error::NoGo)
}

/// Where results of long builds are kept.
pub fn cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
        PathBuf::from,
    );
    base.join("ichor")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_executable_is_called_as_go_calls_it() {
        let executable = |name| find(name).expect("a program").1.executable();
        assert_eq!(executable("etcd"), "server");
        assert_eq!(executable("talhelper"), "talhelper");
        assert_eq!(executable("talosctl-1.13.9"), "talosctl");
        assert_eq!(executable("node-image"), "node-image");
        assert_eq!(executable("containerd-shim-runc-v2"), "containerd-shim-runc-v2");
    }

    #[test]
    fn a_name_is_one_program_and_a_folder_is_one_pin() {
        let names: BTreeSet<_> = all().map(|(_, program)| program.name).collect();
        assert_eq!(names.len(), all().count());
        let folders: BTreeSet<_> = PINS.iter().map(|pin| pin.folder).collect();
        assert_eq!(folders.len(), PINS.len());
    }
}
