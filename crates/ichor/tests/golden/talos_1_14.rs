//! Talos 1.14: what a talconfig says, said to talosctl 1.14.1 instead, as flags and patches.
//!
//! talhelper 3.1.15 was built with a preview of 1.14, so that it cannot be the judge here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use talos_config::SourceId;
use talos_config::yaml::{self, Limits};
use testkit::peers;

use crate::directories::Random;
use crate::sandbox::{Said, Sandbox, secrets};

#[test]
#[ignore = "level golden: needs talosctl 1.14.1 (cargo xtask test)"]
fn seeded_talconfigs_come_out_as_talosctl_lays_them_out() {
    let talosctl = peers::program("talosctl-1.14.1");
    let mut complaints = Vec::new();
    for seed in testkit::seeds(60) {
        let case = Case::new(seed);
        let ours = case.by_us();
        let theirs = case.by(&talosctl);
        if ours != theirs {
            complaints.push(format!(
                "seed {seed} (ICHOR_SEED={seed} ICHOR_CASES=1)\n{}",
                crate::parting(&ours, &theirs)
            ));
        }
    }
    assert!(complaints.is_empty(), "{} differences\n{}", complaints.len(), complaints.join("\n"));
}

/// One machine, said in two ways.
struct Case {
    talconfig: Value,
    /// Arguments of `talosctl gen config`.
    arguments: Vec<String>,
    /// What is laid over that, in its order.
    patches: Vec<String>,
    control_plane: bool,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut maker = Maker::new(seed);
        maker.cluster();
        maker.workloads();
        maker.node();
        maker.documents();
        maker.own_patches();
        let Maker { mut cluster, node, arguments, patches, control_plane, .. } = maker;
        cluster["nodes"] = json!([node]);
        Self { talconfig: cluster, arguments, patches, control_plane }
    }

    fn by_us(&self) -> String {
        let text = serde_json::to_string_pretty(&self.talconfig).expect("JSON");
        let sandbox = Sandbox::new(&BTreeMap::from([("talconfig.yaml".to_owned(), text)]));
        let mut said = Said::default();
        let words = "talhelper genconfig --offline-mode -s SECRET -o .";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let program = Path::new(env!("CARGO_BIN_EXE_ichor"));
        sandbox.run(program, &words, &BTreeMap::new(), "", &mut said);
        let made = fs_err::read_to_string(sandbox.work().join("c1-n1.yaml"));
        made.unwrap_or_else(|_| panic!("{:#}\n{}{}", self.talconfig, said.stdout, said.stderr))
    }

    /// What talosctl makes of it, in the layout of talhelper: the same, indented by two.
    fn by(&self, talosctl: &Path) -> String {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("machine.yaml");
        let role = if self.control_plane { "controlplane" } else { "worker" };
        let mut generate = Command::new(talosctl);
        generate.args(["gen", "config", "c1", "https://10.0.0.1:6443", "--talos-version", "v1.14"]);
        generate.args([
            "--with-docs=false",
            "--with-examples=false",
            "--kubernetes-version",
            "1.36.1",
        ]);
        generate.arg("--with-secrets").arg(secrets().join("talsecret.yaml"));
        generate.args(["--output-types", role]).arg("--output").arg(&file).args(&self.arguments);
        run(generate);
        let mut patch = Command::new(talosctl);
        patch.args(["machineconfig", "patch"]).arg(&file).arg("--output").arg(&file);
        for (index, text) in self.patches.iter().enumerate() {
            let path: PathBuf = folder.path().join(format!("{index}.yaml"));
            fs_err::write(&path, text).expect("a patch");
            patch.arg("--patch").arg(format!("@{}", path.display()));
        }
        run(patch);
        let text = fs_err::read_to_string(&file).expect("what talosctl wrote");
        let documents = yaml::parse(&text, SourceId::default(), Limits::default());
        yaml::rewrite(&documents.unwrap_or_else(|error| panic!("{error}")), 2, true)
    }
}

