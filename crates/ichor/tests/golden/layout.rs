//! The layout of another release: what talosctl writes for one contract, laid out as another one, is what it writes
//! for that one.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use talos_config::yaml::Dialect;
use talos_config::{Config, SourceId};
use tempfile::TempDir;
use testkit::peers;

use crate::directories::Random;
use crate::sandbox::secrets;

#[test]
#[ignore = "level golden: needs talosctl 1.14.1 (cargo xtask test)"]
fn what_is_laid_out_for_a_release_is_what_talosctl_writes_for_it() {
    for seed in testkit::seeds(24) {
        let case = Case::new(seed);
        for (older, newer) in [("v1.13", "v1.14"), ("v1.11", "v1.12"), ("v1.12", "v1.13")] {
            let (old, new) = (case.generate(older, None), case.generate(newer, None));
            let (ours, theirs) = (parts(&case.lay_out(&old, newer)), without_defaults(&new, older));
            same(&ours, &theirs, &format!("seed {seed}: {older} as {newer}"));
        }
        let (old, new) = (case.generate("v1.13", None), case.generate("v1.14", None));
        let back = parts(&case.lay_out(&new, "v1.13"));
        same(&without_newer(&back), &parts(&old), &format!("seed {seed}: v1.14 as v1.13"));
    }
}

