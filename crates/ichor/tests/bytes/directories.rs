//! Seeded talconfig directories: every key that a talconfig can have, in every combination, some of it wrong.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// One directory and what is done in it; the same seed gives the same one.
pub(crate) struct Directory {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) commands: Vec<Vec<String>>,
}

impl Directory {
    pub(crate) fn new(seed: u64) -> Self {
        let mut maker =
            Maker { random: Random(seed), files: BTreeMap::new(), minor: 13, tidy: true };
        maker.tidy = !maker.random.one_in(4);
        maker.minor =
            *maker.random.pick(&[2, 3, 5, 6, 7, 8, 9, 10, 11, 11, 12, 12, 12, 13, 13, 13, 13]);
        let text = maker.talconfig();
        let mut files = maker.files;
        files.insert("talconfig.yaml".to_owned(), text);
        files.insert(
            "talenv.yaml".to_owned(),
            "# variables\nVALUE: from-env\nEMPTYLESS: x\n".to_owned(),
        );
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut generate = words("genconfig --offline-mode -s SECRET");
        let random = &mut maker.random;
        if random.one_in(8) {
            let flag: &&str = random.pick(&[
                "--no-gitignore",
                "--disable-nodes-section",
                "--dry-run",
                "-o out/deep",
                "-m cloud",
                "-m container",
                "-m nowhere",
                "--crt-ttl 1h",
            ]);
            generate.extend(words(flag));
        }
        let mut commands = vec![generate];
        let further = [
            "gencommand apply --extra-flags --insecure",
            "gencommand apply -n n1",
            "gencommand upgrade --offline-mode",
            "gencommand bootstrap",
            "gencommand health",
            "gencommand kubeconfig -n 10.0.0.10",
            "gencommand reset -n nobody",
            "gencommand upgrade-k8s",
            "genurl installer --offline-mode",
            "genurl image --offline-mode -n n0",
            "genurl installer --offline-mode -c none -e siderolabs/a,siderolabs/b -k x=y",
            "validate talconfig",
        ];
        for _ in 0..random.below(3) {
            let line: &&str = random.pick(&further);
            commands.push(words(line));
        }
        let variables = BTreeMap::from([("OUTSIDE".to_owned(), "from-outside".to_owned())]);
        Self { files, variables, commands }
    }
}

struct Maker {
    random: Random,
    files: BTreeMap<String, String>,
    /// Of the release of Talos.
    minor: u32,
    /// Whether nothing in it is wrong on purpose.
    tidy: bool,
}