fn run(mut command: Command) {
    let output = command.output().expect("talosctl runs");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

struct Maker {
    random: Random,
    cluster: Value,
    node: Value,
    arguments: Vec<String>,
    patches: Vec<String>,
    control_plane: bool,
    schedulable: bool,
}

impl Maker {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let control_plane = !random.one_in(3);
        Self {
            random,
            cluster: json!({
                "clusterName": "c1",
                "talosVersion": "v1.14.1",
                "kubernetesVersion": "v1.36.1",
                "endpoint": "https://10.0.0.1:6443",
            }),
            node: json!({ "hostname": "n1", "ipAddress": "10.0.0.11", "controlPlane": control_plane }),
            arguments: Vec::new(),
            patches: Vec::new(),
            control_plane,
            schedulable: false,
        }
    }

    /// What is the same for all machines.
    fn cluster(&mut self) {
        if self.random.one_in(3) {
            self.cluster["domain"] = json!("a.lan");
            self.arguments.extend(["--dns-domain".to_owned(), "a.lan".to_owned()]);
        }
        for (key, field, nets) in [
            ("clusterPodNets", "podSubnets", json!(["10.42.0.0/16"])),
            ("clusterSvcNets", "serviceSubnets", json!(["10.43.0.0/16"])),
        ] {
            if self.random.one_in(2) {
                self.cluster[key] = nets.clone();
                self.document("KubeNetworkConfig", &json!({ field: nets }));
            }
        }
        if self.random.one_in(3) {
            self.cluster["additionalMachineCertSans"] = json!(["m.lan"]);
            self.patch(&json!({ "machine": { "certSANs": ["m.lan"] } }));
        }
        if self.random.one_in(3) {
            self.cluster["additionalApiServerCertSans"] = json!(["api.lan", "10.9.9.9"]);
            if self.control_plane {
                self.document(
                    "KubeAPIServerConfig",
                    &json!({ "certExtraSANs": ["api.lan", "10.9.9.9"] }),
                );
            }
        }
        if self.random.one_in(3) {
            self.schedulable = true;
            self.cluster["allowSchedulingOnControlPlanes"] = json!(true);
            if self.control_plane {
                let taint = json!({ CONTROL_PLANE: { "$patch": "delete" } });
                self.document("KubeNodeConfig", &json!({ "taints": taint }));
            }
        }
    }

    /// What a machine is, and what it is installed from.
    fn node(&mut self) {
        let image = "factory.talos.dev/installer/0123";
        self.node["talosImageURL"] = json!(image);
        self.arguments.extend(["--install-image".to_owned(), format!("{image}:v1.14.1")]);
        self.arguments.extend(["--install-disk".to_owned(), "/dev/vda".to_owned()]);
        if self.random.one_in(3) {
            self.node["installDiskSelector"] = json!({ "model": "WDC*", "type": "ssd" });
            let expression = "glob(\"WDC*\", disk.model) && disk.transport != \"\" && !disk.rotational && \
                              !disk.readonly && !disk.cdrom";
            let selector = json!({ "diskSelector": { "match": expression } });
            self.document("UnattendedInstallConfig", &json!({ "provisioning": selector }));
        } else {
            self.node["installDisk"] = json!("/dev/vda");
        }
        if self.random.one_in(2) {
            self.node["nodeLabels"] = json!({ "rack": "1" });
            let mut labels = json!({ "rack": "1" });
            if self.control_plane {
                labels[EXCLUDED] = json!({ "$patch": "delete" });
            }
            self.document("KubeNodeConfig", &json!({ "labels": labels }));
        }
        if self.random.one_in(3) {
            self.node["nodeAnnotations"] = json!({ "a.lan/b": "c" });
            self.document("KubeNodeConfig", &json!({ "annotations": { "a.lan/b": "c" } }));
        }
        if self.random.one_in(3) {
            self.node["nodeTaints"] = json!({ "a": "b:NoExecute" });
            self.document("KubeNodeConfig", &json!({ "taints": { "a": "b:NoExecute" } }));
        }
        if self.random.one_in(3) {
            self.node["certSANs"] = json!(["n1.lan"]);
            self.patch(&json!({ "machine": { "certSANs": ["n1.lan"] } }));
        }
        if self.random.one_in(4) {
            let modules = json!([{ "name": "nbd", "parameters": ["a=b"] }]);
            self.node["kernelModules"] = modules.clone();
            self.patch(&json!({ "machine": { "kernel": { "modules": modules } } }));
        }
    }

    /// The network between pods, and manifests.
    fn workloads(&mut self) {
        let flannel = "apiVersion: v1alpha1\nkind: KubeFlannelCNIConfig\n$patch: delete\n";
        let url = "https://x.lan/cni.yaml";
        match self.random.below(4) {
            0 => {
                self.cluster["cniConfig"] = json!({ "name": "none" });
                if self.control_plane {
                    self.patches.push(flannel.to_owned());
                }
            }
            1 => {
                self.cluster["cniConfig"] = json!({ "name": "custom", "urls": [url] });
                if self.control_plane {
                    self.patches.push(flannel.to_owned());
                    self.document(
                        "KubeExternalManifestConfig",
                        &json!({ "name": "custom-cni", "url": url }),
                    );
                }
            }
            _ => {}
        }
        if self.random.one_in(2) {
            let manifest = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x\n";
            self.cluster["inlineManifests"] = json!([{ "name": "x", "contents": manifest }]);
            if self.control_plane {
                self.document(
                    "KubeInlineManifestConfig",
                    &json!({ "name": "x", "manifest": manifest }),
                );
            }
        }
    }

    /// What has documents in every release that has documents.
    fn documents(&mut self) {
        if self.random.one_in(2) {
            self.node["nameservers"] = json!(["10.0.0.53"]);
            let servers = json!([{ "address": "10.0.0.53" }]);
            let search = json!({ "disableDefault": false });
            self.document(
                "ResolverConfig",
                &json!({ "nameservers": servers, "searchDomains": search }),
            );
        }
        if self.random.one_in(4) {
            self.node["ignoreHostname"] = json!(true);
        } else {
            self.document("HostnameConfig", &json!({ "auto": "off", "hostname": "n1" }));
        }
        if self.random.one_in(4) {
            let rule = json!({
                "name": "ssh",
                "portSelector": { "ports": [22], "protocol": "tcp" },
                "ingress": [{ "subnet": "10.0.0.0/8" }],
            });
            self.node["ingressFirewall"] =
                json!({ "defaultAction": "block", "rules": [rule.clone()] });
            self.document("NetworkDefaultActionConfig", &json!({ "ingress": "block" }));
            self.document("NetworkRuleConfig", &rule);
        }
        if self.random.one_in(4) {
            let volume = json!({
                "name": "data",
                "provisioning": { "diskSelector": { "match": "!system_disk" }, "maxSize": "50GiB" },
            });
            self.node["userVolumes"] = json!([volume.clone()]);
            self.document("UserVolumeConfig", &volume);
        }
        if self.random.one_in(2) {
            let routes = json!([{ "network": "0.0.0.0/0", "gateway": "10.0.0.254" }]);
            let device = json!({ "interface": "eth0", "addresses": ["10.0.0.11/24"], "routes": routes, "mtu": 9000 });
            self.node["networkInterfaces"] = json!([device]);
            let link = json!({
                "name": "eth0",
                "mtu": 9000,
                "addresses": [{ "address": "10.0.0.11/24" }],
                "routes": [{ "gateway": "10.0.0.254" }],
            });
            self.document("LinkConfig", &link);
        }
    }

    /// Patches of the talconfig itself: of the machine, and for all.
    fn own_patches(&mut self) {
        let lists = [
            ("node", json!({ "machine": { "sysctls": { "a": "1", "b": "2" } } })),
            (
                "node",
                json!({ "apiVersion": "v1alpha1", "kind": "KubeletConfig", "extraArgs": { "v": "2" } }),
            ),
            ("all", json!({ "machine": { "sysctls": { "a": "3" } } })),
        ];
        for (whose, patch) in lists {
            if self.random.one_in(2) {
                let holder = if whose == "node" { &mut self.node } else { &mut self.cluster };
                let text = patch.to_string();
                match holder["patches"].as_array_mut() {
                    Some(list) => list.push(json!(text)),
                    None => holder["patches"] = json!([text]),
                }
                self.patches.push(text);
            }
        }
    }

    fn document(&mut self, kind: &str, fields: &Value) {
        let mut document = json!({ "apiVersion": "v1alpha1", "kind": kind });
        for (key, value) in fields.as_object().into_iter().flatten() {
            document[key] = value.clone();
        }
        self.patch(&document);
    }

    fn patch(&mut self, patch: &Value) {
        self.patches.push(patch.to_string());
    }
}

const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";
const EXCLUDED: &str = "node.kubernetes.io/exclude-from-external-load-balancers";
