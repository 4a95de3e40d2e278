//! The sample of the operations guide: what machines are made of it, and what changes when the files do.

use crate::{Directory, SECRETS};

#[test]
fn the_sample_is_a_control_plane_with_the_releases_of_the_env_file() {
    let directory = Directory::new(&[
        ("talconfig.yaml", SAMPLE),
        ("talenv.yaml", TALENV),
        ("talsecret.yaml", SECRETS),
    ]);
    let before = directory.contents();
    assert_eq!(directory.done("validate"), "k8s-node-1 is valid for metal mode\n");
    let installer = format!("factory.talos.dev/metal-installer/{SCHEMATIC}:v1.12.0");
    for (path, value) in [
        ("machine.type", "controlplane"),
        ("machine.install.disk", "/dev/nvme0n1"),
        ("machine.install.image", installer.as_str()),
        ("machine.kubelet.image", "ghcr.io/siderolabs/kubelet:v1.35.0"),
        ("cluster.clusterName", "talos"),
        ("cluster.controlPlane.endpoint", "https://192.168.1.5:6443"),
        ("cluster.apiServer.image", "registry.k8s.io/kube-apiserver:v1.35.0"),
        ("HostnameConfig.hostname", "k8s-node-1"),
        ("HostnameConfig.auto", "off"),
        ("LinkConfig/eth0.mtu", "1500"),
        ("LinkConfig/eth0.addresses", "[{address: 192.168.1.10/24}]"),
        ("LinkConfig/eth0.routes", "[{gateway: 192.168.1.1}]"),
    ] {
        assert_eq!(directory.explained(path, "k8s-node-1").as_deref(), Some(value), "{path}");
    }
    assert_eq!(directory.contents(), before);

    // An older release has interfaces in the document that all machines have.
    directory.write("talenv.yaml", "talosVersion: v1.11.6\nkubernetesVersion: v1.34.1\n");
    assert_eq!(directory.done("validate"), "k8s-node-1 is valid for metal mode\n");
    let installer = installer.replace("v1.12.0", "v1.11.6");
    for (path, value) in [
        ("machine.install.image", installer.as_str()),
        ("machine.kubelet.image", "ghcr.io/siderolabs/kubelet:v1.34.1"),
        ("machine.network.hostname", "k8s-node-1"),
        ("machine.network.interfaces[eth0].mtu", "1500"),
        ("machine.network.interfaces[eth0].addresses", "[192.168.1.10/24]"),
        ("machine.network.interfaces[eth0].routes", "[{network: 0.0.0.0/0, gateway: 192.168.1.1}]"),
    ] {
        assert_eq!(directory.explained(path, "k8s-node-1").as_deref(), Some(value), "{path}");
    }
}

/// talhelper itself takes releases from the env file only where the talconfig refers to them.
#[test]
fn the_sample_is_written_out_as_talhelper_does_it() {
    let referring = format!(
        "talosVersion: ${{talosVersion}}\nkubernetesVersion: ${{kubernetesVersion}}\n{SAMPLE}"
    );
    let directory = Directory::new(&[
        ("talconfig.yaml", &referring),
        ("talenv.yaml", TALENV),
        ("talsecret.yaml", SECRETS),
    ]);
    let made = || {
        directory.done("talhelper genconfig --offline-mode");
        named(&directory.read("clusterconfig/talos-k8s-node-1.yaml"))
    };
    let machine = made();
    assert_eq!(machine, format!("{MACHINE}{HOSTNAME}{LINK}"));

    let shared = referring
        .replace("        mtu: 1500\n", "        mtu: 1500\n        vip: {ip: 192.168.1.5}\n");
    directory.write("talconfig.yaml", &shared);
    let address =
        "---\napiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 192.168.1.5\nlink: eth0\n";
    assert_eq!(made(), format!("{MACHINE}{HOSTNAME}{address}{LINK}"));

    directory.write("talenv.yaml", "talosVersion: v1.11.6\nkubernetesVersion: v1.34.1\n");
    let older = made();
    let network = "  network:\n    hostname: k8s-node-1\n    interfaces:\n      - interface: eth0\n        addresses:\n          \
                   - 192.168.1.10/24\n        routes:\n          - network: 0.0.0.0/0\n            gateway: 192.168.1.1\n        \
                   mtu: 1500\n        vip:\n          ip: 192.168.1.5\n  install:\n";
    assert!(older.contains(network), "{older}");
    // It is one document, and knows nothing of what came with the next release.
    for newer in ["\n---\n", "kind: LinkConfig", "kind: HostnameConfig", "grubUseUKICmdline"] {
        assert!(!older.contains(newer), "{newer}\n{older}");
    }
}

