//! Makes `src/generated` from `proto/`: `cargo xtask gen` runs it with the directory to write to.
//!
//! It stands here and not in a build script so that building Ichor needs no compiler of protos, and so
//! that a review shows what a change of the protos does to the code.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let output =
        std::env::args_os().nth(1).map(PathBuf::from).context("a directory to write to")?;
    let protos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    let files = proto_files(&protos)?;
    let descriptors = protox::compile(files, [&protos])?;

    let mut messages = tonic_prost_build::Config::new();
    // The full name of a message is what an event's type is told by.
    messages.enable_type_names();
    tonic_prost_build::configure()
        .out_dir(output)
        .include_file("mod.rs")
        // Ordered, so that the same message is always the same bytes.
        .btree_map(".")
        .skip_debug(OPAQUE)
        // Connections are made by our own client, which knows about Talos' certificates.
        .build_transport(false)
        // A simulated machine of an older release knows fewer calls.
        .generate_default_stubs(true)
        .compile_fds_with_config(descriptors, messages)?;
    Ok(())
}

/// Every proto below a directory, in a fixed order.
fn proto_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs_err::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "proto") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Messages with secrets, or with bytes of which nobody knows what they are. `src/redacted_debug.rs` gives each a
/// `Debug` that shows nothing; the compiler sees to it that the two lists are the same.
const OPAQUE: &[&str] = &[
    ".common.Data",
    ".common.PEMEncodedCertificateAndKey",
    ".common.PEMEncodedKey",
    ".cosi.resource.Spec",
    ".machine.ApplyConfiguration",
    ".machine.ApplyConfigurationRequest",
    ".machine.DebugContainerRunRequest",
    ".machine.DebugContainerRunRequestSpec",
    ".machine.DebugContainerRunResponse",
    ".machine.GenerateClientConfiguration",
    ".machine.ImageServiceCredentials",
    ".machine.MetaWriteRequest",
    ".resource.config.MachineConfigSpec",
    ".talos.resource.definitions.k8s.APIServerConfigSpec",
    ".talos.resource.definitions.k8s.ControllerManagerConfigSpec",
    ".talos.resource.definitions.k8s.KubeletConfigSpec",
    ".talos.resource.definitions.k8s.KubeletSpecSpec",
    ".talos.resource.definitions.k8s.SchedulerConfigSpec",
    ".talos.resource.definitions.k8s.SingleManifest",
    ".talos.resource.definitions.k8s.StaticPodSpec",
    ".talos.resource.definitions.network.WireguardPeer",
    ".talos.resource.definitions.network.WireguardSpec",
    ".talos.resource.definitions.runtime.MetaKeySpec",
    ".talos.resource.definitions.runtime.UniqueMachineTokenSpec",
    ".talos.resource.definitions.secrets.KubernetesRootSpec",
    ".talos.resource.definitions.secrets.OSRootSpec",
];
