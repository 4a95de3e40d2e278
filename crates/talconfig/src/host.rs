//! What a talconfig needs from outside, as one trait.

use std::net::IpAddr;

use sops::Identities;
use talos_config::Confidential;

use crate::door::environment::Environment;
use crate::door::release_catalog::ReleaseCatalog;

/// Files, keys, and somebody to tell what happens.
pub trait Host {
    /// Reads a file. A path that is not absolute begins in the working directory.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError>;

    /// Whether there is a file or a directory.
    fn stat(&self, path: &str) -> Result<(), FileError>;

    /// The path from the root, without `.` and `..`; nothing is looked at.
    fn absolute(&self, path: &str) -> String;

    /// The private keys that may open encrypted files. Of the variables only a key itself counts (`SOPS_AGE_KEY`): they may
    /// come from files, and no file says which program is run or which other file is read.
    fn identities(&self, environment: &Environment) -> Identities;

    /// Lets somebody else decrypt a text of a kind (`yaml`, `json`, `dotenv`, `ini`) that we cannot; nothing when
    /// there is nobody.
    fn decrypt_externally(
        &self,
        text: &str,
        kind: &str,
        environment: &Environment,
    ) -> Option<Result<String, String>>;

    /// Hears of a file that was encrypted and is open now, and of its values.
    fn decrypted_file(&self, _file: &str, _values: &Confidential) {}

    /// Registers a schematic with an image factory and gives its id.
    fn register(&self, url: &str, schematic: &str) -> Result<String, String>;

    /// The address that a machine's name has now; nothing when it has none.
    fn lookup(&self, name: &str) -> Option<IpAddr>;

    /// Seconds since 1970, for templates that ask.
    fn now(&self) -> i64;

    /// The releases of Talos that are known.
    fn release_catalog(&self) -> &ReleaseCatalog {
        ReleaseCatalog::built_in()
    }

    /// Tells a developer what is done, if one listens.
    fn debug(&self, line: &dyn Fn() -> String);

    /// Tells a person about something that silently goes wrong.
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
}

impl FileError {
    /// Whether there is nothing by that name.
    pub fn is_missing(&self) -> bool {
        self.reason == "no such file or directory"
    }
}
