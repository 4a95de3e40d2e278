//! `ichor` before scripted machines, each on a loopback address of its own: what it asks of them, and what it leaves in the
//! journal and in the audit log when it is stopped, goes on or is refused.

#[path = "../guide/api.rs"]
mod api;
mod fingerprints;
mod first_secrets;
mod guards;
mod history;
mod interrupt;
mod logging;
mod look;
mod node_config;
mod reset;
mod resume;
mod said;
#[path = "../guide/schemas.rs"]
mod schemas;
mod talos;

use std::net::TcpListener;
use std::process::{Command, Stdio};

use engine::journal::{Entry, Record};
use serde_json::Value;
use tempfile::TempDir;

/// The directory of a cluster.
struct Home(TempDir);

impl Home {
    /// A cluster of the machines behind these listeners: `cp-1`, then `w-1` and so on.
    fn new(listeners: &[&TcpListener]) -> Self {
        let home = Self(tempfile::tempdir().expect("a directory"));
        let mut init = "init home".to_owned();
        for (number, listener) in listeners.iter().enumerate() {
            let address = listener.local_addr().expect("an address").ip();
            let machine = match number {
                0 => format!(" --endpoint https://{address}:6443 --control-plane cp-1={address}"),
                _ => format!(" --worker w-{number}={address}"),
            };
            init.push_str(&machine);
        }
        home.run(&init).ends_with(0);
        home
    }

    fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.0.path().join(path)).expect("a file")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs_err::write(path, text).expect("a file");
    }

    /// The program with a command line, in which blanks are between words and nowhere else.
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ichor"));
        command
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .env_clear()
            .env("HOME", "/nonexistent")
            .env("USER", "tester")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, line: &str) -> Said {
        let output = self.command(line).output().expect("ichor");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = Said {
            code: output.status.code().expect("no signal"),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        };
        schemas::check(&line.split_whitespace().collect::<Vec<_>>(), said.code, &said.stdout);
        said
    }

    /// The entries of the journal.
    fn entries(&self) -> Vec<Entry> {
        let text = self.read(".ichor/journal");
        let entry = |line: &str| {
            let (_, record) = line.split_once(' ').expect("a checksum");
            serde_json::from_str::<Record>(record).expect("a record").entry
        };
        // The first line says which format it is.
        text.lines().skip(1).map(entry).collect()
    }

    /// The lines of the audit log.
    fn audited(&self) -> Vec<Value> {
        let text = self.read(".ichor/audit.jsonl");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The outcomes in the audit log, in their order.
    fn outcomes(&self) -> Vec<String> {
        let outcome = |line: Value| line["outcome"].as_str().expect("text").to_owned();
        self.audited().into_iter().map(outcome).collect()
    }
}

/// The output of the program, and its status.
#[derive(Debug)]
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Said {
    #[track_caller]
    fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}
