//! What is refused: one mistake each.
//!
//! Left out is what talhelper answers with a panic, what it passes over and we do not (an env file in which a line
//! cannot be read), and texts that are different on purpose: see `docs/reference/talhelper.md`.

/// One mistake.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// The first and the last minor release of Talos for which it is one.
    pub(super) minors: (u32, u32),
    /// Where it is, and what is there, as JSON; nothing takes a key away.
    pub(super) sets: &'static [(&'static str, &'static str)],
    pub(super) files: &'static [(&'static str, &'static str)],
    /// What the talconfig has at its end.
    pub(super) text: &'static str,
    /// Further words of the command.
    pub(super) flags: &'static str,
}

type Pairs = &'static [(&'static str, &'static str)];

const fn wrong(name: &'static str, sets: Pairs) -> Fault {
    Fault { name, minors: (2, 13), sets, files: &[], text: "", flags: "" }
}

const fn between(least: u32, most: u32, name: &'static str, sets: Pairs) -> Fault {
    Fault { name, minors: (least, most), sets, files: &[], text: "", flags: "" }
}

const fn with_files(name: &'static str, sets: Pairs, files: Pairs) -> Fault {
    Fault { name, minors: (2, 13), sets, files, text: "", flags: "" }
}

const fn ending(name: &'static str, text: &'static str) -> Fault {
    Fault { name, minors: (2, 13), sets: &[], files: &[], text, flags: "" }
}

const fn called(
    name: &'static str,
    least: u32,
    most: u32,
    flags: &'static str,
    files: Pairs,
) -> Fault {
    Fault { name, minors: (least, most), sets: &[], files, text: "", flags }
}

