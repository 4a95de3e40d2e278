//! What people combine in a talconfig, by name, and how it gets into one.

use serde_json::{Value, json};

use super::{Maker, patches};

/// Something that has to come up.
pub(super) struct Combination {
    pub(super) name: &'static str,
    /// The first and the last minor release of Talos that has it.
    pub(super) minors: (u32, u32),
    /// What is written, where that is all there is to it.
    pub(super) text: &'static str,
    /// Whether it may also come up when it is not its turn.
    pub(super) by_luck: bool,
}

const fn any(name: &'static str, text: &'static str) -> Combination {
    Combination { name, minors: (2, 13), text, by_luck: true }
}

const fn between(least: u32, most: u32, name: &'static str, text: &'static str) -> Combination {
    Combination { name, minors: (least, most), text, by_luck: true }
}

/// For what would make other comparisons worth less: secrets that nobody can compare, and what plans cannot say.
const fn seldom(least: u32, most: u32, name: &'static str) -> Combination {
    Combination { name, minors: (least, most), text: "", by_luck: false }
}

impl Maker {
    /// Puts in what stands in several places of a talconfig at once.
    pub(super) fn put_together(&mut self, cluster: &mut Value) {
        let name = self.one_shown(GROUPS, 5);
        self.put_into_group(cluster, name);
        let name = self.one_shown(SCHEMATICS, 12);
        put_schematic(&mut cluster["nodes"][0], name);
        if is_control_plane(cluster) && self.shows("a shared address before 1.12", 8) {
            let device = json!({ "interface": "eth0", "dhcp": true, "vip": { "ip": "10.0.0.9" } });
            cluster["nodes"][0]["networkInterfaces"] = json!([device]);
        }
        self.put_patches(cluster);
        self.put_sealed(cluster);
        for (key, table, one_in) in [("variable", VARIABLES, 3), ("template", TEMPLATES, 4)] {
            let name = self.one_shown(table, one_in);
            if let Some(combination) = table.iter().find(|combination| combination.name == name) {
                annotate(cluster, key, combination.text);
            }
        }
        if self.shows("a variable in a key", 20) {
            annotate(cluster, "${VALUE}", "x");
        }
    }

    /// What a machine and its group both say.
    fn put_into_group(&mut self, cluster: &mut Value, name: &str) {
        let group = if is_control_plane(cluster) { "controlPlane" } else { "worker" };
        let (key, switch, of_group, own) = match name {
            "" => return,
            "certSANs of group and machine" | "certSANs that replace the group's" => {
                let (of_group, own) = (json!(["group.lan"]), json!(["own.lan"]));
                ("certSANs", "overrideMachineCertSANs", of_group, own)
            }
            "extraManifests of group and machine" | "extraManifests that replace the group's" => {
                let (of_group, own) = (json!([self.manifest()]), json!([self.manifest()]));
                ("extraManifests", "overrideExtraManifests", of_group, own)
            }
            "an empty list that replaces the group's" => {
                ("patches", "overridePatches", json!([patches::OF_GROUP]), json!([]))
            }
            "keys that are empty" => {
                let mut empty = super::parsed(EMPTY);
                if self.operations {
                    // Even an empty one makes a document.
                    empty["ingressFirewall"] = Value::Null;
                }
                for (key, value) in empty.as_object().into_iter().flatten() {
                    cluster["nodes"][0][key] = value.clone();
                }
                cluster[group]["nodeLabels"] = json!({ "of": "group" });
                cluster[group]["machineSpec"] = json!({ "secureboot": true });
                return;
            }
            _ => {
                cluster["patches"] = json!([patches::OF_ALL]);
                ("patches", "overridePatches", json!([patches::OF_GROUP]), json!([patches::OWN]))
            }
        };
        cluster[group][key] = of_group;
        cluster["nodes"][0][key] = own;
        cluster["nodes"][0][switch] = json!(name.contains("replace"));
    }
}

/// Whether the first machine is one.
pub(super) fn is_control_plane(cluster: &Value) -> bool {
    cluster["nodes"][0]["controlPlane"] == json!(true)
}

/// Gives the first machine a further annotation.
pub(super) fn annotate(cluster: &mut Value, key: &str, value: &str) {
    cluster["nodes"][0]["nodeAnnotations"][key] = json!(value);
}