#[test]
fn a_pin_changes_the_images_that_it_is_for_and_nothing_else() {
    let directory = two_machines();
    let made = |talos: &str, kubernetes: &str| {
        let pins = format!("talosVersion: {talos}\nkubernetesVersion: {kubernetes}\n");
        directory.write("talenv.yaml", &pins);
        directory.done("talhelper genconfig --offline-mode");
        directory.contents()
    };
    let before = made("v1.12.0", "v1.35.0");
    let newer_talos = made("v1.12.1", "v1.35.0");
    let newer_kubernetes = made("v1.12.0", "v1.35.1");
    let newer_both = made("v1.12.1", "v1.35.1");
    let of_kubernetes = [
        "ghcr.io/siderolabs/kubelet",
        "registry.k8s.io/kube-apiserver",
        "registry.k8s.io/kube-controller-manager",
        "registry.k8s.io/kube-proxy",
        "registry.k8s.io/kube-scheduler",
    ];
    for (name, schematic, components) in
        [("cp-1", SCHEMATIC, &of_kubernetes[..]), ("w-1", NO_SCHEMATIC, &of_kubernetes[..1])]
    {
        let file = format!("clusterconfig/home-{name}.yaml");
        let installer = format!("factory.talos.dev/metal-installer/{schematic}");
        let talos = [(installer.as_str(), "v1.12.0", "v1.12.1")];
        let kubernetes: Vec<_> =
            components.iter().map(|image| (*image, "v1.35.0", "v1.35.1")).collect();
        // The kubelet is named before the installer, and everything else after it.
        let both = [&kubernetes[..1], &talos[..], &kubernetes[1..]].concat();
        assert_eq!(retagged(&before[&file], &newer_talos[&file]), talos, "{name}");
        assert_eq!(retagged(&before[&file], &newer_kubernetes[&file]), kubernetes, "{name}");
        assert_eq!(retagged(&before[&file], &newer_both[&file]), both, "{name}");
        for old in ["v1.12.0", "v1.35.0"] {
            assert!(!newer_both[&file].contains(old), "{name}: {old}");
        }
    }
}

#[test]
fn a_dry_run_shows_what_would_change_and_changes_nothing() {
    let directory = two_machines();
    let generate = "talhelper genconfig --offline-mode";
    directory.done(generate);
    let first = directory.contents();
    directory.done(generate);
    let mut second = directory.contents();
    // Credentials are made anew.
    let talosconfig = "clusterconfig/talosconfig".to_owned();
    second.insert(talosconfig.clone(), first[&talosconfig].clone());
    assert_eq!(second, first);

    let dry_run = || {
        let before = directory.contents();
        let said = directory.done(&format!("{generate} --dry-run"));
        assert_eq!(directory.contents(), before);
        said
    };
    let same = |name: &str| format!("no changes found on ./clusterconfig/home-{name}.yaml\n");
    assert_eq!(dry_run(), same("cp-1") + &same("w-1"));

    // A key of one machine.
    let talconfig = directory.read("talconfig.yaml");
    directory.write("talconfig.yaml", &talconfig.replacen("/dev/sda", "/dev/nvme0n1", 1));
    let said = dry_run();
    assert_eq!(changes(&said), ["-    disk: /dev/sda", "+    disk: /dev/nvme0n1"]);
    assert!(said.ends_with(&same("w-1")), "{said}");
    for side in ["--- a", "+++ b"] {
        let file = directory.path("clusterconfig/home-cp-1.yaml");
        assert!(said.contains(&format!("{side}{}\n", file.display())), "{said}");
    }

    // A value of a patch for all machines, as well.
    directory.write("patches/all.yaml", &ALL.replace("fq", "fq_codel"));
    let of_all = ["-    net.core.default_qdisc: fq", "+    net.core.default_qdisc: fq_codel"];
    let of_one = ["-    disk: /dev/sda", "+    disk: /dev/nvme0n1"];
    assert_eq!(changes(&dry_run()), [of_one, of_all, of_all].concat());

    // What was shown is what is done.
    directory.done(generate);
    assert_eq!(dry_run(), same("cp-1") + &same("w-1"));
}