pub(super) const FAULTS: &[Fault] = &[
    // The text of the talconfig.
    ending("a tab", "\tfoo: bar\n"),
    ending("a list that is not closed", "foo: [a, b\n"),
    ending("a key that is there twice", "clusterName: again\n"),
    ending("an alias of nothing", "foo: *nobody\n"),
    with_files("an empty talconfig", &[], &[("talconfig.yaml", "")]),
    with_files("a talconfig of comments", &[], &[("talconfig.yaml", "# nothing\n")]),
    with_files("a talconfig that is a list", &[], &[("talconfig.yaml", "- a\n")]),
    with_files("a talconfig that is a word", &[], &[("talconfig.yaml", "hello\n")]),
    called("no talconfig", 2, 13, "-c nowhere.yaml", &[]),
    // Types.
    wrong("text for a list", &[("/patches", r#""foo""#)]),
    wrong("a list for text", &[("/nodes/0/ipAddress", r#"["10.0.0.1"]"#)]),
    wrong("an object for a list", &[("/nodes", r#"{"n0": {"ipAddress": "10.0.0.1"}}"#)]),
    wrong("an object in a list of texts", &[("/nodes/0/patches", r#"[{"machine": {}}]"#)]),
    wrong("a list for an object", &[("/nodes/0/machineSpec", r#"["a"]"#)]),
    wrong("a list for a map", &[("/nodes/0/nodeTaints", r#"["a"]"#)]),
    wrong("an object in a map of texts", &[("/nodes/0/nodeLabels", r#"{"a": {"b": "c"}}"#)]),
    wrong("text for a switch", &[("/nodes/0/controlPlane", r#""true""#)]),
    wrong(
        "text for a number",
        &[("/nodes/0/networkInterfaces", r#"[{"interface": "eth0", "mtu": "big"}]"#)],
    ),
    wrong(
        "a number that is too large",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "eth0", "vlans": [{"vlanId": 70000}]}]"#,
        )],
    ),
    wrong(
        "a negative metric",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "eth0", "routes": [{"gateway": "10.0.0.1", "metric": -1}]}]"#,
        )],
    ),
    wrong(
        "a number for a duration",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "wg0", "wireguard": {"peers": [{"persistentKeepaliveInterval": 25}]}}]"#,
        )],
    ),
    wrong(
        "text for permissions",
        &[(
            "/nodes/0/machineFiles",
            r#"[{"content": "x", "op": "create", "path": "/var/x", "permissions": "0644"}]"#,
        )],
    ),
    wrong(
        "a size that is none",
        &[(
            "/nodes/0/machineDisks",
            r#"[{"device": "/dev/sdb", "partitions": [{"mountpoint": "/a", "size": "foo"}]}]"#,
        )],
    ),
    wrong(
        "a key of META that is too large",
        &[("/nodes/0/schematic", r#"{"customization": {"meta": [{"key": 300, "value": "x"}]}}"#)],
    ),
    wrong(
        "an unknown bootloader",
        &[("/nodes/0/schematic", r#"{"customization": {"bootloader": "foo"}}"#)],
    ),
    wrong(
        "an unknown protocol",
        &[(
            "/nodes/0/ingressFirewall",
            r#"{"rules": [{"name": "a", "portSelector": {"ports": [1], "protocol": "quic"}}]}"#,
        )],
    ),
    wrong(
        "a port in quotes",
        &[(
            "/nodes/0/ingressFirewall",
            r#"{"rules": [{"name": "a", "portSelector": {"ports": ["443"], "protocol": "tcp"}}]}"#,
        )],
    ),
    wrong("an unknown action", &[("/nodes/0/ingressFirewall", r#"{"defaultAction": "foo"}"#)]),
    wrong(
        "an unknown type of volume",
        &[("/nodes/0/userVolumes", r#"[{"name": "a", "volumeType": "foo"}]"#)],
    ),
    // What is required.
    wrong("no clusterName", &[("/clusterName", "")]),
    wrong("no endpoint", &[("/endpoint", "")]),
    wrong("no kubernetesVersion", &[("/kubernetesVersion", "")]),
    wrong("no nodes", &[("/nodes", "[]")]),
    wrong("no hostname", &[("/nodes/0/hostname", "")]),
    wrong("no ipAddress", &[("/nodes/0/ipAddress", "")]),
    wrong("no disk", &[("/nodes/0/installDisk", ""), ("/nodes/0/installDiskSelector", "")]),
    // The cluster.
    wrong("Talos that is not supported", &[("/talosVersion", r#""v1.15.0""#)]),
    wrong("Talos that is too old", &[("/talosVersion", r#""v1.1.0""#)]),
    wrong("a release of Talos that is none", &[("/talosVersion", r#""foo""#)]),
    wrong("a release of Talos of two parts", &[("/talosVersion", r#""v1.13""#)]),
    wrong("a release of Talos that is a number", &[("/talosVersion", "1.1")]),
    wrong("Kubernetes that is too old", &[("/kubernetesVersion", r#""v1.20.0""#)]),
    wrong("Kubernetes that is too new", &[("/kubernetesVersion", r#""v1.40.0""#)]),
    wrong("an endpoint without its scheme", &[("/endpoint", r#""10.0.0.1:6443""#)]),
    wrong("an endpoint that is a word", &[("/endpoint", r#""foo""#)]),
    wrong("an endpoint with a wrong port", &[("/endpoint", r#""https://10.0.0.1:99999""#)]),
    wrong("an endpoint with a port that is none", &[("/endpoint", r#""https://10.0.0.1:abc""#)]),
    wrong("a wrong domain", &[("/domain", r#""a..b""#)]),
    wrong(
        "a wrong subnet",
        &[("/clusterPodNets", r#"["10.0.0.0/8", "foo"]"#), ("/clusterSvcNets", r#"["10.0.0.1"]"#)],
    ),
    wrong("an unknown network", &[("/cniConfig", r#"{"name": "foo"}"#)]),
    wrong("a custom network without its manifest", &[("/cniConfig", r#"{"name": "custom"}"#)]),
    wrong(
        "arguments of flannel for another network",
        &[("/cniConfig", r#"{"name": "none", "flannel": {"extraArgs": ["a"]}}"#)],
    ),
    wrong(
        "manifests for flannel",
        &[("/cniConfig", r#"{"name": "flannel", "urls": ["https://x/y"]}"#)],
    ),
    wrong(
        "two manifests of one name",
        &[(
            "/inlineManifests",
            r#"[{"name": "ns", "contents": "a"}, {"name": "ns", "contents": "b"}, {"contents": "c"}]"#,
        )],
    ),
    wrong(
        "a manifest that is not there",
        &[("/inlineManifests", r#"[{"name": "ns", "contents": "@none.yaml"}]"#)],
    ),
    wrong(
        "a wrong template of an image",
        &[
            ("/imageFactory", r#"{"installerURLTmpl": "{{.Foo}}", "ISOURLTmpl": "{{"}"#),
            ("/nodes/0/talosImageURL", ""),
            ("/controlPlane", "{}"),
        ],
    ),
    // A machine.
    wrong("a wrong hostname", &[("/nodes/0/hostname", r#""a_b""#)]),
    wrong("a wrong address", &[("/nodes/0/ipAddress", r#""10.0.0.1/24""#)]),
    wrong("a comma at the end of addresses", &[("/nodes/0/ipAddress", r#""10.0.0.1,""#)]),
    wrong("a disk by its name", &[("/nodes/0/installDiskSelector", r#"{"name": "sda"}"#)]),
    wrong("a wrong type of disk", &[("/nodes/0/installDiskSelector", r#"{"type": "SSD"}"#)]),
    wrong("a wrong size of disk", &[("/nodes/0/installDiskSelector", r#"{"size": "5 foo"}"#)]),
    wrong("an image with its release", &[("/nodes/0/talosImageURL", r#""ghcr.io/a/b:v1""#)]),
    wrong("an image without its registry", &[("/nodes/0/talosImageURL", r#""installer/abc""#)]),
    wrong(
        "wrong labels",
        &[("/nodes/0/nodeLabels", r#"{"bad key": "x", "a": "-bad", "x/y/z": "1"}"#)],
    ),
    wrong(
        "a reserved annotation",
        &[("/nodes/0/nodeAnnotations", r#"{"a b": "x", "talos.dev/owned-labels": "y"}"#)],
    ),
    wrong(
        "wrong taints",
        &[("/nodes/0/nodeTaints", r#"{"k": "Never", "l": "v:Foo", "m": "a:b:NoSchedule"}"#)],
    ),
    wrong(
        "a partition that leaves no room",
        &[(
            "/nodes/0/machineDisks",
            r#"[{"device": "/dev/sdb", "partitions": [{"mountpoint": "/a"}, {"mountpoint": "/b"}]}]"#,
        )],
    ),
    wrong(
        "a file that is written in no way",
        &[(
            "/nodes/0/machineFiles",
            r#"[{"content": "x", "path": "rel/b", "op": "foo"}, {"content": "x", "path": "/a"}]"#,
        )],
    ),
    wrong(
        "a file that is not there",
        &[("/nodes/0/machineFiles", r#"[{"content": "@none", "op": "create", "path": "/var/x"}]"#)],
    ),
    with_files(
        "a file that is not what its name says",
        &[(
            "/nodes/0/machineFiles",
            r#"[{"content": "@scalar.yaml", "op": "create", "path": "/var/x"}]"#,
        )],
        &[("scalar.yaml", "hello\n")],
    ),
    wrong(
        "an unknown extension",
        &[
            ("/nodes/0/noSchematicValidate", ""),
            ("/controlPlane", "{}"),
            ("/imageFactory", ""),
            (
                "/nodes/0/schematic",
                r#"{"customization": {"systemExtensions": {"officialExtensions": ["siderolabs/nope", "siderolabs/amd-ucode", "siderolabs/amd-ucode"]}}}"#,
            ),
        ],
    ),
    wrong(
        "an unknown overlay",
        &[
            ("/nodes/0/noSchematicValidate", ""),
            ("/controlPlane", "{}"),
            ("/imageFactory", ""),
            (
                "/nodes/0/schematic",
                r#"{"overlay": {"image": "siderolabs/foo", "name": "rpi_generic"}}"#,
            ),
        ],
    ),
    wrong(
        "half an overlay",
        &[
            ("/nodes/0/noSchematicValidate", ""),
            ("/controlPlane", "{}"),
            ("/imageFactory", ""),
            ("/nodes/0/schematic", r#"{"overlay": {"image": "siderolabs/sbc-raspberrypi"}}"#),
        ],
    ),
    wrong("a wrong nameserver", &[("/nodes/0/nameservers", r#"["1.1.1.1", "foo"]"#)]),
    wrong(
        "a wrong way to boot",
        &[("/nodes/0/machineSpec", r#"{"bootMethod": "foo", "imageSuffix": "x"}"#)],
    ),
    wrong(
        "a wrong suffix of an image",
        &[("/nodes/0/machineSpec", r#"{"bootMethod": "disk-image", "imageSuffix": "iso"}"#)],
    ),
    wrong("extraManifests that are not there", &[("/nodes/0/extraManifests", r#"["none.yaml"]"#)]),
    wrong("a wrong name of a file", &[("/nodes/0/filenameTmpl", r#""{{ .Nope }}""#)]),
    wrong(
        "a function that file names have not",
        &[("/nodes/0/filenameTmpl", r#""{{ .Hostname | upper }}""#)],
    ),
    // Interfaces.
    wrong("an interface without a name", &[("/nodes/0/networkInterfaces", r#"[{"dhcp": true}]"#)]),
    wrong(
        "an interface with name and selector",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "eth5", "deviceSelector": {"driver": "x"}}]"#,
        )],
    ),
    wrong("an empty selector", &[("/nodes/0/networkInterfaces", r#"[{"deviceSelector": {}}]"#)]),
    wrong(
        "wrong addresses and routes",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "eth0", "addresses": ["10.0.0.300/24"], "routes": [{"network": "x", "gateway": "y", "source": "z"}, {}]}]"#,
        )],
    ),
    wrong(
        "a deprecated address",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "eth0", "cidr": "10.0.0.11/24"}, {"interface": "eth1", "dhcp": true}]"#,
        )],
    ),
    wrong(
        "a wrong shared address",
        &[("/nodes/0/networkInterfaces", r#"[{"interface": "eth0", "vip": {"ip": "nope"}}]"#)],
    ),
    between(
        2,
        11,
        "a shared address of a worker",
        &[
            ("/nodes/0/controlPlane", "false"),
            ("/nodes/0/networkInterfaces", r#"[{"interface": "eth0", "vip": {"ip": "10.0.0.9"}}]"#),
        ],
    ),
    wrong(
        "a bond in which every word is wrong",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "bond0", "bond": {"interfaces": ["eth0"], "mode": "m", "xmitHashPolicy": "x", "lacpRate": "l", "arpValidate": "a", "arpAllTargets": "b", "primaryReselect": "c", "failOverMac": "d", "adSelect": "e"}}]"#,
        )],
    ),
    wrong(
        "a bond with settings of another mode",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "bond0", "bond": {"interfaces": ["eth0"], "mode": "balance-rr", "adActorSysPrio": 1, "adUserPortKey": 1, "tlbDynamicLb": 1, "lacpRate": "fast", "primary": "eth0", "updelay": 5, "downdelay": 5}}]"#,
        )],
    ),
    wrong(
        "a bond with delays between looks",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "bond0", "bond": {"interfaces": ["eth0"], "mode": "802.3ad", "miimon": 100, "updelay": 150, "downdelay": 50, "arpIPTarget": ["10.0.0.1"], "adActorSystem": "00:00:00:00:00:01"}}]"#,
        )],
    ),
    between(
        12,
        13,
        "a bond without its mode",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "bond0", "bond": {"interfaces": ["eth0"]}}]"#,
        )],
    ),
    wrong(
        "a link of two bonds",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "bond0", "bond": {"interfaces": ["eth0"], "mode": "active-backup"}}, {"interface": "bond1", "bond": {"interfaces": ["eth0"], "mode": "active-backup"}}, {"interface": "br0", "bridge": {"interfaces": ["eth0"]}}]"#,
        )],
    ),
    wrong(
        "a bond with links and selectors",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "bond0", "bond": {"interfaces": ["eth0"], "deviceSelectors": [{"driver": "x"}], "mode": "active-backup"}, "bridge": {"interfaces": ["eth1"]}}]"#,
        )],
    ),
    wrong(
        "a tunnel with wrong keys",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "wg0", "wireguard": {"privateKey": "abc", "peers": [{"publicKey": "def", "endpoint": "noport", "allowedIPs": ["nope"]}]}}]"#,
        )],
    ),
    wrong(
        "a VLAN with two kinds of addresses",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "eth0", "vlans": [{"vlanId": 5, "cidr": "10.0.0.1/24", "addresses": ["10.0.0.2/24"]}, {"vlanId": 6, "addresses": ["nope"]}]}]"#,
        )],
    ),
    between(
        12,
        13,
        "a VLAN with a wrong number",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "eth0", "vlans": [{"vlanId": 5000}]}]"#,
        )],
    ),
    between(
        12,
        13,
        "two VLANs of one number",
        &[(
            "/nodes/0/networkInterfaces",
            r#"[{"interface": "eth0", "vlans": [{"vlanId": 5, "dhcp": true}, {"vlanId": 5, "mtu": 1400}]}]"#,
        )],
    ),
    // Documents.
    wrong(
        "wrong rules",
        &[(
            "/nodes/0/ingressFirewall",
            r#"{"rules": [{"portSelector": {}}, {"name": "b", "portSelector": {"ports": ["200-100"], "protocol": "icmp"}, "ingress": [{}]}]}"#,
        )],
    ),
    wrong(
        "two rules of one name",
        &[(
            "/nodes/0/ingressFirewall",
            r#"{"rules": [{"name": "a", "portSelector": {"ports": [1], "protocol": "tcp"}}, {"name": "a", "portSelector": {"ports": [2], "protocol": "tcp"}}]}"#,
        )],
    ),
    wrong("an unknown volume", &[("/nodes/0/volumes", r#"[{"name": "OTHER"}]"#)]),
    wrong(
        "two volumes of one name",
        &[("/nodes/0/volumes", r#"[{"name": "EPHEMERAL"}, {"name": "EPHEMERAL"}]"#)],
    ),
    wrong(
        "an expression that is none",
        &[(
            "/nodes/0/volumes",
            r#"[{"name": "EPHEMERAL", "provisioning": {"diskSelector": {"match": "disk.foo =="}}}]"#,
        )],
    ),
    wrong(
        "encryption without keys",
        &[("/nodes/0/volumes", r#"[{"name": "EPHEMERAL", "encryption": {"provider": "luks2"}}]"#)],
    ),
    wrong("a user volume without its disk", &[("/nodes/0/userVolumes", r#"[{"name": "a"}]"#)]),
    wrong(
        "two user volumes of one name",
        &[(
            "/nodes/0/userVolumes",
            r#"[{"name": "a", "provisioning": {"diskSelector": {"match": "true"}, "minSize": "1GB"}}, {"name": "a", "provisioning": {"diskSelector": {"match": "true"}, "minSize": "1GB"}}]"#,
        )],
    ),
    wrong(
        "more at least than at most",
        &[(
            "/nodes/0/userVolumes",
            r#"[{"name": "a", "provisioning": {"diskSelector": {"match": "true"}, "minSize": "10GB", "maxSize": "1GB"}}]"#,
        )],
    ),
    wrong(
        "quotas where there are none",
        &[(
            "/nodes/0/userVolumes",
            r#"[{"name": "a", "filesystem": {"type": "ext4", "projectQuotaSupport": true}, "provisioning": {"diskSelector": {"match": "true"}, "minSize": "1GB"}}]"#,
        )],
    ),
    wrong(
        "a service without its name",
        &[("/nodes/0/extensionServices", r#"[{"environment": ["A=b"]}]"#)],
    ),
    wrong("a service that says nothing", &[("/nodes/0/extensionServices", r#"[{"name": "a"}]"#)]),
    wrong(
        "two services of one name",
        &[(
            "/nodes/0/extensionServices",
            r#"[{"name": "a", "environment": ["A=1"]}, {"name": "a", "environment": ["B=2"]}]"#,
        )],
    ),
    // Variables and templates.
    wrong("a variable that is not set", &[("/nodes/0/nodeAnnotations", r#"{"a": "${UNSET}"}"#)]),
    wrong("a variable that is empty", &[("/nodes/0/nodeAnnotations", r#"{"a": "$NOTHING"}"#)]),
    wrong("an empty default", &[("/nodes/0/nodeAnnotations", r#"{"a": "${UNSET:-}"}"#)]),
    wrong(
        "a default in a default",
        &[("/nodes/0/nodeAnnotations", r#"{"a": "${UNSET:-${VALUE}}"}"#)],
    ),
    wrong("a brace that is not closed", &[("/nodes/0/nodeAnnotations", r#"{"a": "${VALUE"}"#)]),
    wrong("a field that is unknown", &[("/nodes/0/nodeLabels", r#"{"a": "{{ .Foo }}"}"#)]),
    wrong("a function that is unknown", &[("/nodes/0/nodeAnnotations", r#"{"a": "{{ nope }}"}"#)]),
    wrong(
        "a template in a patch that is wrong",
        &[("/nodes/0/patches", r#"["machine: {sysctls: {a: '{{ .X }}'}}"]"#)],
    ),
    // Patches.
    wrong("a patch that is not there", &[("/nodes/0/patches", r#"["@patches/none.yaml"]"#)]),
    wrong("a patch without a name", &[("/nodes/0/patches", r#"["@"]"#)]),
    wrong("an unknown key in a patch", &[("/nodes/0/patches", r#"["machine: {foo: bar}"]"#)]),
    wrong(
        "an unknown document in a patch",
        &[("/nodes/0/patches", r#"["{apiVersion: v1alpha1, kind: Nope}"]"#)],
    ),
    wrong("a patch that is no YAML", &[("/nodes/0/patches", r#"["machine: {a: b"]"#)]),
    wrong("a patch that is a word", &[("/nodes/0/patches", r#"["hello world"]"#)]),
    with_files(
        "a patch file with a variable that is not set",
        &[("/nodes/0/patches", r#"["@p.yaml"]"#)],
        &[("p.yaml", "machine:\n  sysctls:\n    a: ${UNSET}\n")],
    ),
    with_files(
        "a patch file of comments",
        &[("/nodes/0/patches", r#"["@p.yaml"]"#)],
        &[("p.yaml", "# nothing\n")],
    ),
    with_files(
        "a patch that cannot be decrypted",
        &[("/nodes/0/patches", r#"["@p.yaml"]"#)],
        &[(
            "p.yaml",
            "machine:\n  sysctls:\n    a: x\nsops:\n  mac: ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]\n  version: 3.9.0\n",
        )],
    ),
    between(
        12,
        13,
        "operations beside documents",
        &[(
            "/nodes/0/patches",
            r#"["[{\"op\":\"add\",\"path\":\"/machine/sysctls\",\"value\":{\"a\":\"1\"}}]"]"#,
        )],
    ),
    between(
        2,
        11,
        "operations beside a firewall",
        &[
            ("/nodes/0/ingressFirewall", r#"{"defaultAction": "block"}"#),
            ("/nodes/0/patches", r#"["[]"]"#),
        ],
    ),
    between(
        2,
        11,
        "an operation that fails",
        &[("/nodes/0/patches", r#"["- op: remove\n  path: /machine/nope\n"]"#)],
    ),
    between(
        12,
        13,
        "a second name of a machine",
        &[
            ("/nodes/0/ignoreHostname", "false"),
            ("/nodes/0/patches", r#"["machine: {network: {hostname: foo}}"]"#),
        ],
    ),
    between(
        12,
        13,
        "nameservers in two places",
        &[
            ("/nodes/0/nameservers", r#"["2.2.2.2"]"#),
            ("/nodes/0/patches", r#"["machine: {network: {nameservers: [1.1.1.1]}}"]"#),
        ],
    ),
    wrong(
        "a machine that Talos refuses",
        &[("/nodes/0/patches", r#"["machine: {kubelet: {extraConfig: {port: 1}}}"]"#)],
    ),
    // What is around it.
    called("an unknown mode", 2, 13, "-m nowhere", &[]),
    called("containers before 1.7", 2, 6, "-m container", &[]),
    called("empty secrets", 2, 13, "-s broken.yaml", &[("broken.yaml", "")]),
    called("secrets of comments", 2, 13, "-s broken.yaml", &[("broken.yaml", "# x\n")]),
    called("secrets that are a list", 2, 13, "-s broken.yaml", &[("broken.yaml", "- a\n")]),
    called(
        "secrets with unknown keys",
        2,
        13,
        "-s broken.yaml",
        &[("broken.yaml", "cluster: {id: a, foo: b}\nbar: 1\n")],
    ),
    called("an env file that is no map", 2, 13, "-e broken.yaml", &[("broken.yaml", "A=b\n")]),
    called("an env file that is no YAML", 2, 13, "-e broken.yaml", &[("broken.yaml", "A: [b\n")]),
    called(
        "an env file with a word for sops",
        2,
        13,
        "-e broken.yaml",
        &[("broken.yaml", "sops: foo\nA: b\n")],
    ),
];