impl Maker {
    fn talconfig(&mut self) -> String {
        let (least, most) = KUBERNETES[self.minor as usize - 2];
        let kubernetes =
            if self.fault(8) { 20 } else { least + self.random.below(most - least + 1) };
        let mut keys = vec![
            ("clusterName", json!(self.word(&["c1", "home-lab", "prod"]))),
            ("kubernetesVersion", json!(format!("v1.{kubernetes}.1"))),
            (
                "endpoint",
                json!(self.word(&[
                    "https://10.0.0.1:6443",
                    "https://k8s.lan:6443",
                    "https://[fd00::1]:6443",
                    "https://10.0.0.1"
                ])),
            ),
        ];
        if !self.random.one_in(30) || self.minor != 13 {
            let version = format!("v1.{}.0", self.minor);
            let version = if self.random.one_in(4) { version[1..].to_owned() } else { version };
            keys.push(("talosVersion", json!(version)));
        }
        self.sometimes(6, &mut keys, "domain", |m| {
            json!(m.word(&["cluster.local", "a.b.c", "a..b"]))
        });
        self.sometimes(6, &mut keys, "allowSchedulingOnMasters", |_| json!(true));
        self.sometimes(6, &mut keys, "allowSchedulingOnControlPlanes", |m| {
            json!(m.random.one_in(2))
        });
        self.sometimes(4, &mut keys, "additionalMachineCertSans", |m| {
            m.texts(&["m.lan", "10.9.9.9", "fd00::9"])
        });
        self.sometimes(3, &mut keys, "additionalApiServerCertSans", |m| {
            m.texts(&["api.lan", "10.0.0.1", "10.0.0.1"])
        });
        self.sometimes(4, &mut keys, "clusterPodNets", |m| {
            m.texts(&["10.42.0.0/16", "fd00:42::/56", "nope"])
        });
        self.sometimes(4, &mut keys, "clusterSvcNets", |m| {
            m.texts(&["10.43.0.0/16", "fd00:43::/112"])
        });
        self.sometimes(3, &mut keys, "cniConfig", Self::cni);
        self.sometimes(4, &mut keys, "patches", Self::patches);
        self.sometimes(8, &mut keys, "inlineManifests", |m| {
            let contents = m.content("manifest.yaml");
            json!([{ "name": "one", "contents": contents, "skipEnvsubst": m.random.one_in(3) }])
        });
        self.sometimes(10, &mut keys, "imageFactory", |m| match m.random.below(3) {
            0 => json!({ "registryURL": "factory.lan" }),
            1 => json!({ "installerURLTmpl": "{{.RegistryURL}}/x/{{.ID}}:{{.Version}}" }),
            _ => {
                json!({ "protocol": "http", "ISOURLTmpl": "{{.Protocol}}://{{.Arch}}{{.Suffix}}" })
            }
        });
        self.sometimes(10, &mut keys, "unknownKey", |_| json!({ "a": [1, 2] }));
        let groups = [("controlPlane", 2), ("worker", 3)];
        for (group, one_in) in groups {
            if self.random.one_in(one_in) {
                let shared = self.shared(3);
                keys.push((group, Value::Object(shared.into_iter().collect())));
            }
        }
        let mut text = String::from("# yaml-language-server: $schema=nowhere\n");
        for (key, value) in keys {
            let value = self.written(&value);
            text.extend([key, ": ", &value, "\n"]);
        }
        text.push_str("nodes:\n");
        let count = 1 + self.random.below(3);
        for index in 0..count {
            text.push_str(&self.node(index));
        }
        text
    }

    fn node(&mut self, index: u32) -> String {
        let control_plane = index == 0 || self.random.one_in(3);
        let addresses = if self.random.one_in(8) {
            format!("10.0.0.1{index}, 10.1.0.1{index}")
        } else {
            format!("10.0.0.1{index}")
        };
        let mut keys = vec![
            (
                "hostname".to_owned(),
                json!(if self.fault(8) { "a_b".to_owned() } else { format!("n{index}") }),
            ),
            ("ipAddress".to_owned(), json!(addresses)),
            ("controlPlane".to_owned(), json!(control_plane)),
        ];
        match self.random.below(6) {
            0 => keys.push(("installDiskSelector".to_owned(), self.disk_selector())),
            1 => {
                keys.push(("installDisk".to_owned(), json!("/dev/nvme0n1")));
                keys.push(("installDiskSelector".to_owned(), json!({ "model": "WDC*" })));
            }
            _ => keys.push(("installDisk".to_owned(), json!("/dev/sda"))),
        }
        for (key, one_in) in [
            ("ignoreHostname", 8),
            ("overridePatches", 8),
            ("overrideExtraManifests", 12),
            ("overrideMachineCertSANs", 12),
        ] {
            if self.random.one_in(one_in) {
                keys.push((key.to_owned(), json!(!self.random.one_in(4))));
            }
        }
        keys.extend(self.shared(4));
        if self.random.one_in(8) {
            let name = self.word(&[
                "{{ .Hostname }}.yaml",
                "{{ .Role }}/{{ .ClusterName }}-{{ .Hostname }}.yaml",
                "{{ .Nope }}",
            ]);
            keys.push(("filenameTmpl".to_owned(), json!(name)));
        }
        let mut text = String::new();
        for (position, (key, value)) in keys.iter().enumerate() {
            let mark = if position == 0 { "  - " } else { "    " };
            let comment = if self.random.one_in(12) { " # why" } else { "" };
            let value = self.written(value);
            text.extend([mark, key, ": ", &value, comment, "\n"]);
        }
        text
    }