/// A control plane with a schematic and a worker without one.
fn two_machines() -> Directory {
    let (_, schematic) = SAMPLE.split_once("    schematic:\n").expect("a schematic");
    let talconfig = format!("{CONTROL_PLANE}    schematic:\n{schematic}{WORKER}");
    Directory::new(&[
        ("talconfig.yaml", &talconfig),
        ("patches/all.yaml", ALL),
        ("talenv.yaml", TALENV),
        ("talsecret.yaml", SECRETS),
    ])
}

/// The lines of a difference that go and come.
fn changes(said: &str) -> Vec<&str> {
    let is_change = |line: &&str| line.starts_with(['-', '+']);
    let is_head = |line: &&str| line.starts_with("--- a/") || line.starts_with("+++ b/");
    said.lines().filter(is_change).filter(|line| !is_head(line)).collect()
}

/// The lines in which two texts differ: images, each with the tags that it had and has. Nothing else may.
fn retagged<'a>(before: &'a str, after: &'a str) -> Vec<(&'a str, &'a str, &'a str)> {
    assert_eq!(before.lines().count(), after.lines().count());
    let image = |line: &'a str| {
        let image = line.trim().strip_prefix("image: ").unwrap_or_else(|| panic!("{line}"));
        image.rsplit_once(':').expect("a tag")
    };
    let differing = before.lines().zip(after.lines()).filter(|(before, after)| before != after);
    differing
        .map(|(before, after)| {
            let ((name, before), (same, after)) = (image(before), image(after));
            assert_eq!(name, same);
            (name, before, after)
        })
        .collect()
}

/// A configuration with the names of secrets in the place of their values.
fn named(config: &str) -> String {
    let mut config = config.to_owned();
    let mut section = "";
    for line in SECRETS.lines().map(str::trim) {
        match line.split_once(": ") {
            None => section = line.trim_end_matches(':'),
            Some((key, value)) => config = config.replace(value, &format!("<{section}.{key}>")),
        }
    }
    config
}

/// Of the two extensions below, in this order.
const SCHEMATIC: &str = "6ebbfe35c8225645c05d4d19eaad385bd1ec795954932d0ada671388272fec19";
/// Of nothing at all.
const NO_SCHEMATIC: &str = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

const SAMPLE: &str = "\
clusterName: talos
endpoint: https://192.168.1.5:6443

nodes:
  - hostname: k8s-node-1
    ipAddress: 192.168.1.10
    controlPlane: true
    installDisk: /dev/nvme0n1
    networkInterfaces:
      - interface: eth0
        addresses:
          - 192.168.1.10/24
        routes:
          - network: 0.0.0.0/0
            gateway: 192.168.1.1
        mtu: 1500
    schematic:
      customization:
        systemExtensions:
          officialExtensions:
            - siderolabs/qemu-guest-agent
            - siderolabs/iscsi-tools
";

