//! Patches of the operations guide: whom they reach, in which order, and what they make of a machine.

use std::collections::BTreeMap;

use crate::{Directory, SECRETS};

/// Every scope marks its machines and says two things that others say too: `own` is left to the groups and the machines,
/// `all` is said by everybody.
#[test]
fn patches_reach_their_scope_and_the_group_gives_way_to_the_machine_and_that_to_all() {
    let mark = |scope: &str| format!("{scope}: here\n    all: {scope}\n");
    let patch = |text: &str| format!("machine:\n  sysctls:\n    {text}");
    let directory = Directory::new(&[
        ("talconfig.yaml", SCOPES),
        ("talsecret.yaml", SECRETS),
        ("patches/global/mark.yaml", &patch(&mark("global"))),
    ]);
    for scope in ["controller", "worker", "cp-2", "w-2", "w-3"] {
        let text = patch(&format!("{}    own: {scope}\n", mark(scope)));
        directory.write(&format!("patches/{scope}/mark.yaml"), &text);
    }
    directory.done("talhelper genconfig --offline-mode");
    for (machine, own, scopes) in [
        ("cp-1", "controller", &["controller"][..]),
        ("cp-2", "cp-2", &["controller", "cp-2"]),
        ("w-1", "worker", &["worker"]),
        ("w-2", "w-2", &["worker", "w-2"]),
        // This one does without the patches of its group.
        ("w-3", "w-3", &["w-3"]),
    ] {
        let mut expected = BTreeMap::from([("all", "global"), ("global", "here"), ("own", own)]);
        expected.extend(scopes.iter().map(|scope| (*scope, "here")));
        let config = directory.read(&format!("clusterconfig/home-{machine}.yaml"));
        assert_eq!(pairs(&block(&config, "  sysctls:")), expected, "{machine}");
        let explained = directory.explained("machine.sysctls", machine).expect("a value");
        let explained = explained.trim_start_matches('{').trim_end_matches('}');
        let explained: Vec<&str> = explained.split(", ").collect();
        assert_eq!(pairs(&explained), expected, "{machine}");
    }
}

#[test]
fn the_patches_of_the_guide_make_the_machine_that_they_describe() {
    let directory = patched(IN_PATCHES);
    directory.done("talhelper genconfig --offline-mode");
    let control_plane = directory.read("clusterconfig/home-cp-1.yaml");
    let worker = directory.read("clusterconfig/home-w-1.yaml");
    for config in [&control_plane, &worker] {
        for text in [
            // Subnets are replaced, and nothing is added to them.
            "  network:\n    cni:\n      name: none\n    dnsDomain: cluster.local\n    podSubnets:\n      - 10.42.0.0/16\n    \
             serviceSubnets:\n      - 10.43.0.0/16\n  token:",
            "  kubelet:\n    image: ghcr.io/siderolabs/kubelet:v1.35.0\n    extraArgs:\n      \
             rotate-server-certificates: \"true\"\n    defaultRuntimeSeccompProfileEnabled: true\n    \
             disableManifestsDirectory: true\n  network:\n    nameservers:\n      - 1.1.1.1\n      - 1.0.0.1\n  install:\n",
            "  time:\n    servers:\n      - 162.159.200.1\n  features:\n",
        ] {
            assert!(config.contains(text), "{text}\n{config}");
        }
        for gone in ["10.244.", "10.96.", "admissionControl", "flannel", "$patch"] {
            assert!(!config.contains(gone), "{gone}\n{config}");
        }
    }
    let proxy = "  proxy:\n    disabled: true\n    image: registry.k8s.io/kube-proxy:v1.35.0\n  scheduler:\n";
    assert!(control_plane.contains(proxy), "{control_plane}");
    // What is taken away leaves what is beside it.
    let api_server =
        "  apiServer:\n    image: registry.k8s.io/kube-apiserver:v1.35.0\n    auditPolicy:\n";
    assert!(control_plane.contains(api_server), "{control_plane}");

    // It was there before.
    directory.write("patches/controller/admission.yaml", "machine: {}\n");
    directory.done("talhelper genconfig --offline-mode");
    assert!(directory.read("clusterconfig/home-cp-1.yaml").contains("admissionControl"));
}

