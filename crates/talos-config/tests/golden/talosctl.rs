//! The real talosctl, asked to patch and to generate.

use std::path::Path;
use std::process::Command;

use talos_config::yaml::Dialect;
use testkit::peers;

/// A release line of talosctl that we do as.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release {
    /// The program that stands for it.
    pub(crate) version: &'static str,
    /// How we are told to do as it does.
    pub(crate) dialect: Dialect,
    /// The contracts of the configurations that are patched.
    pub(crate) contracts: &'static [&'static str],
}

pub(crate) const NEWEST: Release = Release {
    version: "1.14.1",
    dialect: Dialect::V1_14,
    contracts: &["v1.6", "v1.11", "v1.13", "v1.14"],
};

pub(crate) const V1_13: Release = Release {
    version: "1.13.9",
    dialect: Dialect::V1_13,
    contracts: &["v1.6", "v1.11", "v1.12", "v1.13"],
};

pub(crate) const V1_12: Release =
    Release { version: "1.12.0", dialect: Dialect::V1_12, contracts: &["v1.6", "v1.11", "v1.12"] };

pub(crate) const OLDER: [Release; 2] = [V1_13, V1_12];

pub(crate) const ALL: [Release; 3] = [NEWEST, V1_13, V1_12];

/// What `talosctl machineconfig patch` prints, or what it says when it refuses.
pub(crate) fn patch_with(
    release: Release,
    config: &str,
    patches: &[String],
) -> Result<String, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs_err::write(&path, text).expect("a file");
        path
    };
    let program = peers::program(&format!("talosctl-{}", release.version));
    let mut command = Command::new(program);
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

/// What `talosctl gen config` writes for control planes and workers, or what it says when it refuses.
pub(crate) fn generate(
    release: &str,
    bundle: &Path,
    arguments: &[String],
) -> Result<[String; 2], String> {
    let directory = tempfile::tempdir().expect("a directory");
    let output = Command::new(peers::program(&format!("talosctl-{release}")))
        .args(["gen", "config", "--with-docs=false", "--with-examples=false"])
        .args(["--output-types=controlplane,worker", "--with-secrets"])
        .arg(bundle)
        .args(arguments)
        .arg("--output")
        .arg(directory.path())
        .output()
        .expect("talosctl");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let read = |name: &str| {
        fs_err::read_to_string(directory.path().join(name)).expect("a file of talosctl")
    };
    Ok([read("controlplane.yaml"), read("worker.yaml")])
}

/// New secrets.
pub(crate) fn secrets(release: &str, contract: &str) -> String {
    let output = Command::new(peers::program(&format!("talosctl-{release}")))
        .args(["gen", "secrets", "--output-file", "-", "--talos-version", contract])
        .output()
        .expect("talosctl");
    String::from_utf8(output.stdout).expect("text")
}