fn put_schematic(node: &mut Value, name: &str) {
    let extensions = json!({ "officialExtensions": ["siderolabs/amd-ucode", "siderolabs/gvisor"] });
    let arguments = json!(["net.ifnames=0", "-selinux", "console=ttyS0,115200"]);
    let overlay = json!({ "name": "rpi_generic", "image": "siderolabs/sbc-raspberrypi" });
    match name {
        "extensions and kernel arguments" => {
            let customization =
                json!({ "systemExtensions": extensions, "extraKernelArgs": arguments });
            node["schematic"] = json!({ "customization": customization });
        }
        "an overlay with kernel arguments" => {
            let customization = json!({ "extraKernelArgs": arguments });
            node["schematic"] = json!({ "overlay": overlay, "customization": customization });
        }
        "a schematic that is not checked" => {
            let extensions = json!({ "officialExtensions": ["siderolabs/nope"] });
            node["schematic"] = json!({ "customization": { "systemExtensions": extensions } });
            node["noSchematicValidate"] = json!(true);
        }
        "an image beside a schematic" => {
            node["schematic"] = json!({ "customization": { "systemExtensions": extensions } });
            node["talosImageURL"] = json!("factory.talos.dev/installer/abc");
        }
        "secure boot with a unified image" => {
            node["schematic"] = json!({ "customization": { "extraKernelArgs": arguments } });
            node["machineSpec"] = json!({ "secureboot": true, "useUKI": true });
        }
        _ => {}
    }
}

/// All of them; those of a table that is passed to `one_shown` exclude each other.
pub(super) const TABLES: &[&[Combination]] = &[
    RELEASES, VERSIONS, KUBERNETES, SIZES, ADDRESSES, FORMS, ANCHORS, STYLES, VARIABLES, TEMPLATES,
    GROUPS, SCHEMATICS, PATCHES, DOCUMENTS, SEALED, ENV_FILES, SECRETS, FLAGS, OTHERS,
];

const RELEASES: &[Combination] = &[
    between(2, 2, "Talos 1.2", ""),
    between(3, 3, "Talos 1.3", ""),
    between(4, 4, "Talos 1.4", ""),
    between(5, 5, "Talos 1.5", ""),
    between(6, 6, "Talos 1.6", ""),
    between(7, 7, "Talos 1.7", ""),
    between(8, 8, "Talos 1.8", ""),
    between(9, 9, "Talos 1.9", ""),
    between(10, 10, "Talos 1.10", ""),
    between(11, 11, "Talos 1.11", ""),
    between(12, 12, "Talos 1.12", ""),
    between(13, 13, "Talos 1.13", ""),
];

pub(super) const VERSIONS: &[Combination] = &[
    // The one that is taken then is a 1.13.
    between(13, 13, "no release of Talos", ""),
    any("a release without its v", ""),
    any("a patch release", ""),
    any("a release that is not known", ""),
];

pub(super) const KUBERNETES: &[Combination] =
    &[any("Kubernetes without its v", ""), seldom(2, 13, "Kubernetes of two parts")];

pub(super) const SIZES: &[Combination] = &[
    any("one machine", ""),
    any("no control plane", ""),
    any("one control plane", ""),
    any("three control planes", ""),
    any("six machines", ""),
];

pub(super) const ADDRESSES: &[Combination] =
    &[any("several addresses", ""), seldom(2, 13, "an address that is a name")];

/// How a whole talconfig is written.
pub(super) const FORMS: &[Combination] = &[
    any("JSON", ""),
    any("line ends of Windows", ""),
    any("a byte order mark", ""),
    any("a document marker", ""),
    any("a second document", ""),
];

pub(super) const ANCHORS: &[Combination] = &[
    any("an anchor and an alias", ""),
    any("a merge key", ""),
    any("a merge of several maps", ""),
    any("a merge of a whole node", ""),
    any("an anchor that is defined twice", ""),
    any("scalars of other types", ""),
    any("octal permissions", ""),
];

/// Told by whoever writes them.
const STYLES: &[Combination] = &[
    any("a block of keys", ""),
    any("a list without indentation", ""),
    any("a flow of words", ""),
    any("a literal text", ""),
    any("a literal text without its end", ""),
    any("a folded text", ""),
    any("a comment", ""),
    any("a variable in a comment", ""),
];

