//! The command as its users meet it: stdout, stderr and exit status, as snapshots.

use std::fmt::Write;
use std::process::{Command, Output, Stdio};

use insta::assert_snapshot;

#[test]
fn version_as_table() {
    assert_snapshot!(ichor(&["version"]));
}

#[test]
fn version_as_json() {
    assert_snapshot!(ichor(&["version", "-o", "json"]));
}

#[test]
fn version_as_yaml() {
    assert_snapshot!(ichor(&["--output", "yaml", "version"]));
}

#[test]
fn version_as_a_flag() {
    assert_snapshot!(ichor(&["--version"]));
}

#[test]
fn short_help() {
    assert_snapshot!(ichor(&["-h"]));
}

#[test]
fn long_help() {
    assert_snapshot!(ichor(&["--help"]));
}

#[test]
fn help_of_a_command() {
    assert_snapshot!(ichor(&["completions", "--help"]));
}

#[test]
fn nothing_typed() {
    assert_snapshot!(ichor(&[]));
}

#[test]
fn a_command_that_does_not_exist() {
    assert_snapshot!(ichor(&["verson"]));
}

#[test]
fn an_option_that_does_not_exist() {
    assert_snapshot!(ichor(&["version", "--outptu", "json"]));
}

#[test]
fn a_value_that_does_not_exist() {
    assert_snapshot!(ichor(&["version", "-o", "toml"]));
}

#[test]
fn a_value_left_out() {
    assert_snapshot!(ichor(&["completions"]));
}

#[test]
fn an_argument_that_is_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let output = program().arg(std::ffi::OsStr::from_bytes(b"\xff\xfe")).output().expect("ichor");
    assert_eq!(output.status.code(), Some(3), "{}", show(&output));
}

#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let full = fs_err::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = program().arg("version").stdout(full.into_file()).output().expect("ichor");
    assert_snapshot!(show(&output));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = program()
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ichor");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ichor");
    assert_snapshot!(show(&output));
}

#[test]
fn colours_only_where_they_are_wanted() {
    let error = |name: &str| program().arg("verson").env(name, "1").output().expect("ichor").stderr;
    assert!(error("CLICOLOR_FORCE").contains(&b'\x1b'));
    assert!(!error("NO_COLOR").contains(&b'\x1b'));
}

fn ichor(arguments: &[&str]) -> String {
    show(&program().args(arguments).output().expect("ichor"))
}

/// The program without what the tester's own environment might change.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ichor"));
    command.env_clear().stdin(Stdio::null());
    command
}

/// What was written and how it ended, with that replaced which changes from build to build.
fn show(output: &Output) -> String {
    let mut text = format!("exit: {}\n", output.status.code().expect("no signal"));
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let _ = write!(text, "---- {name}\n{}", String::from_utf8_lossy(bytes));
    }
    let revision = env!("ICHOR_REVISION");
    text.replace(env!("CARGO_PKG_VERSION"), "[version]")
        // YAML quotes a revision only when it happens to look like a number.
        .replace(&format!("revision: \"{revision}\""), "revision: [revision]")
        .replace(revision, "[revision]")
}
