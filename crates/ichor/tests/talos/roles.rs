//! What people may do who are no administrators, and what they are told.

use testkit::talos::{self, Size};

use crate::programs::{errors, ichor, talosctl, text};

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_role_that_is_not_enough_is_told_as_such() {
    let cluster = talos::cluster(Size::ONE);
    let node = &cluster.nodes[0];
    let directory = tempfile::tempdir().expect("a directory");
    let talosconfig = directory.path().join("talosconfig");
    let made = ichor(&talosconfig)
        .args(["gen", "talosconfig", "reader", "--roles", "os:reader", "--output"])
        .arg(&talosconfig)
        .arg("--with-secrets")
        .arg(cluster.secrets())
        .output()
        .expect("ichor");
    assert!(made.status.success(), "{}", errors(&made));
    let (endpoint, address) = (node.endpoint.to_string(), node.address.to_string());
    let reach = ["-e", &endpoint, "-n", &address];

    // Readers may look, and see what talosctl shows them.
    let services = ["get", "hostnamestatus", "-o", "yaml"];
    let ours = ichor(&talosconfig).args(services).args(reach).output().expect("ichor");
    let theirs = talosctl(&talosconfig).args(services).args(reach).output().expect("talosctl");
    assert!(ours.status.success(), "{}", errors(&ours));
    assert_eq!(text(&ours), text(&theirs));

    for refused in [
        &["get", "machineconfig"][..],
        &["read", "/proc/self/status"],
        &["node", "reboot", "--yes"],
        &["node", "etcd", "forfeit-leadership"],
    ] {
        let output = ichor(&talosconfig)
            .env("XDG_STATE_HOME", directory.path())
            .args(refused)
            .args(reach)
            .output()
            .expect("ichor");
        assert_eq!(output.status.code(), Some(1), "{refused:?}: {}", errors(&output));
        let said = errors(&output);
        assert!(said.contains("error[machine.denied]"), "{refused:?}: {said}");
        assert!(said.contains("use a talosconfig with more roles"), "{refused:?}: {said}");
    }
}