/// Variables, as an annotation. Of these `VALUE` and `BOTH` are set by an env file, `OUTSIDE` and `BOTH` by the
/// process; `NOTHING` is set to nothing and `UNSET` is not set.
const VARIABLES: &[Combination] = &[
    any("$NAME", "$VALUE"),
    any("${NAME}", "${VALUE}"),
    any("two variables", "$VALUE$VALUE-${OUTSIDE}"),
    any("a variable of the process", "${OUTSIDE}"),
    any("a variable of a file and of the process", "${BOTH}"),
    any("${NAME:-text}", "${UNSET:-some text}"),
    any("${NAME:-text} of one that is set", "${VALUE:-some text}"),
    any("${NAME:-text} of an empty one", "${NOTHING:-a:b/c}"),
    any("${NAME-text}", "${UNSET-text}"),
    any("${NAME:=text}", "${UNSET:=text}"),
    any("${NAME=text}", "${UNSET=text}"),
    any("${NAME:-$OTHER}", "${UNSET:-$VALUE}"),
    any("a dollar in a default", "${UNSET:-a$b}"),
    any("${NAME+text}", "${VALUE+text}"),
    any("${NAME:+text}", "${VALUE:+text}"),
    any("${NAME+text} of one that is not set", "x${UNSET+text}y${UNSET:+text}"),
    any("${NAME+text} of an empty one", "x${NOTHING:+p}y${NOTHING+q}"),
    any("$$", "a$$b"),
    any("$${NAME}", "$${VALUE}"),
    any("a dollar alone", "a$ b$.c$"),
    any("a dollar before an underscore", "a$_ b"),
    any("${}", "${}"),
    any("${1:-text}", "${1:-x}"),
    any(
        "operators that are passed over",
        "${VALUE:x} ${VALUE:0:1} ${VALUE%x} ${VALUE/x/y} ${VALUE^^}",
    ),
];

/// Go templates, as an annotation.
const TEMPLATES: &[Combination] = &[
    any(
        "contains and if",
        "{{ if contains \"talos\" .MachineConfig.MachineInstall.InstallImage }}y{{ else }}n{{ end }}",
    ),
    any(
        "splitList and first",
        "{{ .MachineConfig.MachineInstall.InstallImage | splitList \"/\" | first }}",
    ),
    any(
        "splitList and last",
        "{{ splitList \":\" .MachineConfig.MachineInstall.InstallImage | last }}",
    ),
    any("index", "{{ index .ClusterConfig.ClusterNetwork.PodSubnet 0 }}"),
    any(
        "index of a pipeline",
        "{{ index (splitList \"/\" .MachineConfig.MachineInstall.InstallImage) 0 }}",
    ),
    any("range", "{{ range .ClusterConfig.ClusterNetwork.ServiceSubnet }}[{{ . }}]{{ end }}"),
    any(
        "eq and else if",
        "{{ if eq .MachineConfig.MachineType \"worker\" }}w{{ else if true }}c{{ end }}",
    ),
    any("a variable of a template", "{{ $$x := .ClusterConfig.ClusterName }}{{ $$x | upper }}"),
];

const GROUPS: &[Combination] = &[
    any("certSANs of group and machine", ""),
    any("certSANs that replace the group's", ""),
    any("extraManifests of group and machine", ""),
    any("extraManifests that replace the group's", ""),
    any("patches of group, machine and all", ""),
    any("patches that replace the group's", ""),
    any("an empty list that replaces the group's", ""),
    any("keys that are empty", ""),
];

const SCHEMATICS: &[Combination] = &[
    any("extensions and kernel arguments", ""),
    // Talos has overlays since 1.7.
    between(7, 13, "an overlay with kernel arguments", ""),
    any("a schematic that is not checked", ""),
    any("an image beside a schematic", ""),
    any("secure boot with a unified image", ""),
];

pub(super) const PATCHES: &[Combination] = &[
    between(2, 11, "operations as JSON", patches::OPERATIONS_AS_JSON),
    between(2, 11, "operations as YAML", patches::OPERATIONS_AS_YAML),
    between(2, 11, "operations in a file", patches::OPERATIONS_AS_YAML),
    any("a patch of several documents", patches::SEVERAL_DOCUMENTS),
    any("a patch file of several documents", patches::SEVERAL_DOCUMENTS),
    any("a patch by its bare name", "machine:\n  sysctls:\n    bare: '${UNSET} {{ .Nope }}'\n"),
    any("a patch by its absolute path", "machine:\n  sysctls:\n    absolute: \"1\"\n"),
    any("an empty patch file", "\n\n"),
    any("a patch with lines of a template", patches::LINES_OF_A_TEMPLATE),
    any("a list without one of its elements", patches::WITHOUT_A_PLUGIN),
    any("a disk that a patch encrypts", patches::ENCRYPTED),
];