#[test]
fn keys_of_the_talconfig_say_the_same_as_patches() {
    let made = |cluster: &str| {
        let directory = patched(cluster);
        directory.done("talhelper genconfig --offline-mode");
        let paths = [
            "cluster.network.cni.name",
            "cluster.network.podSubnets",
            "cluster.network.serviceSubnets",
            "cluster.proxy.disabled",
            "machine.kubelet.extraArgs",
            "machine.network.nameservers",
            "machine.time.servers",
            "cluster.apiServer.admissionControl",
        ];
        let values = paths.map(|path| directory.explained(path, "cp-1"));
        let files = ["cp-1", "w-1"].map(|name| format!("clusterconfig/home-{name}.yaml"));
        (values, files.map(|file| directory.read(&file)))
    };
    let (values, files) = made(IN_PATCHES);
    let expected = [
        Some("none"),
        Some("[10.42.0.0/16]"),
        Some("[10.43.0.0/16]"),
        Some("true"),
        Some("{rotate-server-certificates: true}"),
        Some("[1.1.1.1, 1.0.0.1]"),
        Some("[162.159.200.1]"),
        None,
    ];
    assert_eq!(values.each_ref().map(Option::as_deref), expected);
    // Said as keys, and said twice.
    for patches in [PROXY_IN_A_PATCH, IN_PATCHES] {
        let cluster = format!("{IN_KEYS}{patches}");
        let (same_values, same_files) = made(&cluster);
        assert_eq!(same_values, values, "{cluster}");
        assert_eq!(same_files, files, "{cluster}");
    }
}

/// A cluster with the patches of the guide, which says some things in this way.
fn patched(cluster: &str) -> Directory {
    Directory::new(&[
        ("talconfig.yaml", &format!("{MACHINES}{cluster}")),
        ("talsecret.yaml", SECRETS),
        ("patches/global/cluster.yaml", CLUSTER),
        ("patches/global/proxy.yaml", "cluster:\n  proxy:\n    disabled: true\n"),
        ("patches/global/machine.yaml", MACHINE),
        (
            "patches/controller/admission.yaml",
            "cluster:\n  apiServer:\n    admissionControl:\n      $$patch: delete\n",
        ),
    ])
}

/// The lines below one that stands alone, without their indentation.
fn block<'a>(config: &'a str, head: &str) -> Vec<&'a str> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let inside = indentation(head);
    let below = config.lines().skip_while(|line| *line != head).skip(1);
    below.take_while(|line| indentation(line) > inside).map(str::trim).collect()
}

fn pairs<'a>(lines: &[&'a str]) -> BTreeMap<&'a str, &'a str> {
    lines.iter().map(|line| line.split_once(": ").expect("a key and a value")).collect()
}

const SCOPES: &str = "\
clusterName: home
talosVersion: v1.12.0
kubernetesVersion: v1.35.0
endpoint: https://10.0.0.10:6443
nodes:
  - hostname: cp-1
    ipAddress: 10.0.0.11
    controlPlane: true
    installDisk: /dev/sda
  - hostname: cp-2
    ipAddress: 10.0.0.12
    controlPlane: true
    installDisk: /dev/sda
    patches: [\"@./patches/cp-2/mark.yaml\"]
  - hostname: w-1
    ipAddress: 10.0.0.21
    installDisk: /dev/sda
  - hostname: w-2
    ipAddress: 10.0.0.22
    installDisk: /dev/sda
    patches: [\"@./patches/w-2/mark.yaml\"]
  - hostname: w-3
    ipAddress: 10.0.0.23
    installDisk: /dev/sda
    overridePatches: true
    patches: [\"@./patches/w-3/mark.yaml\"]
patches: [\"@./patches/global/mark.yaml\"]
controlPlane:
  patches: [\"@./patches/controller/mark.yaml\"]
worker:
  patches: [\"@./patches/worker/mark.yaml\"]
";

const MACHINES: &str = "\
clusterName: home
talosVersion: v1.12.0
kubernetesVersion: v1.35.0
endpoint: https://10.0.0.10:6443
nodes:
  - hostname: cp-1
    ipAddress: 10.0.0.11
    controlPlane: true
    installDisk: /dev/sda
  - hostname: w-1
    ipAddress: 10.0.0.21
    installDisk: /dev/sda
controlPlane:
  patches: [\"@./patches/controller/admission.yaml\"]
";

const IN_PATCHES: &str = "\
patches:
  - \"@./patches/global/cluster.yaml\"
  - \"@./patches/global/machine.yaml\"
";

const IN_KEYS: &str = "\
clusterPodNets: [10.42.0.0/16]
clusterSvcNets: [10.43.0.0/16]
cniConfig:
  name: none
";

const PROXY_IN_A_PATCH: &str = "\
patches:
  - \"@./patches/global/proxy.yaml\"
  - \"@./patches/global/machine.yaml\"
";

const CLUSTER: &str = "\
cluster:
  network:
    cni:
      name: none # another one is installed later
    podSubnets:
      - 10.42.0.0/16
    serviceSubnets:
      - 10.43.0.0/16
  proxy:
    disabled: true
";

const MACHINE: &str = "\
machine:
  kubelet:
    extraArgs:
      rotate-server-certificates: \"true\"
  network:
    nameservers:
      - 1.1.1.1
      - 1.0.0.1
  time:
    servers:
      - 162.159.200.1
";
