//! The steps of the operations guide as people take them: from `cluster.yaml` and `nodes.yaml` to machine configuration,
//! with an image factory of our own on a loopback address.

mod api;
mod data;
mod examples;
mod factory;
mod init;
mod keys;
mod machine;
mod names;
mod page;
mod pages;
mod patches;
mod reset;
mod sample;
mod schemas;
mod secrets;
mod server;
mod talconfig;
mod versions;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A directory of its own, with a home beside it.
struct Directory(TempDir);

impl Directory {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = Self(tempfile::tempdir().expect("a directory"));
        fs_err::create_dir(directory.home()).expect("a home");
        fs_err::create_dir(directory.path("")).expect("a directory");
        for (path, text) in files {
            directory.write(path, text);
        }
        directory
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join("work").join(path)
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs_err::write(path, text).expect("a file");
    }

    fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.path(path)).expect("a file")
    }

    fn mode(&self, path: &str) -> u32 {
        fs_err::metadata(self.path(path)).expect("a file").permissions().mode() & 0o777
    }

    /// Every file below a folder, sorted.
    fn files(&self, folder: &str) -> Vec<String> {
        let mut files = Vec::new();
        collect(&self.path(folder), &self.path(""), &mut files);
        files.sort();
        files
    }

    /// What every file of the directory holds.
    fn contents(&self) -> BTreeMap<String, String> {
        self.files("").into_iter().map(|path| (path.clone(), self.read(&path))).collect()
    }

    fn run(&self, line: &str) -> Said {
        self.run_with(line, &[])
    }

    /// Runs a command line, in which blanks are between words and nowhere else.
    fn run_with(&self, line: &str, variables: &[(&str, &str)]) -> Said {
        self.run_words(&line.split_whitespace().collect::<Vec<_>>(), variables)
    }

    fn run_words(&self, words: &[&str], variables: &[(&str, &str)]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_ichor"))
            .args(words)
            .current_dir(self.path(""))
            .env_clear()
            .env("HOME", self.home())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("ichor");
        let said = Said::of(&output);
        schemas::check(words, said.code, &said.stdout);
        said
    }

    /// The same where nothing may go wrong: what is on stdout.
    fn done(&self, line: &str) -> String {
        let said = self.run(line);
        assert_eq!(said.code, 0, "{line}\n{}{}", said.stdout, said.stderr);
        said.stdout
    }

    /// A value of a machine's configuration, as the directory gives it; nothing where it is not set.
    fn explained(&self, path: &str, machine: &str) -> Option<String> {
        let said = self.done(&format!("explain {path} -n {machine} -o json"));
        let explained: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        explained["value"].as_str().map(str::to_owned)
    }
}

fn collect(folder: &Path, root: &Path, files: &mut Vec<String>) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, root, files);
        } else {
            let name = path.strip_prefix(root).expect("a file of the directory");
            files.push(name.to_string_lossy().into_owned());
        }
    }
}

/// A recipient that is made for tests, and the key that opens what is for it.
fn age_key() -> (String, String) {
    let key = include_str!("../talhelper/throw-away-secrets/age.key");
    let recipient = key.lines().find_map(|line| line.strip_prefix("# public key: "));
    let private = key.lines().find(|line| line.starts_with("AGE-SECRET-KEY"));
    (recipient.expect("a recipient").to_owned(), private.expect("a key").to_owned())
}

/// What the program said, and how it ended.
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Said {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().expect("no signal"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The secrets of a cluster that is nowhere.
const SECRETS: &str = include_str!("../talhelper/throw-away-secrets/talsecret.yaml");