    /// The keys that a machine and its group have, about one in `rarity` of each.
    fn shared(&mut self, rarity: u32) -> Vec<(String, Value)> {
        let mut keys: Vec<(&str, Value)> = Vec::new();
        let r = rarity;
        self.sometimes(r, &mut keys, "nodeLabels", |m| {
            m.map(&[
                ("a.b/c", "d"),
                ("rack", "1"),
                ("tmpl", "{{ .MachineConfig.MachineType }}"),
                ("size", "${VALUE}"),
                ("bad key", "x"),
            ])
        });
        self.sometimes(r * 2, &mut keys, "nodeAnnotations", |m| {
            m.map(&[
                ("note", "some text: here"),
                ("image", "{{ .MachineConfig.MachineInstall.InstallImage }}"),
                ("n", "yes"),
            ])
        });
        self.sometimes(r * 2, &mut keys, "nodeTaints", |m| {
            m.map(&[("dedicated", "gpu:NoSchedule"), ("x", "NoExecute"), ("y", "Never")])
        });
        self.sometimes(r * 5, &mut keys, "machineDisks", |m| {
            let size = m.word(&["10GB", "2GiB", "1.5TB", "1000000000"]);
            json!([{ "device": "/dev/sdb", "partitions": [{ "mountpoint": "/var/a", "size": size }, { "mountpoint": "/var/b" }] }])
        });
        self.sometimes(r * 2, &mut keys, "machineFiles", |m| {
            let content = m.content("file.yaml");
            let op = m.word(&["create", "append", "overwrite", "create", "create", ""]);
            json!([{ "content": content, "path": "/var/etc/x", "permissions": m.random.pick(&[420, 384, 493]), "op": op, "skipEnvsubst": m.random.one_in(3) }])
        });
        self.sometimes(r * 3, &mut keys, "disableSearchDomain", |m| json!(!m.random.one_in(4)));
        self.sometimes(
            r * 2,
            &mut keys,
            "kernelModules",
            |_| json!([{ "name": "nvme" }, { "name": "zfs", "parameters": ["a=1"] }]),
        );
        self.sometimes(r * 2, &mut keys, "nameservers", |m| {
            m.texts(&["1.1.1.1", "fd00::53", "9.9.9.9"])
        });
        self.sometimes(r.min(3), &mut keys, "networkInterfaces", Self::interfaces);
        self.sometimes(r * 6, &mut keys, "extraManifests", |m| {
            m.files.insert("extra.yaml".to_owned(), "# kept\napiVersion: v1alpha1\nkind: KmsgLogConfig\nname: remote # here\nurl: 'tcp://10.0.0.9:514'\n".to_owned());
            json!(["extra.yaml"])
        });
        self.sometimes(r * 2, &mut keys, "certSANs", |m| m.texts(&["n.lan", "10.8.8.8"]));
        self.sometimes(r, &mut keys, "patches", Self::patches);
        self.sometimes(r * 3, &mut keys, "talosImageURL", |m| {
            json!(m.word(&[
                "factory.talos.dev/installer/abc",
                "ghcr.io/siderolabs/installer",
                "installer",
                "ghcr.io/a/b:v1"
            ]))
        });
        self.sometimes(r * 4, &mut keys, "noSchematicValidate", |_| json!(true));
        self.sometimes(r, &mut keys, "schematic", Self::schematic);
        self.sometimes(r * 4, &mut keys, "imageSchematic", Self::schematic);
        self.sometimes(r * 2, &mut keys, "machineSpec", |m| match m.random.below(5) {
            0 => json!({ "secureboot": true, "useUKI": m.random.one_in(2) }),
            1 => json!({ "mode": "nocloud", "arch": "arm64" }),
            2 => json!({ "bootMethod": "disk-image", "imageSuffix": "raw.xz" }),
            3 if !m.tidy => json!({ "bootMethod": "nope", "imageSuffix": "iso" }),
            _ => json!({ "secureboot": false }),
        });
        self.sometimes(r * 3, &mut keys, "ingressFirewall", Self::firewall);
        self.sometimes(r * 3, &mut keys, "extensionServices", |m| {
            let content = m.word(&["a: b\n", "  indented\n  twice\n", "one line"]);
            json!([{ "name": m.word(&["nut", "tailscale", ""]), "configFiles": [{ "content": content, "mountPath": "/usr/local/etc/x" }], "environment": ["A=b", "KEY=${VALUE}"] }])
        });
        self.sometimes(r * 2, &mut keys, "volumes", |m| {
            let mut volume = json!({ "name": m.word(&["EPHEMERAL", "STATE", "IMAGECACHE", "OTHER"]), "provisioning": m.provisioning() });
            if m.random.one_in(2) {
                volume["encryption"] = m.encryption();
            }
            json!([volume])
        });
        self.sometimes(r * 2, &mut keys, "userVolumes", |m| {
            let mut volume =
                json!({ "name": m.word(&["data", "scratch-1"]), "provisioning": m.provisioning() });
            if m.random.one_in(2) {
                volume["filesystem"] =
                    json!({ "type": m.word(&["xfs", "ext4"]), "projectQuotaSupport": m.fault(2) });
            }
            if m.random.one_in(3) {
                volume["encryption"] = m.encryption();
            }
            if m.random.one_in(4) {
                volume["volumeType"] = json!(m.word(&["partition", "disk", "directory"]));
            }
            json!([volume])
        });
        keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn disk_selector(&mut self) -> Value {
        match self.random.below(7) {
            0 => {
                json!({ "size": self.word(&["> 100GB", ">= 1TB", "<= 2TiB", "4GB", "big"]) })
            }
            1 => json!({ "model": "Samsung*", "serial": "S5*" }),
            2 => json!({ "wwid": "nvme.*", "busPath": "/pci0000:00/*" }),
            3 => json!({ "type": self.word(&["nvme", "ssd", "hdd", "sd", "SSD"]) }),
            4 => json!({ "uuid": "1234*", "modalias": "x*" }),
            5 if !self.tidy => json!({ "name": "sda" }),
            _ => json!({}),
        }
    }

    fn cni(&mut self) -> Value {
        match self.random.below(6) {
            0 => json!({ "name": "none" }),
            1 => json!({ "name": "custom", "urls": ["https://a.b/cni.yaml"] }),
            2 => {
                json!({ "name": "flannel", "flannel": { "extraArgs": ["--iface-can-reach=10.0.0.1"] } })
            }
            3 => json!({ "name": "flannel", "flannel": { "kubeNetworkPoliciesEnabled": true } }),
            4 if !self.tidy => json!({ "name": "custom" }),
            _ => json!({ "name": "flannel" }),
        }
    }

    /// Text, or the name of a file with text.
    fn content(&mut self, file: &str) -> String {
        let contents = [
            "a: b\n",
            "# head\nkind: X\nlist: [1, 2]\n",
            "value: ${VALUE}\n",
            "a: |\n  x\n   y\n",
            "plain",
            "a: \"1:30\"\nb: yes\n",
        ];
        let text = (*self.random.pick(&contents)).to_owned();
        if self.random.one_in(2) {
            self.files.insert(file.to_owned(), text);
            return format!("@{}{file}", self.word(&["", "./", " "]));
        }
        text
    }

    fn patches(&mut self) -> Value {
        let inline = [
            "machine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n",
            "machine: {kubelet: {extraArgs: {rotate-server-certificates: 'true'}}}",
            "cluster:\n  proxy:\n    disabled: true\n",
            "machine:\n  time:\n    servers: [time.lan]\n",
            "machine:\n  certSANs:\n    - patched.lan\n",
            "cluster:\n  network:\n    podSubnets: [10.77.0.0/16]\n",
            "machine:\n  nodeLabels:\n    patched: '{{ .MachineConfig.MachineType }}'\n",
            "machine:\n  features:\n    kubePrism:\n      $$patch: delete\n",
            "apiVersion: v1alpha1\nkind: WatchdogTimerConfig\ndevice: /dev/watchdog0\n",
            "- op: add\n  path: /machine/env\n  value: {A: b}\n",
            "[{\"op\": \"add\", \"path\": \"/machine/sysctls\", \"value\": {\"a\": \"1\"}}]",
            "machine:\n  install:\n    extraKernelArgs: [x=y]\n",
            "machine:\n  unknown: 1\n",
        ];
        let files = [
            "# comment\nmachine:\n  sysctls:\n    from.file: \"${VALUE}\"\n",
            "machine:\n  kubelet:\n    extraArgs:\n      v: \"{{ .MachineConfig.MachineType }}\"\n",
            "cluster:\n  apiServer:\n    extraArgs:\n      a: b\n",
            "\n\n",
            "machine:\n  registries:\n    mirrors:\n      docker.io:\n        endpoints: [https://mirror.lan]\n",
            "cluster:\n  controllerManager:\n    $$patch: delete\n",
        ];
        let count = 1 + self.random.below(2);
        let mut patches = Vec::new();
        for _ in 0..count {
            if self.random.one_in(2) {
                let number = self.files.len();
                let name = format!("patches/p{number}.yaml");
                let text = (*self.random.pick(&files)).to_owned();
                self.files.insert(name.clone(), text);
                patches.push(format!("@{}{name}", self.word(&["", "./"])));
            } else {
                let old = self.minor < 12 || !self.tidy;
                // Operations and kernel arguments are for releases with one document.
                let choices = if old { &inline[..] } else { &inline[..9] };
                patches.push(self.word(choices).to_owned());
            }
        }
        if self.fault(8) {
            patches.push("@patches/none.yaml".to_owned());
        }
        json!(patches)
    }

    fn schematic(&mut self) -> Value {
        let extensions =
            self.texts(&["siderolabs/iscsi-tools", "siderolabs/intel-ucode", "siderolabs/nope"]);
        match self.random.below(5) {
            0 => {
                json!({ "customization": { "systemExtensions": { "officialExtensions": extensions } } })
            }
            1 => {
                json!({ "customization": { "extraKernelArgs": ["net.ifnames=0", "-selinux", "console=ttyS0,115200"] } })
            }
            2 => {
                json!({ "overlay": { "name": "rpi_generic", "image": "siderolabs/sbc-raspberrypi", "options": { "b": 1, "a": "yes" } } })
            }
            3 => {
                json!({ "customization": { "meta": [{ "key": 10, "value": "a\nb" }], "bootloader": "sd-boot", "secureboot": { "includeWellKnownCertificates": true } } })
            }
            _ => json!({}),
        }
    }

    fn firewall(&mut self) -> Value {
        let protocol = self.word(&["tcp", "udp", "icmp", "tcp", "quic"]);
        let ports = match self.random.below(4) {
            0 => json!([10250]),
            1 => json!(["100-200", 80]),
            2 if !self.tidy => json!(["200-100"]),
            3 if !self.tidy => json!([]),
            _ => json!([443]),
        };
        let rule = json!({ "name": "r1", "portSelector": { "ports": ports, "protocol": protocol }, "ingress": [{ "subnet": "10.0.0.0/8", "except": "10.1.0.0/16" }] });
        match self.random.below(4) {
            0 => json!({}),
            1 => json!({ "defaultAction": "block" }),
            2 => json!({ "rules": [rule] }),
            _ => json!({ "defaultAction": "accept", "rules": [rule] }),
        }
    }

    fn provisioning(&mut self) -> Value {
        let mut provisioning = json!({});
        if !self.fault(3) {
            provisioning["diskSelector"] = json!({ "match": self.word(&["system_disk", "disk.transport == 'nvme' && !system_disk", "disk.size > 10u * GiB", "disk."]) });
        }
        if !self.fault(3) {
            provisioning["minSize"] = json!(self.word(&["2GB", "10GiB", "2.5GiB"]));
        }
        if self.random.one_in(2) {
            provisioning["maxSize"] = json!(self.word(&["50GiB", "80%", "1GB"]));
        }
        if self.random.one_in(3) {
            provisioning["grow"] = json!(self.random.one_in(2));
        }
        provisioning
    }

    fn encryption(&mut self) -> Value {
        let key = match self.random.below(5) {
            0 => json!({ "slot": 0, "tpm": {} }),
            1 => json!({ "slot": 0, "nodeID": {} }),
            2 => json!({ "slot": 1, "static": { "passphrase": "secret words" } }),
            3 => {
                json!({ "slot": 2, "kms": { "endpoint": "https://kms.lan" }, "lockToState": true })
            }
            _ => {
                json!({ "slot": 0, "tpm": { "checkSecurebootStatusOnEnroll": true, "options": { "pcrs": [7] } } })
            }
        };
        let mut encryption = json!({ "provider": "luks2", "keys": [key] });
        if self.random.one_in(3) {
            encryption["cipher"] = json!("aes-xts-plain64");
            encryption["keySize"] = json!(256);
            encryption["blockSize"] = json!(4096);
            encryption["options"] = json!(["no_read_workqueue"]);
        }
        encryption
    }

    fn interfaces(&mut self) -> Value {
        let count = 1 + self.random.below(2);
        let devices: Vec<Value> = (0..count).map(|index| self.interface(index)).collect();
        json!(devices)
    }

    fn interface(&mut self, index: u32) -> Value {
        let mut device = json!({});
        if self.random.one_in(3) {
            device["deviceSelector"] = match self.random.below(5) {
                0 => json!({ "hardwareAddr": "00:11:22:33:44:5*" }),
                1 => json!({ "driver": "mlx5*", "physical": true }),
                2 => json!({ "busPath": "0000:03:00.*", "physical": false }),
                3 => json!({ "pciID": "8086:*", "permanentAddr": "aa:*" }),
                _ => json!({ "physical": true }),
            };
        } else {
            device["interface"] = json!(format!("eth{index}"));
        }
        let mut add = |maker: &mut Self, one_in: u32, key: &str, value: fn(&mut Self) -> Value| {
            if maker.random.one_in(one_in) {
                device[key] = value(maker);
            }
        };
        add(self, 2, "addresses", |m| {
            m.texts(&["10.0.0.10/24", "fd00::10/64", "10.0.0.11", "10.0.0.300/24"])
        });
        add(self, 3, "routes", Self::routes);
        add(self, 3, "mtu", |m| json!(m.random.pick(&[1500, 9000, 0])));
        add(self, 3, "dhcp", |m| json!(m.random.one_in(2)));
        add(
            self,
            5,
            "dhcpOptions",
            |m| json!({ "routeMetric": m.random.pick(&[0, 1024]), "ipv4": m.random.one_in(2), "ipv6": m.random.one_in(2) }),
        );
        add(self, 5, "vip", |m| json!({ "ip": m.word(&["10.0.0.100", "fd00::100"]) }));
        add(self, 4, "vlans", |m| {
            let mut vlan =
                json!({ "vlanId": if m.fault(4) { 5000 } else { *m.random.pick(&[10, 20, 0]) } });
            if m.random.one_in(2) {
                vlan["addresses"] = m.texts(&["10.10.0.2/24", "fd00:10::2"]);
            }
            if m.random.one_in(3) {
                vlan["dhcp"] = json!(true);
                vlan["dhcpOptions"] = json!({ "routeMetric": 50 });
            }
            if m.random.one_in(3) {
                vlan["routes"] = m.routes();
            }
            if m.random.one_in(4) {
                vlan["mtu"] = json!(1400);
                if !m.tidy || m.minor >= 12 {
                    vlan["vip"] = json!({ "ip": "10.10.0.100" });
                }
            }
            json!([vlan])
        });
        add(self, 5, "bond", Self::bond);
        add(self, 9, "bridge", |m| {
            let mut bridge = json!({ "interfaces": ["eth6", "eth7"] });
            if m.random.one_in(2) {
                bridge["stp"] = json!({ "enabled": m.random.one_in(2) });
                bridge["vlan"] = json!({ "vlanFiltering": m.random.one_in(2) });
            }
            bridge
        });
        add(self, 9, "wireguard", |m| {
            let peer = json!({ "publicKey": KEY, "endpoint": m.word(&["10.0.0.9:51820", "[fd00::9]:51820", "vpn.lan:51820"]), "persistentKeepaliveInterval": m.word(&["25s", "90s"]), "allowedIPs": ["10.8.0.0/24", "fd00:8::/64"] });
            json!({ "privateKey": KEY, "listenPort": m.random.pick(&[51820, 0]), "peers": [peer] })
        });
        add(self, 15, "ignore", |_| json!(true));
        add(self, 15, "dummy", |_| json!(true));
        add(self, 20, "cidr", |_| json!("10.0.0.12/24"));
        if self.tidy {
            // One kind of link, and only what its release takes.
            let object = device.as_object_mut().expect("an object");
            object.remove("cidr");
            let kinds = ["bond", "bridge", "wireguard"];
            let kept = kinds.into_iter().find(|kind| object.contains_key(*kind));
            object.retain(|key, _| !kinds.contains(&key.as_str()) || Some(key.as_str()) == kept);
            if self.minor < 12 {
                object.remove("vip");
            }
        }
        device
    }

    fn bond(&mut self) -> Value {
        let mode =
            self.word(&["802.3ad", "active-backup", "balance-rr", "balance-alb", "", "nope"]);
        let mut bond = json!({ "mode": mode });
        if self.random.one_in(2) {
            bond["interfaces"] = json!(["eth8", "eth9"]);
        } else {
            bond["deviceSelectors"] = json!([{ "hardwareAddr": "00:*" }, { "driver": "x" }]);
        }
        bond["miimon"] = json!(100);
        if self.fault(3) {
            bond["miimon"] = json!(0);
        }
        if mode == "802.3ad" || self.fault(3) {
            bond["lacpRate"] = json!("fast");
            bond["adUserPortKey"] = json!(7);
        }
        if self.fault(3) {
            bond["downdelay"] = json!(150);
        }
        if mode == "active-backup" || self.fault(3) {
            bond["arpValidate"] = json!("none");
        }
        for (key, value) in [
            ("updelay", json!(200)),
            ("xmitHashPolicy", json!("layer3+4")),
            ("useCarrier", json!(false)),
            ("adSelect", json!("bandwidth")),
            ("minLinks", json!(1)),
            ("numPeerNotif", json!(2)),
            ("primaryReselect", json!("always")),
            ("failOverMac", json!("active")),
            ("peerNotifyDelay", json!(5)),
            ("resendIgmp", json!(3)),
        ] {
            if self.random.one_in(4) {
                bond[key] = value;
            }
        }
        bond
    }

    fn routes(&mut self) -> Value {
        let mut route = json!({});
        if !self.random.one_in(4) {
            route["network"] =
                json!(self.word(&["0.0.0.0/0", "::/0", "10.20.0.0/16", "10.20.0.5/16"]));
        }
        if self.tidy || !self.random.one_in(4) {
            route["gateway"] = json!(self.word(&["10.0.0.1", "fd00::1", "gw"]));
        }
        if self.random.one_in(4) {
            route["metric"] = json!(100);
            route["source"] = json!("10.0.0.10");
            route["mtu"] = json!(1400);
        }
        json!([route])
    }

    fn sometimes(
        &mut self,
        one_in: u32,
        keys: &mut Vec<(&'static str, Value)>,
        key: &'static str,
        value: impl FnOnce(&mut Self) -> Value,
    ) {
        if self.random.one_in(one_in) {
            let value = value(self);
            keys.push((key, value));
        }
    }

    /// One of several words; wrong ones only where something may be wrong.
    fn word<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        loop {
            let word = *self.random.pick(choices);
            if !self.tidy || !WRONG.contains(&word) {
                return word;
            }
        }
    }

    /// Whether to do something that is wrong.
    fn fault(&mut self, one_in: u32) -> bool {
        self.random.one_in(one_in) && !self.tidy
    }

    /// Some of the texts, the last ones seldom: they are wrong where there are wrong ones.
    fn texts(&mut self, choices: &[&str]) -> Value {
        let mut texts = Vec::new();
        for (index, choice) in choices.iter().enumerate() {
            let rarity = if index + 1 == choices.len() { 8 } else { 2 };
            if self.random.one_in(rarity) && !(self.tidy && WRONG.contains(choice)) {
                texts.push(*choice);
            }
        }
        json!(texts)
    }

    fn map(&mut self, choices: &[(&str, &str)]) -> Value {
        let mut map = serde_json::Map::new();
        for (index, (key, value)) in choices.iter().enumerate() {
            let rarity = if index + 1 == choices.len() { 12 } else { 2 };
            let is_wrong = WRONG.contains(key) || WRONG.contains(value);
            if self.random.one_in(rarity) && !(self.tidy && is_wrong) {
                map.insert((*key).to_owned(), json!(value));
            }
        }
        Value::Object(map)
    }

    /// A value in brackets and quotes, or plain where it is plain.
    fn written(&mut self, value: &Value) -> String {
        let plain = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/.-".contains(&byte))
                && text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        };
        match value {
            Value::String(text) if plain(text) && self.random.one_in(2) => text.clone(),
            Value::String(text) if !text.contains(['\n', '\'']) && self.random.one_in(2) => {
                format!("'{text}'")
            }
            other => other.to_string(),
        }
    }
}

/// A small generator of numbers that is the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.next() % u64::from(bound)).unwrap_or(0)
    }

    pub(crate) fn one_in(&mut self, bound: u32) -> bool {
        self.below(bound) == 0
    }

    fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let length = u32::try_from(choices.len()).unwrap_or(1);
        &choices[self.below(length) as usize]
    }
}

/// 32 bytes that are nobody's key.
const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// The minor releases of Kubernetes that go with Talos 1.2, 1.3, …
const KUBERNETES: [(u32, u32); 12] = [
    (23, 25),
    (24, 26),
    (25, 27),
    (26, 28),
    (24, 29),
    (25, 30),
    (26, 31),
    (27, 32),
    (28, 33),
    (29, 34),
    (30, 35),
    (31, 36),
];

/// Words that are wrong wherever they stand.
const WRONG: &[&str] = &[
    "",
    "10.0.0.300/24",
    "200-100",
    "Never",
    "OTHER",
    "SSD",
    "a..b",
    "bad key",
    "big",
    "disk.",
    "ghcr.io/a/b:v1",
    "gw",
    "installer",
    "machine:\n  unknown: 1\n",
    "nope",
    "quic",
    "siderolabs/nope",
    "{{ .Nope }}",
];
