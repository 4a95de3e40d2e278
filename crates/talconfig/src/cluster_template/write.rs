//! The talconfig of the two files.

use std::fmt::Write as _;

use super::PatchFiles;
use super::read::{ClusterFile, NodeEntry};

pub(super) fn talconfig(
    cluster: &ClusterFile,
    nodes: &[NodeEntry],
    patches: &PatchFiles,
) -> String {
    let mut names = vec!["127.0.0.1".to_owned(), cluster.api_address.to_string()];
    names.extend(cluster.api_names.iter().cloned());
    let mut text = HEAD.to_owned();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "endpoint: https://{}:6443", cluster.api_address);
    for key in ["additionalApiServerCertSans", "additionalMachineCertSans"] {
        list(&mut text, "", key, &names);
    }
    list(&mut text, "", "clusterPodNets", std::slice::from_ref(&cluster.pods));
    list(&mut text, "", "clusterSvcNets", std::slice::from_ref(&cluster.services));
    // Cilium is installed by other means.
    text.push_str("cniConfig:\n  name: none\nnodes:\n");
    for entry in nodes {
        node(&mut text, cluster, entry, &files(patches, &entry.name));
    }
    let global = files(patches, "global");
    if !global.is_empty() {
        list(&mut text, "", "patches", &global);
    }
    let has_workers = nodes.iter().any(|node| !node.is_controller);
    for (key, scope, is_there) in
        [("controlPlane", "controller", true), ("worker", "worker", has_workers)]
    {
        let of_scope = files(patches, scope);
        if is_there && !of_scope.is_empty() {
            let _ = writeln!(text, "{key}:");
            list(&mut text, "  ", "patches", &of_scope);
        }
    }
    text
}

fn node(text: &mut String, cluster: &ClusterFile, node: &NodeEntry, files: &[String]) {
    let _ = writeln!(text, "  - hostname: {}", quoted(&node.name));
    let _ = writeln!(text, "    ipAddress: {}", quoted(&node.address.to_string()));
    let _ = writeln!(text, "    controlPlane: {}", node.is_controller);
    if node.disk.starts_with('/') {
        let _ = writeln!(text, "    installDisk: {}", quoted(&node.disk));
    } else {
        let _ = writeln!(text, "    installDiskSelector:\n      serial: {}", quoted(&node.disk));
    }
    let secure = if node.secure_boot { "-secureboot" } else { "" };
    let _ = writeln!(text, "    machineSpec:\n      secureboot: {}", node.secure_boot);
    let _ = writeln!(text, "    talosImageURL: {FACTORY}/installer{secure}/{}", node.schematic);
    let _ = writeln!(
        text,
        "    networkInterfaces:\n      - deviceSelector:\n          hardwareAddr: {}",
        quoted(&node.mac)
    );
    // The settings are the same for a link and for a VLAN on it.
    let indent = match cluster.vlan {
        Some(tag) => {
            let _ = writeln!(text, "        vlans:\n          - vlanId: {tag}");
            "            "
        }
        None => {
            text.push_str("        dhcp: false\n");
            "        "
        }
    };
    let address = format!("{}/{}", node.address, cluster.node_network.prefix);
    list(text, indent, "addresses", &[address]);
    let _ = writeln!(text, "{indent}routes:\n{indent}  - network: \"0.0.0.0/0\"");
    let _ = writeln!(text, "{indent}    gateway: {}", quoted(&cluster.gateway.to_string()));
    let _ = writeln!(text, "{indent}mtu: {}", node.mtu.unwrap_or(1500));
    if node.is_controller {
        let _ = writeln!(text, "{indent}vip:");
        let _ = writeln!(text, "{indent}  ip: {}", quoted(&cluster.api_address.to_string()));
    }
    if !node.encrypt_disk && node.kernel_modules.is_empty() && files.is_empty() {
        return;
    }
    text.push_str("    patches:\n");
    if node.encrypt_disk {
        text.push_str(ENCRYPTION);
    }
    if !node.kernel_modules.is_empty() {
        text.push_str("      - |-\n        machine:\n          kernel:\n            modules:\n");
        for module in &node.kernel_modules {
            let _ = writeln!(text, "              - name: {}", quoted(module));
        }
    }
    for file in files {
        let _ = writeln!(text, "      - {}", quoted(file));
    }
}

/// Returns the references to the patches of a scope.
fn files(patches: &PatchFiles, scope: &str) -> Vec<String> {
    let files = patches.get(scope).map(Vec::as_slice).unwrap_or_default();
    files.iter().map(|file| format!("@./patches/{scope}/{file}")).collect()
}

fn list(text: &mut String, indent: &str, key: &str, items: &[String]) {
    let _ = writeln!(text, "{indent}{key}:");
    for item in items {
        let _ = writeln!(text, "{indent}  - {}", quoted(item));
    }
}

/// Quotes a text. Dollars are doubled, since variables are substituted later.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text.replace('$', "$$")).to_string()
}

const HEAD: &str = "\
# Made by `ichor gen talconfig` from cluster.yaml and nodes.yaml: change those.
clusterName: kubernetes
talosVersion: \"${talosVersion}\"
kubernetesVersion: \"${kubernetesVersion}\"
";

const FACTORY: &str = "factory.talos.dev";

/// Both partitions that hold data of the machine, with a key that only its own TPM has.
const ENCRYPTION: &str = "      - |-
        machine:
          systemDiskEncryption:
            state:
              provider: luks2
              keys:
                - slot: 0
                  tpm: {}
            ephemeral:
              provider: luks2
              keys:
                - slot: 0
                  tpm: {}
";
