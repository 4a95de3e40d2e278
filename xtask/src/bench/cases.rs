//! What is measured. A case is one job that both programs do.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use testkit::peers;
use testkit::talos::{Request, Site, Size, ask_at};

use crate::talos::{self, Harness};

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The program to compare with, by its name among the peers.
    pub(super) peer: &'static str,
    /// Puts the input into an empty directory, in which both then run.
    pub(super) prepare: fn(&Path) -> Result<Inputs>,
}

/// The arguments for either side.
pub(super) struct Inputs {
    pub(super) ours: Vec<OsString>,
    pub(super) theirs: Vec<OsString>,
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "version",
        about: "start, say the version, end: the floor under every other figure",
        peer: "talosctl-1.14.1",
        prepare: |_| {
            Ok(Inputs { ours: arguments("version"), theirs: arguments("version --client --short") })
        },
    },
    Case {
        name: "patch",
        about: "three strategic patches on a control plane's configuration",
        peer: "talosctl-1.14.1",
        prepare: |directory| {
            write_patch_files(directory)?;
            let patches = "-p @patch-0.yaml -p @patch-1.yaml -p @patch-2.yaml";
            Ok(Inputs {
                ours: arguments(&format!("patch config.yaml {patches}")),
                theirs: arguments(&format!("machineconfig patch config.yaml {patches}")),
            })
        },
    },
    Case {
        name: "gen-config",
        about: "the configuration of a control plane from given secrets",
        peer: "talosctl-1.14.1",
        prepare: |directory| {
            write_secrets(directory)?;
            let common = "gen config c https://10.0.0.10:6443 --with-secrets secrets.yaml -t controlplane -o -";
            Ok(Inputs {
                // What talosctl does unasked.
                ours: arguments(&format!("{common} --talos-version v1.14.1")),
                theirs: arguments(&format!("{common} --with-docs=false --with-examples=false")),
            })
        },
    },
    Case {
        name: "genconfig",
        about: "the configuration of three machines from a talconfig with patches",
        peer: "talhelper",
        prepare: |directory| from_talconfig(directory, 3),
    },
    Case {
        name: "genconfig-100",
        about: "the same for a hundred machines",
        peer: "talhelper",
        prepare: |directory| from_talconfig(directory, 100),
    },
    Case {
        name: "services",
        about: "one call to a real node, and a table of its answer",
        peer: "talosctl-1.13.9",
        prepare: |_| on_node("services"),
    },
    Case {
        name: "get",
        about: "a type by its short name, and all resources of it, from a real node",
        peer: "talosctl-1.13.9",
        prepare: |_| on_node("get addresses"),
    },
    Case {
        name: "logs",
        about: "a log of a real node, streamed",
        peer: "talosctl-1.13.9",
        prepare: |_| on_node("logs kubelet"),
    },
];

/// A talconfig as people have it, its patches, and secrets.
fn from_talconfig(directory: &Path, machines: usize) -> Result<Inputs> {
    write_secrets(directory)?;
    let mut talconfig = TALCONFIG.to_owned();
    for machine in 0..machines {
        talconfig.push_str(
            &NODE
                .replace("NUMBER", &machine.to_string())
                .replace("MAC", &format!("52:54:00:00:01:{machine:02x}"))
                .replace("CONTROL_PLANE", if machine < 3 { "true" } else { "false" }),
        );
    }
    fs_err::write(directory.join("talconfig.yaml"), talconfig)?;
    for (index, patch) in PATCHES.iter().enumerate() {
        fs_err::write(directory.join(format!("patch-{index}.yaml")), patch)?;
    }
    let common = "genconfig --offline-mode -s secrets.yaml";
    Ok(Inputs { ours: arguments(&format!("talhelper {common}")), theirs: arguments(common) })
}

/// The same words for both, on a real node.
fn on_node(words: &str) -> Result<Inputs> {
    let site = site(Size::ONE)?;
    let node = site.nodes[0].address;
    let line = format!("{words} --talosconfig {} -n {node}", site.talosconfig().display());
    Ok(Inputs { ours: arguments(&line), theirs: arguments(&line) })
}

/// A cluster of real nodes, made when it is first asked for. It ends with this process.
fn site(size: Size) -> Result<Site> {
    static HARNESS: Mutex<Option<Harness>> = Mutex::new(None);
    let mut harness = HARNESS.lock().unwrap_or_else(PoisonError::into_inner);
    let running = match harness.take() {
        Some(running) => running,
        None => {
            talos::prepare()?;
            Harness::start()?
        }
    };
    let running = harness.insert(running);
    let (mut sites, _) = ask_at(&running.directory, &Request::Cluster { size, alone: false })?;
    Ok(sites.remove(0))
}

/// A job of a library, measured by one of its examples without a process around it.
pub(super) struct LibraryCase {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) package: &'static str,
    pub(super) example: &'static str,
    pub(super) files: &'static [&'static str],
    pub(super) prepare: fn(&Path) -> Result<()>,
}

