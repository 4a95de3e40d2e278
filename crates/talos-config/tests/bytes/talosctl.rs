//! The real talosctl, asked to patch.

use std::process::Command;

use testkit::peers;

/// What `talosctl machineconfig patch` prints, or what it says when it refuses.
pub(crate) fn patch_with(
    release: &str,
    config: &str,
    patches: &[String],
) -> Result<String, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs_err::write(&path, text).expect("a file");
        path
    };
    let mut command = Command::new(peers::program(&format!("talosctl-{release}")));
    command.args(["machineconfig", "patch"]).arg(file("config.yaml", config));
    for (index, patch) in patches.iter().enumerate() {
        let path = file(&format!("patch-{index}.yaml"), patch);
        command.arg("--patch").arg(format!("@{}", path.display()));
    }
    let output = command.output().expect("talosctl");
    if output.status.success() {
        // Printing adds a line break of its own.
        let text = String::from_utf8(output.stdout).expect("text");
        return Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}
