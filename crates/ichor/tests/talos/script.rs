//! A script from the days of talhelper, unchanged, with our program under the name of talhelper and the real talosctl:
//! from a machine in maintenance to a cluster whose node is ready.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use testkit::peers;
use testkit::talos::{self, Role, Size};

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_script_for_talhelper_makes_a_cluster() {
    let machine = talos::machine(Size::NONE);
    let site = machine.site();
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    for folder in ["bin", "home", "talos/patches"] {
        fs_err::create_dir_all(path(folder)).expect("a directory");
    }
    symlink(env!("CARGO_BIN_EXE_ichor"), path("bin/talhelper")).expect("a link");
    symlink(peers::program("talosctl-1.13.9"), path("bin/talosctl")).expect("a link");
    for (role, name) in [(Role::Worker, "all"), (Role::ControlPlane, "controller")] {
        let patch = site.patch_without_name(role);
        fs_err::write(path(&format!("talos/patches/{name}.yaml")), patch).expect("a patch");
    }
    let address = machine.address.to_string();
    fs_err::write(path("talos/talconfig.yaml"), TALCONFIG.replace("ADDRESS", &address))
        .expect("a file");
    fs_err::write(path("talos/talenv.yaml"), TALENV).expect("a file");
    fs_err::write(path("bootstrap.sh"), SCRIPT).expect("a file");

    let inside = |program: &str| {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", site.network.display())).arg(program);
        command.current_dir(directory.path()).env_clear().stdin(Stdio::null());
        command.env("PATH", format!("{}:/usr/bin:/bin", path("bin").display()));
        command.env("HOME", path("home")).env("NO_COLOR", "1");
        command
    };
    let output =
        inside("timeout").args(["400", "bash", "bootstrap.sh"]).output().expect("a script");
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{:?}\n{said}", output.status);
    assert!(said.contains("generated config for cp-1 in ./clusterconfig/home-cp-1.yaml"), "{said}");
    assert!(said.contains("all done"), "{said}");

    let kubectl = peers::program("kubectl");
    let mut nodes = inside(&kubectl.to_string_lossy());
    nodes.arg("--kubeconfig").arg(path("kubeconfig")).args(["get", "nodes", "--no-headers"]);
    let nodes = nodes.output().expect("kubectl");
    let nodes = String::from_utf8_lossy(&nodes.stdout).into_owned();
    assert_eq!(nodes.split_whitespace().take(2).collect::<Vec<_>>(), ["cp-1", "Ready"], "{nodes}");
    // What was changed afterwards has arrived.
    let mut changed = inside(&path("bin/talosctl").to_string_lossy());
    changed.args(["--talosconfig", "talos/clusterconfig/talosconfig", "-n", &address]);
    let changed = changed.args(["get", "nodelabelspec", "-o", "yaml"]).output().expect("talosctl");
    let changed = String::from_utf8_lossy(&changed.stdout).into_owned();
    assert!(changed.contains("example.org/rack"), "{changed}");
}

const TALENV: &str = "talosVersion: v1.13.9\nkubernetesVersion: v1.36.3\n";

const TALCONFIG: &str = "\
clusterName: home
talosVersion: ${talosVersion}
kubernetesVersion: ${kubernetesVersion}
endpoint: https://ADDRESS:6443
allowSchedulingOnControlPlanes: true
patches:
  - '@./patches/all.yaml'
controlPlane:
  patches:
    - '@./patches/controller.yaml'
nodes:
  - hostname: cp-1
    ipAddress: ADDRESS
    controlPlane: true
    installDisk: /dev/vda
    talosImageURL: factory.talos.dev/installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba
";

/// As people have it in their Taskfiles; `-m container` is what the nodes of the harness are.
const SCRIPT: &str = r#"#!/usr/bin/env bash
set -euo pipefail
root=$PWD
cd talos
[ -f talsecret.yaml ] || talhelper gensecret > talsecret.yaml
talhelper validate talconfig
talhelper genconfig -m container
talhelper gencommand apply --extra-flags="--insecure" | bash
until talhelper gencommand bootstrap | bash; do sleep 3; done
until talhelper gencommand kubeconfig --extra-flags="$root --force" | bash; do sleep 3; done
talhelper gencommand health --extra-flags="--wait-timeout=5m" | bash
sed -i 's|^    installDisk:|    nodeLabels: {example.org/rack: "1"}\n    installDisk:|' talconfig.yaml
talhelper genconfig -m container --dry-run
talhelper genconfig -m container
talhelper gencommand apply -n cp-1 --extra-flags="--mode=no-reboot" | bash
echo "all done"
"#;