pub(super) const LIBRARY_CASES: &[LibraryCase] = &[
    LibraryCase {
        name: "patch-library",
        about: "the same job as `patch`, in the library",
        package: "talos-config",
        example: "measure_patch",
        files: &["config.yaml", "patch-0.yaml", "patch-1.yaml", "patch-2.yaml"],
        prepare: write_patch_files,
    },
    LibraryCase {
        name: "gen-library",
        about: "one machine's configuration, ten thousand times, in the library",
        package: "talos-config",
        example: "measure_generate",
        files: &["secrets.yaml"],
        prepare: write_secrets,
    },
    LibraryCase {
        name: "calls-library",
        about: "a thousand calls to four real nodes over one connection, in the library",
        package: "talos-api",
        example: "measure_calls",
        files: &["talosconfig", "nodes"],
        prepare: |directory| {
            let site = site(Size::FOUR)?;
            fs_err::copy(site.talosconfig(), directory.join("talosconfig"))?;
            let nodes: Vec<String> =
                site.nodes.iter().map(|node| node.address.to_string()).collect();
            Ok(fs_err::write(directory.join("nodes"), nodes.join("\n"))?)
        },
    },
    LibraryCase {
        name: "plan-library",
        about: "plan and check of a change with reboot for 500 machines, in the library",
        package: "plan",
        example: "measure_plan",
        files: &[],
        prepare: |_| Ok(()),
    },
    LibraryCase {
        name: "observe-library",
        about: "10,000 machines in 1,000 clusters observed by one process, and its memory",
        package: "engine",
        example: "measure_observe",
        files: &[],
        prepare: |_| Ok(()),
    },
    LibraryCase {
        name: "create-library",
        about: "500 machines created in a world in memory: lists of nodes, calls at the same time",
        package: "engine",
        example: "measure_create",
        files: &[],
        prepare: |_| Ok(()),
    },
    LibraryCase {
        name: "journal-library",
        about: "one record appended to a journal of 100,000",
        package: "engine",
        example: "measure_journal",
        files: &[],
        prepare: |_| Ok(()),
    },
];

/// Secrets that were published so that nobody uses them.
fn write_secrets(directory: &Path) -> Result<()> {
    let secrets = stability().join("secrets.yaml");
    Ok(fs_err::write(directory.join("secrets.yaml"), fs_err::read(secrets)?)?)
}

/// A configuration that talosctl generated for a control plane, and three patches as people write them.
fn write_patch_files(directory: &Path) -> Result<()> {
    let config = stability().join("v1.13/base-controlplane.yaml");
    fs_err::write(directory.join("config.yaml"), fs_err::read(config)?)?;
    for (index, patch) in PATCHES.iter().enumerate() {
        fs_err::write(directory.join(format!("patch-{index}.yaml")), patch)?;
    }
    Ok(())
}

/// The configurations that Talos keeps to show that they never change.
fn stability() -> PathBuf {
    let machinery = peers::module("talos-1.14.1", "github.com/siderolabs/talos/pkg/machinery");
    machinery.join("config/types/v1alpha1/testdata/stability")
}

const PATCHES: [&str; 3] = [
    "machine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n  kubelet:\n    extraArgs:\n      rotate-server-certificates: \"true\"\n",
    "cluster:\n  network:\n    cni:\n      name: none\n  proxy:\n    disabled: true\n  apiServer:\n    certSANs: [api.example]\n",
    "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\naddresses:\n  - address: 10.0.0.11/24\nroutes:\n  - gateway: 10.0.0.1\n",
];

const TALCONFIG: &str = "\
clusterName: home
talosVersion: v1.13.0
kubernetesVersion: v1.34.1
endpoint: https://10.0.0.10:6443
additionalApiServerCertSans: [api.example.org]
clusterPodNets: [10.42.0.0/16]
clusterSvcNets: [10.43.0.0/16]
patches: ['@./patch-0.yaml']
controlPlane:
  patches: ['@./patch-1.yaml']
worker:
  patches: ['machine: {nodeTaints: {a: NoSchedule}}']
nodes:
";

const NODE: &str = "  - hostname: node-NUMBER
    ipAddress: 10.0.1.NUMBER
    controlPlane: CONTROL_PLANE
    installDisk: /dev/nvme0n1
    nodeLabels: {example.org/rack: \"NUMBER\"}
    nameservers: [10.0.0.53]
    networkInterfaces:
      - deviceSelector: {hardwareAddr: \"MAC\"}
        addresses: [10.0.1.NUMBER/24]
        routes: [{network: 0.0.0.0/0, gateway: 10.0.1.254}]
        mtu: 1500
    schematic:
      customization:
        systemExtensions:
          officialExtensions: [siderolabs/i915, siderolabs/iscsi-tools]
    patches:
      - |
        machine:
          sysctls:
            vm.nr_hugepages: \"NUMBER\"
";

fn arguments(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}
