//! Builds of peers, with a script in the place of Go: what is kept of a build, and what of it lives on.

#![expect(clippy::disallowed_methods, reason = "tests of processes: they wait for real ones")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

#[test]
fn programs_of_one_pin_are_built_by_one_run_of_go() {
    let machine = Machine::new(
        r#"for name in server etcdutl; do program "$name" 'etcd Version: 3.6.6 etcdutl version: 3.6.6'; done"#,
    );
    let output = machine.peers(&["etcd", "etcdutl"]).output().expect("xtask");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(machine.kept(), ["etcd", "etcdutl"]);
    let builds = machine.log();
    assert_eq!(builds.lines().count(), 1, "{builds}");
    assert!(builds.ends_with("go.etcd.io/etcd/server/v3 go.etcd.io/etcd/etcdutl/v3\n"), "{builds}");

    // What is there is not built again.
    let output = machine.peers(&["etcdutl"]).output().expect("xtask");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(machine.log(), builds);
}

#[test]
fn two_that_want_the_same_program_build_it_once() {
    let machine = Machine::new("sleep 0.3; program sops 'sops 3.13.3'");
    let both = [0, 1].map(|_| machine.peers(&["sops"]).spawn().expect("xtask"));
    for one in both {
        let output = one.wait_with_output().expect("xtask");
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(machine.kept(), ["sops"]);
    assert_eq!(machine.log().lines().count(), 1);
}

#[test]
fn another_release_than_the_pinned_one_is_not_kept() {
    let machine = Machine::new("program sops 'sops 3.0.0'");
    let output = machine.peers(&["sops"]).output().expect("xtask");
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("sops does not say \"sops 3.13.3\" but: sops 3.0.0"), "{said}");
    assert!(machine.kept().is_empty());
}

#[test]
fn no_process_of_a_build_outlives_the_one_that_wanted_it() {
    let machine = Machine::new(
        r#"echo "$$" >"$ROOT/pids"; sleep 600 & echo "$!" >>"$ROOT/pids"; echo >>"$ROOT/pids"; wait"#,
    );
    let mut command = machine.peers(&["--tied", "sops"]);
    let mut build = command.stdin(Stdio::piped()).process_group(0).spawn().expect("xtask");
    let pids = || fs_err::read_to_string(machine.path("pids")).unwrap_or_default();
    until("the build runs", || pids().ends_with("\n\n"));
    let pids = pids();
    assert!(pids.lines().filter(|pid| !pid.is_empty()).all(alive), "{pids}");

    // What the end of the process that started it does, however it ends.
    drop(build.stdin.take());
    build.wait().expect("xtask");
    until("it is gone", || !pids.lines().filter(|pid| !pid.is_empty()).any(alive));

    // The next build does not stumble over what this one left.
    machine.script("program sops 'sops 3.13.3'");
    let output = machine.peers(&["sops"]).output().expect("xtask");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(machine.kept(), ["sops"]);
    assert!(!machine.path("cache/ichor/peers/build-sops").exists());
}

/// A machine with a cache and a Go of its own.
struct Machine(TempDir);

impl Machine {
    /// `build` is what `go build` does, as a script with a function that makes a program that says something.
    fn new(build: &str) -> Self {
        let machine = Self(tempfile::tempdir().expect("a directory"));
        machine.script(build);
        machine
    }

    fn script(&self, build: &str) {
        let script = format!(
            r#"#!/bin/sh
[ "$1" != env ] || {{ echo go0; exit; }}
ROOT={root}
echo "$*" >>"$ROOT/log"
while [ "$1" != -o ]; do shift; done
output=$2
program() {{ printf '#!/bin/sh\necho "%s"\n' "$2" >"$output/$1"; chmod +x "$output/$1"; }}
{build}
"#,
            root = self.0.path().display()
        );
        fs_err::create_dir_all(self.path("bin")).expect("a directory");
        fs_err::write(self.path("bin/go"), script).expect("a script");
        fs_err::set_permissions(self.path("bin/go"), PermissionsExt::from_mode(0o755))
            .expect("a script to run");
    }

    fn peers(&self, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").expect("a path");
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command
            .arg("peers")
            .args(arguments)
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("ICHOR_PEERS_DIR")
            .env_remove("KUBEBUILDER_ASSETS")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The programs in the cache.
    fn kept(&self) -> Vec<String> {
        let folders = fs_err::read_dir(self.path("cache/ichor/peers")).expect("a cache");
        let mut names: Vec<String> = folders
            .filter_map(|folder| fs_err::read_dir(folder.expect("an entry").path()).ok())
            .flatten()
            .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The arguments of each `go build`.
    fn log(&self) -> String {
        fs_err::read_to_string(self.path("log")).expect("a log")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Whether a process runs; one that has ended and was not waited for does not.
fn alive(pid: &str) -> bool {
    let status = fs_err::read_to_string(Path::new("/proc").join(pid).join("stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

fn until(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !condition() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
