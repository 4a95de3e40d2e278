//! The files of a directory that is only there for a test.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, PathBuf};

use sops::Identities;
use talconfig::{Environment, FileError, Host};
use tempfile::TempDir;

/// A working directory.
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new(files: &BTreeMap<String, String>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = directory.path().join(name);
            if name.ends_with('/') {
                fs_err::create_dir_all(path).expect("a directory");
                continue;
            }
            fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs_err::write(path, text).expect("a file");
        }
        Self(directory)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }
}

impl Host for Files {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        fs_err::read(self.path(path)).map_err(|error| missing("open", path, &error))
    }

    fn stat(&self, path: &str) -> Result<(), FileError> {
        let found = fs_err::metadata(self.path(path));
        found.map(drop).map_err(|error| missing("stat", path, &error))
    }

    fn absolute(&self, path: &str) -> String {
        let mut clean = PathBuf::new();
        for component in self.path(path).components() {
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

    fn identities(&self, environment: &Environment) -> Identities {
        let mut identities = Identities::default();
        if let Some(key) = environment.get("SOPS_AGE_KEY") {
            identities.add_variable("SOPS_AGE_KEY", key);
        }
        if let Some(file) = environment.get("SOPS_AGE_KEY_FILE").map(OsString::from)
            && let Ok(text) = fs_err::read_to_string(&file)
        {
            identities.add("SOPS_AGE_KEY_FILE", &text);
        }
        identities
    }

    fn decrypt_externally(
        &self,
        _: &str,
        _: &str,
        _: &Environment,
    ) -> Option<Result<String, String>> {
        None
    }

    fn register(&self, _: &str, _: &str) -> Result<String, String> {
        Err("there is no network in here".to_owned())
    }

    fn lookup(&self, _: &str) -> Option<std::net::IpAddr> {
        None
    }

    fn now(&self) -> i64 {
        0
    }

    fn debug(&self, _: &dyn Fn() -> String) {}

    fn warn(&self, _: &str) {}
}

fn missing(attempt: &'static str, path: &str, error: &std::io::Error) -> FileError {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        other => other.to_string(),
    };
    let missing = error.kind() == std::io::ErrorKind::NotFound;
    FileError { attempt, path: path.to_owned(), reason, missing }
}
