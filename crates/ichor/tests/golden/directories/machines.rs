//! The keys that a machine and its group have, but for the network.

use serde_json::{Map, Value, json};

use super::{Key, Maker};

impl Maker {
    /// The keys that a machine and its group have, about one in `rarity` of each.
    pub(super) fn shared(&mut self, rarity: u32) -> Map<String, Value> {
        let r = rarity;
        let mut keys = Map::new();
        for (key, times, table) in MAPS {
            self.sometimes(r * times, &mut keys, key, |maker| maker.map(table));
        }
        for (key, times, texts) in VALUES {
            self.sometimes(r * times, &mut keys, key, |maker| maker.one_of(texts));
        }
        self.sometimes(r * 5, &mut keys, "machineDisks", Self::disks);
        self.sometimes(r * 2, &mut keys, "machineFiles", Self::machine_files);
        self.sometimes(r * 2, &mut keys, "kernelModules", |maker| {
            maker.list(|maker, index| {
                let name = ["nvme", "zfs"][index as usize];
                let mut module = json!({ "name": name });
                if maker.often(2) {
                    module["parameters"] = maker.one_of(&["[]", r#"["a=1"]"#, r#"["a=1", "b"]"#]);
                }
                module
            })
        });
        self.sometimes(r.min(3), &mut keys, "networkInterfaces", |maker| {
            maker.list(Self::interface)
        });
        self.sometimes(r * 5, &mut keys, "extraManifests", |maker| {
            maker.list(|maker, _| json!(maker.manifest()))
        });
        self.sometimes(r, &mut keys, "patches", Self::patches);
        self.sometimes(r, &mut keys, "schematic", Self::schematic);
        self.sometimes(r * 3, &mut keys, "imageSchematic", Self::schematic);
        // Each of these makes documents of its own, even before 1.12.
        if !self.operations {
            self.sometimes(r * 3, &mut keys, "ingressFirewall", Self::firewall);
            self.sometimes(r * 3, &mut keys, "extensionServices", |maker| {
                maker.list(Self::service)
            });
            self.sometimes(r * 2, &mut keys, "volumes", Self::volumes);
            self.sometimes(r * 2, &mut keys, "userVolumes", |maker| maker.list(Self::user_volume));
        }
        keys
    }

    fn sometimes(
        &mut self,
        one_in: u32,
        keys: &mut Map<String, Value>,
        key: &str,
        value: impl FnOnce(&mut Self) -> Value,
    ) {
        if self.often(one_in) {
            let value = value(self);
            keys.insert(key.to_owned(), value);
        }
    }

    /// Some of the entries of a table.
    fn map(&mut self, table: &[(&str, &str)]) -> Value {
        let mut map = Map::new();
        for (key, value) in table {
            if self.random.one_in(2) {
                map.insert((*key).to_owned(), json!(value));
            }
        }
        Value::Object(map)
    }

    fn disks(&mut self) -> Value {
        self.list(|maker, disk| {
            let partitions = maker.list(|maker, index| {
                let mut partition = json!({ "mountpoint": format!("/var/{disk}/{index}") });
                // Only the last one may take what is left.
                if index == 0 || maker.random.one_in(2) {
                    partition["size"] = maker.one_of(DISK_SIZES);
                }
                partition
            });
            json!({ "device": format!("/dev/sd{disk}"), "partitions": partitions })
        })
    }

    fn machine_files(&mut self) -> Value {
        self.list(|maker, index| {
            let mut file = maker.object(FILE);
            file["content"] = json!(maker.content());
            file["path"] = json!(format!("/var/etc/x{index}"));
            file
        })
    }

    /// Text, or the name of a file with text.
    pub(super) fn content(&mut self) -> String {
        if self.random.one_in(2) {
            return (*self.random.pick(CONTENTS)).to_owned();
        }
        let (ending, text) = *self.random.pick(CONTENTS_OF_FILES);
        let name = format!("files/f{}.{ending}", self.files.len());
        self.files.insert(name.clone(), text.to_owned());
        format!("@{}{name}", self.random.pick(&["", "./", " "]))
    }

    fn schematic(&mut self) -> Value {
        let mut schematic = self.object(SCHEMATIC);
        // Talos has overlays since 1.7.
        if self.minor >= 7 && self.often(5) {
            schematic["overlay"] = self.one_of(OVERLAYS);
        }
        if !self.random.one_in(5) {
            let mut customization = self.object(CUSTOMIZATION);
            if self.often(4) {
                customization["meta"] = self.list(
                    |maker, index| json!({ "key": 10 + index, "value": *maker.random.pick(META) }),
                );
            }
            schematic["customization"] = customization;
        }
        schematic
    }

    fn firewall(&mut self) -> Value {
        let mut firewall = self.object(FIREWALL);
        if !self.random.one_in(4) {
            firewall["rules"] = self.list(|maker, index| {
                let mut rule = json!({ "name": format!("rule-{index}") });
                rule["portSelector"] = maker.object(PORT_SELECTOR);
                if !maker.random.one_in(4) {
                    rule["ingress"] = maker.list(|maker, _| maker.one_of(INGRESS));
                }
                rule
            });
        }
        firewall
    }

    fn service(&mut self, index: u32) -> Value {
        let name = ["nut", "tailscale"][index as usize];
        let mut files = self.list(|maker, index| {
            let content = *maker.random.pick(CONTENTS);
            json!({ "content": content, "mountPath": format!("/usr/local/etc/x{index}") })
        });
        let mut environment = self.one_of(&["[]", r#"["A=b"]"#, r#"["A=b", "KEY=${VALUE}"]"#]);
        // One of the two has to say something.
        if files == json!([]) && environment == json!([]) {
            environment = json!(["A=b"]);
        }
        if files == json!([]) && self.random.one_in(2) {
            files = Value::Null;
        }
        json!({ "name": name, "configFiles": files, "environment": environment })
    }

    fn volumes(&mut self) -> Value {
        let first = self.random.below(3);
        self.list(|maker, index| {
            let name = ["EPHEMERAL", "IMAGECACHE", "STATE"][(first + index) as usize % 3];
            let mut volume = json!({ "name": name });
            // STATE is where Talos wants it.
            if name != "STATE" && !maker.random.one_in(4) {
                volume["provisioning"] = maker.object(PROVISIONING);
            }
            if maker.often(2) {
                volume["encryption"] = maker.encryption(name == "STATE");
            }
            volume
        })
    }

    fn user_volume(&mut self, index: u32) -> Value {
        let mut volume = json!({ "name": format!("data-{index}") });
        match self.random.below(6) {
            0 => {
                volume["volumeType"] = json!("directory");
                return volume;
            }
            1 => {
                volume["volumeType"] = json!("disk");
                volume["provisioning"] = json!({ "diskSelector": { "match": "!system_disk" } });
            }
            kind => {
                if kind < 4 {
                    volume["volumeType"] = json!("partition");
                }
                volume["provisioning"] = self.object(PROVISIONING);
                volume["provisioning"]["diskSelector"] = json!({ "match": "!system_disk" });
                volume["provisioning"]["minSize"] = self.one_of(LEAST_SIZES);
            }
        }
        if self.often(2) {
            volume["filesystem"] = self.one_of(FILESYSTEMS);
        }
        if self.often(3) {
            volume["encryption"] = self.encryption(false);
        }
        volume
    }

    fn encryption(&mut self, of_state: bool) -> Value {
        let mut encryption = self.object(ENCRYPTION);
        let count = 1 + self.random.below(2);
        let mut keys = Vec::new();
        for slot in 0..count {
            let mut key = self.one_of(ENCRYPTION_KEYS);
            key["slot"] = json!(slot);
            if !of_state && self.random.one_in(3) {
                key["lockToState"] = json!(self.random.one_in(2));
            }
            keys.push(key);
        }
        encryption["keys"] = json!(keys);
        encryption
    }
}

/// Keys and values of a map.
type Entries = &'static [(&'static str, &'static str)];

/// Maps, and how much seldomer than others they are.
const MAPS: &[(&str, u32, Entries)] = &[
    (
        "nodeLabels",
        1,
        &[
            ("a.b/c", "d"),
            ("rack", "1"),
            ("tmpl", "{{ .MachineConfig.MachineType }}"),
            ("size", "${VALUE}"),
            ("empty", ""),
            ("word", "yes"),
        ],
    ),
    (
        "nodeAnnotations",
        2,
        &[
            ("note", "some text: here"),
            ("image", "{{ .MachineConfig.MachineInstall.InstallImage }}"),
            ("n", "yes"),
            ("lines", "one\ntwo\n"),
            ("json", "{\"a\": [1, 2]} # no comment"),
            ("time", "12:30"),
        ],
    ),
    (
        "nodeTaints",
        2,
        &[("dedicated", "gpu:NoSchedule"), ("x", "NoExecute"), ("y", ":PreferNoSchedule")],
    ),
];

/// The same for other values, as JSON.
const VALUES: &[Key] = &[
    ("disableSearchDomain", 3, &["true", "true", "false"]),
    ("nameservers", 2, &["[]", r#"["1.1.1.1"]"#, r#"["9.9.9.9", "fd00::53"]"#]),
    ("certSANs", 2, &["[]", r#"["n.lan"]"#, r#"["10.8.8.8", "fd00::8"]"#]),
    (
        "talosImageURL",
        3,
        &[
            r#""factory.talos.dev/installer/abc""#,
            r#""ghcr.io/siderolabs/installer""#,
            r#""localhost:5000/x""#,
        ],
    ),
    ("noSchematicValidate", 4, &["true", "true", "false"]),
    (
        "machineSpec",
        2,
        &[
            r#"{"secureboot": true}"#,
            r#"{"secureboot": true, "useUKI": true}"#,
            r#"{"secureboot": false, "useUKI": true}"#,
            r#"{"mode": "nocloud", "arch": "arm64"}"#,
            r#"{"bootMethod": "iso", "imageSuffix": "iso"}"#,
            r#"{"bootMethod": "iso"}"#,
            r#"{"imageSuffix": "iso"}"#,
            r#"{"bootMethod": "pxe"}"#,
            r#"{"bootMethod": "pxe", "imageSuffix": ""}"#,
            r#"{"bootMethod": "disk-image"}"#,
            r#"{"bootMethod": "disk-image", "imageSuffix": "raw.zst"}"#,
            r#"{"bootMethod": "disk-image", "imageSuffix": "raw.xz", "mode": "aws"}"#,
            r#"{"bootMethod": "disk-image", "imageSuffix": "raw.tar.gz"}"#,
            r#"{"bootMethod": "disk-image", "imageSuffix": "vhd.xz"}"#,
            r#"{"bootMethod": "disk-image", "imageSuffix": "raw.gz"}"#,
            r#"{"bootMethod": "disk-image", "imageSuffix": "ova"}"#,
            r#"{"bootMethod": "disk-image", "imageSuffix": "qcow2", "secureboot": true}"#,
        ],
    ),
    (
        "filenameTmpl",
        3,
        &[
            r#""{{ .Hostname }}.yaml""#,
            r#""{{ .Role }}/{{ .ClusterName }}-{{ .Hostname }}.yaml""#,
            r#""{{ .ClusterName }}_{{ .Hostname }}_{{ .IPAddress }}.yml""#,
            r#""{{ if eq .Role \"worker\" }}w{{ else }}c{{ end }}-{{ .Hostname }}""#,
        ],
    ),
];

pub(super) const DISK_SELECTORS: &[&str] = &[
    "{}",
    r#"{"size": "> 100GB"}"#,
    r#"{"size": ">= 1TB", "name": ""}"#,
    r#"{"size": "<= 2TiB"}"#,
    r#"{"size": "< 500 MB"}"#,
    r#"{"size": "== 1.5GiB"}"#,
    r#"{"size": "4GB"}"#,
    r#"{"model": "Samsung*", "serial": "S5*"}"#,
    r#"{"wwid": "nvme.*", "busPath": "/pci0000:00/*"}"#,
    r#"{"type": "nvme"}"#,
    r#"{"type": "ssd"}"#,
    r#"{"type": "hdd"}"#,
    r#"{"type": "sd"}"#,
    r#"{"uuid": "1234*", "modalias": "x*"}"#,
];

const DISK_SIZES: &[&str] =
    &[r#""10GB""#, r#""2GiB""#, r#""1.5TB""#, r#""1000000000""#, "1000000000"];

const FILE: &[Key] = &[
    ("op", 1, &[r#""create""#, r#""append""#, r#""overwrite""#]),
    ("permissions", 2, &["420", "384", "493"]),
    ("skipEnvsubst", 2, &["true", "false"]),
];

const CONTENTS: &[&str] = &[
    "a: b\n",
    "# head\nkind: X\nlist: [1, 2]\n",
    "value: ${VALUE}\n",
    "a: |\n  x\n   y\n",
    "one line",
    "  indented\n  twice\n",
    "[section]\nkey = \"value\"\n\n[other]\nkey = 'x' # no comment\n",
];

/// What files hold, with the ending that says how they are looked at.
const CONTENTS_OF_FILES: &[(&str, &str)] = &[
    ("yaml", "a: b\n"),
    ("yaml", "# head\nkind: X\nlist: [1, 2]\n"),
    ("yaml", "value: ${VALUE}\nother: \"$$x\"\n"),
    ("yml", "a: |\n  x\n   y\n---\nb: yes\n"),
    ("json", "{\"a\":\"b\",\"n\":1,\"l\":[1,true,null]}\n"),
    ("env", "A=1\nB=2\n"),
    ("toml", "[plugins]\n"),
    ("txt", "one line"),
];

const SCHEMATIC: &[Key] = &[("owner", 6, &[r#""me""#])];

const OVERLAYS: &[&str] = &[
    r#"{"name": "rpi_generic", "image": "siderolabs/sbc-raspberrypi"}"#,
    r#"{"name": "rpi_generic", "image": "siderolabs/sbc-raspberrypi", "options": {"b": 1, "a": "yes"}}"#,
    r#"{"name": "rpi_generic", "image": "siderolabs/sbc-raspberrypi", "options": {"configTxt": "a=b\nc=d\n", "l": [1, true, "x"], "m": {"z": 1.5, "y": null}}}"#,
];

const CUSTOMIZATION: &[Key] = &[
    (
        "extraKernelArgs",
        2,
        &[
            "[]",
            r#"["net.ifnames=0"]"#,
            r#"["-selinux", "console=ttyS0,115200"]"#,
            r#"["on", "1:30"]"#,
        ],
    ),
    (
        "systemExtensions",
        2,
        &[
            "{}",
            r#"{"officialExtensions": []}"#,
            r#"{"officialExtensions": ["siderolabs/intel-ucode"]}"#,
            r#"{"officialExtensions": ["siderolabs/gvisor", "siderolabs/amd-ucode"]}"#,
        ],
    ),
    ("bootloader", 4, &[r#""none""#, r#""grub""#, r#""sd-boot""#, r#""dual-boot""#]),
    (
        "secureboot",
        4,
        &[
            r#"{"includeWellKnownCertificates": true}"#,
            r#"{"includeWellKnownCertificates": false}"#,
            r#"{"enrollKeys": "not a key", "includeWellKnownCertificates": true}"#,
        ],
    ),
    ("diskImage", 4, &[r#"{"sectorSize": 4096}"#, r#"{"sectorSize": 0}"#]),
    (
        "embeddedMachineConfiguration",
        6,
        &[r#""version: v1alpha1\nmachine:\n  type: worker\n""#, r#""""#],
    ),
];

const META: &[&str] = &["a", "a\nb", "a\nb\n", "{\"a\":\"b\"}", "yes", " lead", "0x1F"];

const FIREWALL: &[Key] = &[("defaultAction", 2, &[r#""accept""#, r#""block""#])];

const PORT_SELECTOR: &[Key] = &[
    ("ports", 1, &["[10250]", r#"["100-200"]"#, r#"["100-200", 80]"#, r#"["30000-32767"]"#]),
    ("protocol", 1, &[r#""tcp""#, r#""udp""#, r#""icmp""#, r#""icmpv6""#]),
];

const INGRESS: &[&str] = &[
    r#"{"subnet": "10.0.0.0/8"}"#,
    r#"{"subnet": "fd00::/64"}"#,
    r#"{"subnet": "10.0.0.0/8", "except": "10.1.0.0/16"}"#,
    r#"{"subnet": "10.0.0.5/8", "except": "10.1.0.0/16"}"#,
];

const LEAST_SIZES: &[&str] = &[r#""2GB""#, r#""10GiB""#, r#""2.5GiB""#];

const PROVISIONING: &[Key] = &[
    (
        "diskSelector",
        2,
        &[
            r#"{"match": "system_disk"}"#,
            r#"{"match": "disk.transport == 'nvme' && !system_disk"}"#,
            r#"{"match": "disk.size > 10u * GiB"}"#,
        ],
    ),
    ("grow", 3, &["true", "false"]),
    ("minSize", 2, LEAST_SIZES),
    ("maxSize", 2, &[r#""50GiB""#, r#""80%""#, r#""100GB""#]),
];

const FILESYSTEMS: &[&str] = &[
    "{}",
    r#"{"type": "xfs"}"#,
    r#"{"type": "xfs", "projectQuotaSupport": true}"#,
    r#"{"type": "ext4", "projectQuotaSupport": false}"#,
];

const ENCRYPTION: &[Key] = &[
    ("provider", 1, &[r#""luks2""#]),
    ("cipher", 3, &[r#""aes-xts-plain64""#]),
    ("keySize", 3, &["256", "512"]),
    ("blockSize", 3, &["4096"]),
    (
        "options",
        3,
        &["[]", r#"["no_read_workqueue"]"#, r#"["no_read_workqueue", "same_cpu_crypt"]"#],
    ),
    ("allowDiscards", 3, &["true", "false"]),
];

const ENCRYPTION_KEYS: &[&str] = &[
    r#"{"tpm": {}}"#,
    r#"{"tpm": {"checkSecurebootStatusOnEnroll": true}}"#,
    r#"{"tpm": {"checkSecurebootStatusOnEnroll": false, "options": {"pcrs": []}}}"#,
    r#"{"tpm": {"options": {"pcrs": [7]}}}"#,
    r#"{"tpm": {"options": {"pcrs": [7, 11]}}}"#,
    r#"{"nodeID": {}}"#,
    r#"{"static": {"passphrase": "secret words"}}"#,
    r#"{"kms": {"endpoint": "https://kms.lan"}}"#,
];