/// Everything that a person may have written in the oldest document: it comes back, and talosctl accepts what it has
/// become.
#[test]
#[ignore = "level golden: needs talosctl 1.14.1 (cargo xtask test)"]
fn what_is_laid_out_anew_is_valid_and_comes_back() {
    let talosctl = peers::program("talosctl-1.14.1");
    for seed in testkit::seeds(24) {
        let case = Case::new(seed);
        let old = case.generate("v1.13", Some(WRITTEN));
        let newer = case.lay_out(&old, "v1.14");
        let file = case.folder.path().join("newer.yaml");
        fs_err::write(&file, &newer).expect("a file");
        let mut validate = Command::new(&talosctl);
        validate.args(["validate", "--mode", "metal", "--config"]).arg(&file);
        let output = validate.output().expect("talosctl runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "seed {seed}: {said}\n{newer}");
        let before = parts(&case.lay_out(&old, "v1.13"));
        assert!(before.contains_key("VLANConfig/eth0.5"), "interfaces have become documents");
        let back = parts(&case.lay_out(&newer, "v1.13"));
        same(&back, &before, &format!("seed {seed}: there and back"));
    }
}

/// The documents of a configuration by their names.
type Parts = BTreeMap<String, String>;

struct Case {
    folder: TempDir,
    arguments: Vec<&'static str>,
    role: &'static str,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut arguments = vec!["--install-disk", "/dev/vda"];
        for words in [
            &["--additional-sans", "a.lan,10.9.9.9"][..],
            &["--dns-domain", "b.lan"],
            &["--with-kubespan"],
            &["--registry-mirror", "docker.io=https://m.lan,docker.io=https://n.lan"],
            &["--install-image", "factory.talos.dev/installer/0123:v1.13.0"],
        ] {
            if random.one_in(2) {
                arguments.extend(words);
            }
        }
        // The encrypted network needs discovery.
        if !arguments.contains(&"--with-kubespan") && random.one_in(2) {
            arguments.push("--with-cluster-discovery=false");
        }
        let role = if random.one_in(3) { "worker" } else { "controlplane" };
        let folder = tempfile::tempdir().expect("a directory");
        Self { folder, arguments, role }
    }

    /// What talosctl writes for a contract.
    fn generate(&self, contract: &str, patch: Option<&str>) -> String {
        let file = self.folder.path().join("generated.yaml");
        let mut command = Command::new(peers::program("talosctl-1.14.1"));
        command.args(["gen", "config", "c1", "https://10.0.0.1:6443", "--force"]);
        command.args(["--talos-version", contract, "--kubernetes-version", "1.34.1"]);
        command.args(["--with-docs=false", "--with-examples=false", "--output-types", self.role]);
        command.arg("--with-secrets").arg(secrets().join("talsecret.yaml"));
        command.arg("--output").arg(&file).args(&self.arguments);
        if let Some(patch) = patch {
            command.args(["--config-patch", patch]);
        }
        if self.role == "controlplane" && patch.is_some() {
            command.args(["--config-patch", CONTROL_PLANE]);
        }
        let output = command.output().expect("talosctl runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs_err::read_to_string(&file).expect("what talosctl wrote")
    }

    /// What we make of it for another contract.
    fn lay_out(&self, text: &str, contract: &str) -> String {
        let file = self.folder.path().join("before.yaml");
        fs_err::write(&file, text).expect("a file");
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_ichor")));
        command.arg("patch").arg(&file).args(["--layout", contract]);
        let output = command.output().expect("ichor runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn parts(text: &str) -> Parts {
    let config = Config::parse(text, SourceId(1)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let documents = config.documents().iter();
    let parts = documents.map(|document| {
        let one = Config::new(vec![document.clone()]).unwrap_or_else(|error| panic!("{error}"));
        (document.id(), one.encode(Dialect::default()).into_exposed())
    });
    parts.collect()
}

/// What talosctl writes for a contract, without what machines of the one before did not do.
fn without_defaults(text: &str, older: &str) -> Parts {
    let text = match older {
        // Since 1.12 the kernel's command line comes from the image.
        "v1.11" => text.replace("        grubUseUKICmdline: true\n", ""),
        _ => text.to_owned(),
    };
    let mut parts = parts(&text);
    if older == "v1.13" {
        parts.retain(|id, _| !NEW_IN_14.contains(&id.as_str()));
    }
    if let ("v1.11", Some(legacy)) = (older, parts.get_mut("v1alpha1")) {
        // The host of the endpoint is among the names in any case, and was written until then.
        let host = "        certSANs:\n            - 10.0.0.1\n";
        let given = "        certSANs:\n            - a.lan\n";
        if let Some(at) = legacy.find("    apiServer:\n") {
            let rest = legacy.split_off(at);
            let rest = if rest.contains(given) {
                rest.replacen(given, &format!("{host}            - a.lan\n"), 1)
            } else {
                let image =
                    rest.find("image: ").and_then(|at| Some(at + rest[at..].find('\n')? + 1));
                let (before, after) = rest.split_at(image.expect("an image"));
                format!("{before}{host}{after}")
            };
            legacy.push_str(&rest);
        }
    }
    parts
}

/// What is laid out for an older release, without what only the newer one knows.
fn without_newer(parts: &Parts) -> Parts {
    let mut parts = parts.clone();
    parts.retain(|id, _| !NEW_IN_14.contains(&id.as_str()));
    parts
}

/// Documents that make a machine of 1.14 do something that it did not do before.
const NEW_IN_14: [&str; 4] = [
    "FilesystemTrimConfig",
    "KubeAuthenticationConfig",
    "SecurityProfileConfig",
    "VolumeConfig/EPHEMERAL",
];

fn same(ours: &Parts, theirs: &Parts, what: &str) {
    for id in ours.keys().chain(theirs.keys()) {
        let text = |parts: &Parts| parts.get(id).cloned().unwrap_or_default();
        let (ours, theirs) = (text(ours), text(theirs));
        assert!(ours == theirs, "{what}: {id}\n{}", crate::parting(&ours, &theirs));
    }
}

const WRITTEN: &str = r#"
machine:
  env: {A: b}
  sysctls: {c: d}
  sysfs: {e: f}
  udev: {rules: [g]}
  kernel: {modules: [{name: nbd, parameters: [h=i]}, {name: br_netfilter}]}
  time: {servers: [10.0.0.2], bootTimeout: 1m0s}
  nodeAnnotations: {j: k}
  nodeTaints: {l: "m:NoSchedule"}
  kubelet:
    extraArgs: {v: "2"}
    extraConfig: {maxPods: 99}
    nodeIP: {validSubnets: [10.0.0.0/24]}
  features:
    imageCache: {localEnabled: true}
  pods:
    - {apiVersion: v1, kind: Pod, metadata: {name: n}, spec: {containers: []}}
  network:
    interfaces:
      - interface: eth0
        addresses: [10.0.0.9/24]
        routes: [{network: 0.0.0.0/0, gateway: 10.0.0.1}]
        vlans: [{vlanId: 5, dhcp: true}]
    nameservers: [10.0.0.3]
    searchDomains: [o.lan]
    extraHostEntries: [{ip: 10.0.0.4, aliases: [p.lan]}]
"#;

const CONTROL_PLANE: &str = r#"
machine:
  nodeLabels: {q: r}
  features:
    kubernetesTalosAPIAccess: {enabled: true, allowedRoles: ["os:reader"], allowedKubernetesNamespaces: [s]}
cluster:
  allowSchedulingOnControlPlanes: true
  network: {cni: {name: none}}
  proxy: {disabled: true}
  apiServer: {extraArgs: {t: u}, env: {V: w}}
  scheduler: {config: {x: y}}
  inlineManifests: [{name: z, contents: "apiVersion: v1\nkind: Namespace\n"}]
  extraManifests: [https://x.lan/a.yaml]
"#;
