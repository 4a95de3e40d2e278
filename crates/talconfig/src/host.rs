//! The environment of a talconfig, as one trait.

use std::net::IpAddr;

use sops::Identities;
use talos_config::Confidential;

use crate::door::environment::Environment;
use crate::door::release_catalog::ReleaseCatalog;

/// Files, keys, network and output of the calling program.
pub trait Host {
    /// Reads a file. A path that is not absolute begins in the working directory.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError>;

    /// Checks that a file or a directory exists.
    fn stat(&self, path: &str) -> Result<(), FileError>;

    /// Returns true if others than the owner may read a file.
    fn is_open(&self, _path: &str) -> bool {
        false
    }

    /// Returns the absolute path, without `.` and `..`, without access to the file system.
    fn absolute(&self, path: &str) -> String;

    /// Returns the private keys. Of the variables only a key itself counts (`SOPS_AGE_KEY`): the
    /// others may come from files, and no file may name a program to run or another file to read.
    fn identities(&self, environment: &Environment) -> Identities;

    /// Decrypts a text of a format (`yaml`, `json`, `dotenv`, `ini`) that needs another program;
    /// `None` if there is none.
    fn decrypt_externally(
        &self,
        text: &str,
        kind: &str,
        environment: &Environment,
    ) -> Option<Result<String, String>>;

    /// Receives the name of a decrypted file, and the values that were encrypted.
    fn decrypted_file(&self, _file: &str, _values: &Confidential) {}

    /// Registers a schematic with an image factory and returns its id.
    fn register(&self, url: &str, schematic: &str) -> Result<String, String>;

    /// Resolves a host name; `None` if it has no address.
    fn lookup(&self, name: &str) -> Option<IpAddr>;

    /// Seconds since 1970, for templates that ask.
    fn now(&self) -> i64;

    /// Returns the known releases of Talos.
    fn release_catalog(&self) -> &ReleaseCatalog {
        ReleaseCatalog::built_in()
    }

    /// Writes a debug line, if they are wanted.
    fn debug(&self, line: &dyn Fn() -> String);

    /// Prints a warning about a problem that has no other visible effect.
    fn warn(&self, line: &str);
}

/// Why a file cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{attempt} {path}: {reason}")]
pub struct FileError {
    /// `open`, `read` or `stat`
    pub attempt: &'static str,
    /// The path as it was given.
    pub path: String,
    /// Why, in the words of the operating system.
    pub reason: String,
    /// There is no such file.
    pub missing: bool,
}

impl FileError {
    /// Returns true if the file does not exist.
    pub fn is_missing(&self) -> bool {
        self.missing
    }
}
