//! The two programs that are compared.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use testkit::peers;
use testkit::talos::Site;

/// Ours, with the talosconfig of a cluster and nobody's own files.
pub(crate) fn ichor(talosconfig: &Path) -> Command {
    with(Path::new(env!("CARGO_BIN_EXE_ichor")), talosconfig)
}

pub(crate) fn talosctl(talosconfig: &Path) -> Command {
    with(&peers::program("talosctl-1.13.9"), talosconfig)
}

fn with(program: &Path, talosconfig: &Path) -> Command {
    let mut command = Command::new(program);
    let home = talosconfig.parent().expect("a directory");
    command.env("TALOSCONFIG", talosconfig).env("HOME", home).env("NO_COLOR", "1");
    command.stdin(Stdio::null());
    command
}

/// What a program says when it must succeed.
pub(crate) fn said(command: &mut Command) -> String {
    let output = command.output().expect("a program");
    assert!(output.status.success(), "{command:?}: {}", errors(&output));
    text(&output)
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The address of the first node.
pub(crate) fn first(site: &Site) -> String {
    site.nodes[0].address.to_string()
}

/// A program that goes on until this is dropped.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn new(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().expect("a program"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