const TALENV: &str = "talosVersion: v1.12.0\nkubernetesVersion: v1.35.0\n";

const CONTROL_PLANE: &str = "\
clusterName: home
talosVersion: ${talosVersion}
kubernetesVersion: ${kubernetesVersion}
endpoint: https://10.0.0.10:6443
patches:
  - \"@./patches/all.yaml\"
nodes:
  - hostname: cp-1
    ipAddress: 10.0.0.11
    controlPlane: true
    installDisk: /dev/sda
";

const WORKER: &str = "  - hostname: w-1
    ipAddress: 10.0.0.21
    installDisk: /dev/sda
";

const ALL: &str = "machine:\n  sysctls:\n    net.core.default_qdisc: fq\n";

/// What a control plane of Talos 1.12 has, with what the sample says.
const MACHINE: &str = "\
version: v1alpha1
debug: false
persist: true
machine:
  type: controlplane
  token: <trustdinfo.token>
  ca:
    crt: <os.crt>
    key: <os.key>
  certSANs: []
  kubelet:
    image: ghcr.io/siderolabs/kubelet:v1.35.0
    defaultRuntimeSeccompProfileEnabled: true
    disableManifestsDirectory: true
  network: {}
  install:
    disk: /dev/nvme0n1
    image: factory.talos.dev/metal-installer/6ebbfe35c8225645c05d4d19eaad385bd1ec795954932d0ada671388272fec19:v1.12.0
    wipe: false
    grubUseUKICmdline: true
  features:
    diskQuotaSupport: true
    kubePrism:
      enabled: true
      port: 7445
    hostDNS:
      enabled: true
      forwardKubeDNSToHost: true
  nodeLabels:
    node.kubernetes.io/exclude-from-external-load-balancers: \"\"
cluster:
  id: <cluster.id>
  secret: <cluster.secret>
  controlPlane:
    endpoint: https://192.168.1.5:6443
  clusterName: talos
  network:
    dnsDomain: cluster.local
    podSubnets:
      - 10.244.0.0/16
    serviceSubnets:
      - 10.96.0.0/12
  token: <secrets.bootstraptoken>
  secretboxEncryptionSecret: <secrets.secretboxencryptionsecret>
  ca:
    crt: <k8s.crt>
    key: <k8s.key>
  aggregatorCA:
    crt: <k8saggregator.crt>
    key: <k8saggregator.key>
  serviceAccount:
    key: <k8sserviceaccount.key>
  apiServer:
    image: registry.k8s.io/kube-apiserver:v1.35.0
    admissionControl:
      - name: PodSecurity
        configuration:
          apiVersion: pod-security.admission.config.k8s.io/v1alpha1
          defaults:
            audit: restricted
            audit-version: latest
            enforce: baseline
            enforce-version: latest
            warn: restricted
            warn-version: latest
          exemptions:
            namespaces:
              - kube-system
            runtimeClasses: []
            usernames: []
          kind: PodSecurityConfiguration
    auditPolicy:
      apiVersion: audit.k8s.io/v1
      kind: Policy
      rules:
        - level: Metadata
  controllerManager:
    image: registry.k8s.io/kube-controller-manager:v1.35.0
  proxy:
    image: registry.k8s.io/kube-proxy:v1.35.0
  scheduler:
    image: registry.k8s.io/kube-scheduler:v1.35.0
  discovery:
    enabled: true
    registries:
      kubernetes:
        disabled: true
      service: {}
  etcd:
    ca:
      crt: <etcd.crt>
      key: <etcd.key>
";

const HOSTNAME: &str = "\
---
apiVersion: v1alpha1
kind: HostnameConfig
auto: 'off'
hostname: k8s-node-1
";

const LINK: &str = "\
---
apiVersion: v1alpha1
kind: LinkConfig
name: eth0
mtu: 1500
addresses:
  - address: 192.168.1.10/24
routes:
  - gateway: 192.168.1.1
";