/// The kinds of documents that people write in patches.
pub(super) const DOCUMENTS: &[Combination] = &[
    any(
        "LinkAliasConfig",
        "name: net9\nselector:\n  match: glob(\"aa:*\", mac(link.hardware_addr))\n",
    ),
    any(
        "RawVolumeConfig",
        "name: raw\nprovisioning:\n  diskSelector:\n    match: '!system_disk'\n  minSize: 10GiB\n",
    ),
    any(
        "VLANConfig",
        "name: eth9.50\nvlanID: 50\nparent: eth9\naddresses:\n  - address: 10.50.0.2/24\n",
    ),
    any("BondConfig", "name: bond9\nlinks: [eth96, eth97]\nbondMode: active-backup\n"),
    any("Layer2VIPConfig", "name: 10.0.0.250\nlink: eth9\n"),
    any("ExtensionServiceConfig", "name: nvidia\nenvironment: [A=b]\n"),
    any("VolumeConfig", "name: IMAGECACHE\nprovisioning:\n  maxSize: 90GiB\n"),
    any("WatchdogTimerConfig", "device: /dev/watchdog0\ntimeout: 5m\n"),
    // Before 1.12 the name servers of a machine stand elsewhere, and not in both places.
    between(12, 13, "ResolverConfig", "nameservers:\n  - address: 10.0.0.53\n"),
    any("OOMConfig", "triggerExpression: memory_full_avg10 > 75.0\nsampleInterval: 200ms\n"),
    any("KmsgLogConfig", "name: remote\nurl: tcp://10.0.0.9:514\n"),
    any("TimeSyncConfig", "ntp:\n  servers: [time.lan]\n"),
    any("BridgeConfig", "name: br9\nlinks: [eth94]\nstp:\n  enabled: true\n"),
    any("DHCPv4Config", "name: eth9\nrouteMetric: 512\n"),
    any(
        "ExistingVolumeConfig",
        "name: old\ndiscovery:\n  volumeSelector:\n    match: volume.partition_label == \"OLD\"\n",
    ),
    any(
        "UserVolumeConfig",
        "name: more\nprovisioning:\n  diskSelector:\n    match: '!system_disk'\n  maxSize: 10GiB\n",
    ),
    any("ImageVerificationConfig", "rules:\n  - image: ghcr.io/*\n    skip: true\n"),
    any("KubeSpanConfig", "enabled: true\n"),
    any("KubeSpanEndpointsConfig", "extraAnnouncedEndpoints: ['10.0.0.7:51820']\n"),
    // Before 1.12 the name of a machine stands elsewhere.
    between(12, 13, "HostnameConfig", "auto: 'off'\nhostname: other\n"),
];

/// Files that are encrypted with the age key of the recorded cases.
pub(super) const SEALED: &[Combination] = &[
    any("an encrypted patch", ""),
    any("an encrypted machine file", ""),
    any("an encrypted inline manifest", ""),
    any("encrypted extraManifests", ""),
];

pub(super) const ENV_FILES: &[Combination] = &[
    any("several env files", ""),
    any("env files by flag", ""),
    any("an encrypted env file", ""),
    any("a key of SOPS in an env file", ""),
    any(
        "an env file with quotes",
        "---\n# head\nVALUE: \"from-env\" # why\nBOTH: 'from-file'\nNOTHING: \"\"\n",
    ),
    any(
        "an env file with references",
        "A: from\nVALUE: ${A}-env\nBOTH: \"$A-file\"\nNOTHING: $LATER\nLATER: x\n",
    ),
    any(
        "an env file with exports",
        "export VALUE: from-env\nBOTH : one\nBOTH: from-file\nNOTHING: ''\n",
    ),
    any("variables of the process alone", ""),
    any("releases from an env file", ""),
];

pub(super) const SECRETS: &[Combination] = &[
    any("secrets found by name", ""),
    any("the last of several secrets files", ""),
    any("several secrets files by flag", ""),
    any("secrets with variables", ""),
    any("secrets with AES-CBC", ""),
    // Talos 1.2 needs secrets that are neither encrypted here nor made anew.
    between(3, 13, "encrypted secrets", ""),
    seldom(3, 13, "no secrets"),
    seldom(3, 13, "secrets that are not where they should be"),
];

pub(super) const FLAGS: &[Combination] = &[
    any("--no-gitignore", ""),
    any("--disable-nodes-section", ""),
    any("--dry-run", ""),
    any("-o out/deep", ""),
    any("-o out/", ""),
    any("-m cloud", ""),
    // Before 1.7 the machine lacks what containers need.
    between(7, 13, "-m container", ""),
    any("--crt-ttl 1h", ""),
];

const OTHERS: &[Combination] = &[
    any("a variable in a key", ""),
    between(2, 11, "a shared address before 1.12", ""),
    any("a talconfig elsewhere", ""),
    any("a dry run over what is there", ""),
    any("a second run", ""),
    any("a .gitignore that is there", ""),
];

/// Keys that say nothing, and yet take the place of what the group says.
const EMPTY: &str = r#"{
    "nodeLabels": {}, "nodeTaints": {}, "nodeAnnotations": {}, "networkInterfaces": [],
    "machineFiles": [], "kernelModules": [], "machineDisks": [], "nameservers": [], "certSANs": [],
    "ingressFirewall": {}, "schematic": {}, "machineSpec": {"secureboot": false}
}"#;
