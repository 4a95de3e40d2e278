//! From nodes in maintenance to a cluster, with the real talosctl.

use std::net::Ipv4Addr;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use testkit::peers;
use testkit::talos::{NODES_KUBERNETES, Node, Role};

use super::parts::{ETCD, TALOSCTL};
use super::site::{DISCOVERY_PORT, GATEWAY, REGISTRY_PORT, Site};

/// Starts the nodes of a site and makes a cluster of them.
pub(super) fn make(site: &Site) -> Result<()> {
    let mut nodes = Vec::new();
    for _ in 0..site.size.control_planes {
        nodes.push(site.add(Role::ControlPlane)?);
    }
    for _ in 0..site.size.workers {
        nodes.push(site.add(Role::Worker)?);
    }
    let leader = nodes.first().context("a cluster has at least one control plane")?;
    write_configs(site, leader)?;
    let files = site.status();
    for node in &nodes {
        answers(site, node)?;
        let (address, config) = (node.endpoint.to_string(), files.config(node.role));
        let config = config.to_string_lossy();
        talosctl(site, &["apply-config", "--insecure", "--nodes", &address, "--file", &config])?;
    }
    wait("etcd to begin", || talosctl(site, &["bootstrap"]))?;
    wait("etcd to have all its voters", || {
        let members = talosctl(site, &["etcd", "members"])?;
        // The last column tells members that only learn.
        let voters = members.lines().filter(|line| line.trim_end().ends_with("false")).count();
        expect(voters, site.size.control_planes.into())
    })?;
    let kubeconfig = files.kubeconfig();
    wait("Kubernetes' credentials", || {
        talosctl(site, &["kubeconfig", "--force", "--merge=false", &kubeconfig.to_string_lossy()])
    })?;
    let text = fs_err::read_to_string(&kubeconfig)?;
    let (inside, outside) = (leader.address.to_string(), leader.endpoint.to_string());
    fs_err::write(&kubeconfig, text.replace(&inside, &outside))?;
    ready(site)
}

/// Makes sure that all nodes of a cluster are on and well, whatever was done to them.
pub(super) fn ready(site: &Site) -> Result<()> {
    let mut nodes = site.status().nodes;
    nodes.retain(|node| node.role != Role::Machine);
    for node in nodes.iter().filter(|node| !node.running) {
        site.power(&node.name, true)?;
    }
    let addresses = list(nodes.iter().map(|node| node.address));
    wait("all nodes to be ready", || {
        // For a node that is its services, the pods of its control plane, and what Kubernetes thinks of it.
        let ready = "jsonpath={.spec.status.ready}";
        let said =
            talosctl(site, &["get", "machinestatus", "--nodes", &addresses, "--output", ready])?;
        expect(said.matches("true").count(), nodes.len())
    })
}

/// Waits until a machine answers in maintenance.
pub(super) fn answers(site: &Site, node: &Node) -> Result<()> {
    let address = node.endpoint.to_string();
    wait(&format!("{} to answer", node.name), || {
        talosctl(site, &["get", "machinestatus", "--insecure", "--nodes", &address])
    })
}

/// Writes what a configuration must say for our nodes, whoever makes it.
pub(super) fn write_patches(site: &Site) -> Result<()> {
    let files = site.status();
    let endpoints = list(site.endpoints());
    fs_err::write(files.patch(Role::Worker), patch(&endpoints))?;
    fs_err::write(files.patch(Role::ControlPlane), control_plane_patch(&endpoints))?;
    Ok(())
}

fn write_configs(site: &Site, leader: &Node) -> Result<()> {
    let files = site.status();
    let secrets = files.secrets().to_string_lossy().into_owned();
    talosctl(site, &["gen", "secrets", "--force", "--output-file", &secrets])?;
    talosctl(
        site,
        &[
            "gen",
            "config",
            "ichor-test",
            &format!("https://{}:6443", leader.address),
            "--force",
            "--with-secrets",
            &secrets,
            "--with-docs=false",
            "--with-examples=false",
            "--kubernetes-version",
            NODES_KUBERNETES,
            "--config-patch",
            &format!("@{}", files.patch(Role::Worker).display()),
            "--config-patch-control-plane",
            &format!("@{}", files.patch(Role::ControlPlane).display()),
            "--output",
            &site.directory.to_string_lossy(),
        ],
    )?;
    let endpoints: Vec<String> = site
        .endpoints()
        .iter()
        .take(site.size.control_planes.into())
        .map(ToString::to_string)
        .collect();
    let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();
    talosctl(site, &[&["config", "endpoint"], endpoints.as_slice()].concat())?;
    talosctl(site, &["config", "node", &leader.address.to_string()])?;
    Ok(())
}

/// What a configuration says for our nodes only.
fn patch(endpoints: &str) -> String {
    format!(
        r#"machine:
  # Where the node is reached from outside.
  certSANs: [{endpoints}]
  time:
    # There is no time server, and no need for one.
    disabled: true
  registries:
    mirrors:
      "*":
        endpoints: ["http://{GATEWAY}:{REGISTRY_PORT}"]
  kubelet:
    extraConfig:
      failCgroupV1: false
      # How often it looks for the pods of the control plane; 20 s would be half of the time that a cluster takes.
      httpCheckFrequency: 1s
cluster:
  network:
    cni:
      # The nodes bring a small one.
      name: none
  proxy:
    disabled: true
  coreDNS:
    disabled: true
  discovery:
    registries:
      kubernetes:
        disabled: true
      service:
        endpoint: http://{GATEWAY}:{DISCOVERY_PORT}/
---
# The name is that of the machine.
apiVersion: v1alpha1
kind: HostnameConfig
$patch: delete
"#
    )
}

/// What it says for control planes besides: the same for Kubernetes, and the release of etcd that is pinned.
fn control_plane_patch(endpoints: &str) -> String {
    format!(
        r"cluster:
  apiServer:
    certSANs: [{endpoints}]
  etcd:
    image: registry.k8s.io/etcd:{ETCD}
"
    )
}

fn talosctl(site: &Site, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(peers::program(TALOSCTL));
    command
        .args(arguments)
        .env("TALOSCONFIG", site.directory.join("talosconfig"))
        // Nothing of the person who runs this is read or written.
        .env("HOME", &site.directory);
    let output = command.output().context("cannot start talosctl")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn expect(found: usize, wanted: usize) -> Result<String> {
    if found != wanted {
        bail!("{found} of {wanted}");
    }
    Ok(String::new())
}

fn list(addresses: impl IntoIterator<Item = Ipv4Addr>) -> String {
    addresses.into_iter().map(|address| address.to_string()).collect::<Vec<_>>().join(",")
}

/// Tries until it works. The last failure is the error.
fn wait(what: &str, mut attempt: impl FnMut() -> Result<String>) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > end => {
                return Err(error.context(format!("waited in vain for {what}")));
            }
            Err(_) => thread::sleep(Duration::from_millis(500)),
        }
    }
}

/// Several times what the slowest step takes on a machine with two busy processors.
const PATIENCE: Duration = Duration::from_mins(5);
