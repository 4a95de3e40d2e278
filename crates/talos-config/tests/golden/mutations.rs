//! Seeded configurations for validation: right ones, and right ones with something wrong in them.

use talos_config::kinds;
use talos_config::schema::{Field, Format, Kind, Type};
use talos_config::yaml::Dialect;

use crate::cases::{Random, flat};
use crate::output::{LEGACY, Tree, Written};
use crate::verdicts::Manner;

/// One configuration; the same seed gives the same.
pub(crate) struct Mutation {
    pub(crate) config: Written,
    pub(crate) manner: Manner,
}

/// Changes of a named case, to be the start of others.
pub(crate) struct Seedling {
    /// What they were made to.
    pub(crate) base: &'static str,
    pub(crate) changes: Vec<&'static str>,
    /// Whether there is nothing wrong with them.
    pub(crate) right: bool,
}

impl Mutation {
    pub(crate) fn new(seed: u64, seedlings: &[Seedling]) -> Self {
        let mut random = Random(seed);
        let manner = Manner {
            mode: random.pick::<&str>(&[
                "metal",
                "metal",
                "metal",
                "cloud",
                "container",
                "metal-agent",
            ]),
            strict: random.one_in(5),
        };
        // A third is left nearly as it is, so that what is right is seen as well.
        let gentle = random.one_in(3);
        let fitting = |seedling: &&Seedling| seedling.right || !gentle;
        let seedlings: Vec<&Seedling> = seedlings.iter().filter(fitting).collect();
        let first = pick(&mut random, &seedlings, None);
        let mut config = Written::base(first.base);
        let old = config.0.len();
        config.change_all(&first.changes);
        let count = if gentle { random.below(2) } else { 2 + random.below(4) };
        for _ in 0..count {
            match random.below(20) {
                // What is right for a base is mostly right for it after other changes.
                0..=4 => {
                    config.change_all(&pick(&mut random, &seedlings, Some(first.base)).changes);
                }
                // But not for another base: that gives conflicts, and documents in the wrong place.
                5 | 6 => config.change_all(&pick(&mut random, &seedlings, None).changes),
                7 | 8 => config.put(scattered(&mut random)),
                9 if config.0.len() > 1 => drop(config.0.remove(random.index(config.0.len()))),
                10 if random.one_in(2) => {
                    let role =
                        *random.pick(&["worker", "controlplane", "init", "join", "\"\"", "foo"]);
                    if let Some(legacy) = config.legacy() {
                        *legacy.entry("machine").entry("type") = Tree::scalar(role);
                    }
                }
                _ if config.0.is_empty() => config.put(scattered(&mut random)),
                _ => {
                    // Those that came to the base have more in them than what was there before.
                    let new = config.0.len().saturating_sub(old);
                    let at = if new > 0 && !random.one_in(3) {
                        old + random.index(new)
                    } else {
                        random.index(config.0.len())
                    };
                    let document = &mut config.0[at];
                    let kind = kind_of(document);
                    let place = Place { kind: kind.name, key: "" };
                    for _ in 0..=random.below(if gentle { 1 } else { 4 }) {
                        place.disturb(&mut random, document, kind.fields);
                    }
                }
            }
        }
        Self { config, manner }
    }
}

/// A seedling: half of them by kind, so that none is rare, half by rule, since some kinds have many.
fn pick<'a>(random: &mut Random, seedlings: &[&'a Seedling], base: Option<&str>) -> &'a Seedling {
    let of_base = |seedling: &&&Seedling| base.is_none_or(|base| base == seedling.base);
    let seedlings: Vec<&Seedling> = seedlings.iter().filter(of_base).copied().collect();
    // The document without a kind has as many rules as a dozen others.
    let kind = if random.one_in(7) { LEGACY } else { random.pick(kinds::ALL).name };
    let of_kind = |change: &str| match kind {
        LEGACY => change.starts_with(char::is_lowercase),
        _ => change.split(' ').next() == Some(kind),
    };
    let fitting: Vec<&Seedling> = seedlings
        .iter()
        .filter(|seedling| seedling.changes.iter().any(|change| of_kind(change)))
        .copied()
        .collect();
    match fitting.last() {
        // The last has the most in it.
        Some(last) if random.one_in(6) => last,
        Some(_) if random.one_in(2) => random.pick::<&Seedling>(&fitting),
        _ => random.pick::<&Seedling>(&seedlings),
    }
}

/// A new document with some of its fields.
fn scattered(random: &mut Random) -> Tree {
    let kind = *random.pick(kinds::ALL);
    if kind.name == LEGACY {
        return Tree::parse("{machine: {type: worker}, cluster: {}}");
    }
    let mut document = Tree::document(kind.name);
    let place = Place { kind: kind.name, key: "" };
    for field in flat(kind.fields, Dialect::V1_14) {
        if field.key == "name" && !random.one_in(8) || random.one_in(2) {
            *document.entry(field.key) = place.at(field.key).value(random, field.ty, 0);
        }
    }
    document
}

fn kind_of(document: &Tree) -> &'static Kind {
    kinds::find(document.kind()).unwrap_or(kinds::V1ALPHA1)
}

/// Where in a document a value stands: decides what is likely to be right or wrong there.
#[derive(Clone, Copy)]
struct Place {
    kind: &'static str,
    key: &'static str,
}

impl Place {
    fn at(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// Changes one thing in an object.
    fn disturb(self, random: &mut Random, object: &mut Tree, fields: &'static [Field]) {
        let fields = flat(fields, Dialect::V1_14);
        let present: Vec<_> =
            fields.iter().filter(|field| object.get(field.key).is_some()).copied().collect();
        let choice = if present.is_empty() || random.one_in(4) { &fields } else { &present };
        if choice.is_empty() {
            return;
        }
        let field = *random.pick(choice);
        let place = self.at(field.key);
        if object.get(field.key).is_none() {
            *object.entry(field.key) = place.value(random, field.ty, 0);
            return;
        }
        match field.ty {
            Type::Object(inner) | Type::WholeObject(inner) | Type::Encryption(inner)
                if !random.one_in(8) =>
            {
                place.disturb(random, object.entry(field.key), inner);
            }
            Type::List(element) | Type::StrictList(element) | Type::KeyedList(element, ..)
                if !random.one_in(6) =>
            {
                place.disturb_list(random, object.entry(field.key), *element);
            }
            _ if random.one_in(4) => object.remove(field.key),
            _ => *object.entry(field.key) = place.value(random, field.ty, 0),
        }
    }

    fn disturb_list(self, random: &mut Random, list: &mut Tree, element: Type) {
        let Tree::List(items) = list else {
            *list = Tree::List(vec![self.value(random, element, 0)]);
            return;
        };
        if items.is_empty() || random.one_in(3) {
            items.push(self.value(random, element, 0));
            return;
        }
        let at = random.index(items.len());
        match (random.below(6), element) {
            (0, _) => drop(items.remove(at)),
            (1, _) => items.push(items[at].clone()),
            (_, Type::Object(fields)) => self.disturb(random, &mut items[at], fields),
            _ => items[at] = self.value(random, element, 0),
        }
    }

    fn value(self, random: &mut Random, ty: Type, depth: u64) -> Tree {
        match ty {
            Type::Bool => Tree::scalar(if random.one_in(2) { "true" } else { "false" }),
            Type::Int { min, max } => {
                let fits = |number: &&i128| (min..=max).contains(*number);
                let fitting: Vec<_> = NUMBERS.iter().filter(fits).collect();
                Tree::Scalar(random.pick(&fitting).to_string())
            }
            Type::Choice(choice) => {
                if random.one_in(60) {
                    return Tree::scalar("foo");
                }
                Tree::Scalar(format!("{:?}", *random.pick(choice.words)))
            }
            Type::Text | Type::Format(_) | Type::Arguments | Type::Any | Type::Map(_) => {
                let (right, wrong) = self.pool(random, ty);
                let pool = if wrong.is_empty() || random.one_in(2) { right } else { wrong };
                Tree::parse(random.pick::<&str>(pool))
            }
            Type::List(element) | Type::StrictList(element) | Type::KeyedList(element, ..) => {
                let count = if depth > 3 { 0 } else { random.below(4) };
                Tree::List((0..count).map(|_| self.value(random, *element, depth + 1)).collect())
            }
            Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields) => {
                let fields = flat(fields, Dialect::V1_14);
                // Most fields of few, a few of many.
                let rarity = 2 + fields.len() as u64 / 6;
                let mut object = Tree::Map(Vec::new());
                for field in fields {
                    if depth < 5 && (random.one_in(rarity) || random.one_in(3)) {
                        *object.entry(field.key) =
                            self.at(field.key).value(random, field.ty, depth + 1);
                    }
                }
                object
            }
        }
    }

    /// Values that are mostly right here, and values that mostly are not.
    fn pool(self, random: &mut Random, ty: Type) -> (Pool, Pool) {
        if let Type::Format(format) = ty {
            // Most of what a form refuses cannot even be read, so it is rare.
            let unreadable = random.one_in(25);
            return match self.format_pool(random, format) {
                (right, _) if unreadable && format != Format::Expression => (right, &["foo"]),
                (right, wrong) => (right, wrong),
            };
        }
        let kind = self.kind;
        match self.key {
            "name" if kind == "VolumeConfig" => {
                (&["EPHEMERAL", "STATE", "IMAGECACHE", "ETCD", "CRI", "KUBELET", "LOG"], NAMES)
            }
            "name" if kind == "RoutingRuleConfig" => (&["\"5\"", "\"32765\""], NUMBER_NAMES),
            "name" if kind == "EtcFileConfig" => (&["a.conf", "b/c"], FILE_NAMES),
            "name"
                if ["StaticHostConfig", "Layer2VIPConfig", "HCloudVIPConfig"].contains(&kind) =>
            {
                (&["10.0.0.1", "\"::1\""], NAMES)
            }
            "name" if kind == "BlackholeRouteConfig" => (&["10.0.0.0/8", "\"fd00::/8\""], NAMES),
            "name" if kind == "LinkAliasConfig" => (&["net0", "net%d"], LINK_PATTERNS),
            "name" if kind == LEGACY => (&["flannel", "none", "custom", "a", "b"], NAMES),
            "name" => (&["eth0", "a", "b-1"], NAMES),
            "interface" | "link" | "parent" | "links" | "interfaces" | "primary" | "device" => {
                (&["eth0", "eth1", "bond0"], &["\"\"", "\"a b\""])
            }
            "type" if kind == "KubeAuthorizerConfig" => {
                (&["Node", "RBAC", "Webhook"], &["Foo", "\"\"", "node"])
            }
            "type" => {
                (&["worker", "controlplane", "ssd", "Node", "Webhook"], &["foo", "\"\"", "join"])
            }
            "mode" if kind == LEGACY => (BOND_MODES, &["foo", "\"\"", "802.3AD"]),
            "mode" => (&["nftables", "\"\""], &["iptables", "ipvs", "foo"]),
            "xmitHashPolicy" => (&["layer2", "layer3+4", "encap2+3"], &["foo"]),
            "lacpRate" => (&["slow", "fast"], &["foo"]),
            "arpValidate" => (&["none", "active", "all"], &["foo"]),
            "arpAllTargets" => (&["any", "all"], &["foo"]),
            "primaryReselect" => (&["always", "better"], &["foo"]),
            "failOverMac" => (&["none", "active"], &["foo"]),
            "adSelect" => (&["stable", "count"], &["foo"]),
            "format" => (&["json_lines"], &["foo", "\"\""]),
            "nodeAddressSortAlgorithm" => (&["v1", "v2", "V2", "\"\""], &["v3", "foo"]),
            "hostname" => (&["a", "a.b"], &["\"\"", "<a*64>", ".a", "<a.*130>"]),
            "dnsDomain" => (&["cluster.local", "a.b."], &["\"a b\"", "\"\"", ".a", "<a*64>"]),
            "image" if kind == "ImageVerificationConfig" => {
                (&["docker.io/library/nginx", "ghcr.io/*", "\"*\""], IMAGE_PATTERNS)
            }
            "image" => (&["<pinned>", "ghcr.io/a/b:v1"], &["\"\"", "nginx", "\"A B\"", "a:b:c"]),
            "cert" | "ca" | "acceptedCAs" | "certificates" => {
                (&["<certificate>"], &["x", "\"\"", "<key>", "<PEM CERTIFICATE>", "<PEM FOO>"])
            }
            "key" | "privateKey" if kind != "WireguardConfig" && kind != LEGACY => (
                &["<key>", "<rsa key>"],
                &["x", "\"\"", "<certificate>", "<PEM FOO>", "<public key>", "<pkcs8 p256 key>"],
            ),
            "privateKey" | "publicKey" | "presharedKey" | "clusterSecret" => {
                (&[WIREGUARD_KEY], &["x", "\"\"", "YQ==", "\"!!\""])
            }
            "address" | "ip" | "gateway" | "source" => {
                (&["10.0.0.1", "\"fd00::1\""], &["foo", "\"\"", "10.0.0.1/24", "10.0.0.256"])
            }
            "network"
            | "cidr"
            | "addresses"
            | "subnet"
            | "allowedIPs"
            | "validSubnets"
            | "advertisedSubnets"
            | "listenSubnets"
            | "excludeAdvertisedNetworks" => {
                (&["10.0.0.0/8", "10.0.0.1/24", "\"fd00::/8\""], SUBNETS)
            }
            "endpoints" if kind != LEGACY || random.one_in(2) => {
                (&["10.0.0.0/8", "\"!10.0.0.0/8\"", "10.0.0.1"], SUBNETS)
            }
            "endpoint" | "urls" | "manifests" | "endpoints" if kind != "EventSinkConfig" => {
                (&["\"https://10.0.0.1:6443\"", "\"https://a\"", "\"a:1\""], URLS)
            }
            "endpoint" => {
                (&["\"a:1\"", "\"[::1]:80\""], &["foo", "\"\"", "\"::1:80\"", "\"a:b:c\""])
            }
            "servers" => (&["a", "b.c"], &["1.1.1.1", "\"\"", "\"::1\""]),
            "allowedRoles" => (&["\"os:reader\"", "\"os:admin\""], &["\"os:foo\"", "\"\""]),
            "disk" => (&["/dev/sda"], &["\"\""]),
            "tlsServerName" | "tag" | "username" | "password" | "auth" | "identityToken"
            | "apiToken" | "issuer" | "subject" | "subjectRegex" | "certificate"
            | "backendType" | "clusterName" | "clusterID" | "content" | "volumeGroup"
            | "bgpInstance" | "vrf" => (&["a", "b"], &["\"\""]),
            "destination" | "mountPath" | "paths" => (&["/a", "/b", "/t"], &["a", "\"\""]),
            "options" => (&["ro", "rw", "noexec", "rbind"], &["foo", "\"\"", "RO"]),
            "add" | "drop" => (&["NET_RAW", "SYS_TIME"], &["ALL", "CAP_X", "net", "\"\"", "A1"]),
            "environment" => (&["A=b"], &["x", "\"=y\"", "\"\""]),
            "networks" => (&["addresses", "hostname"], &["foo", "\"\""]),
            "containers" => (&["a", "b-1", "other"], &["z", "\"\"", "box"]),
            "cpu" => (&["500m"], &["0m", "\"1\"", "foo", "-5m", "m"]),
            "memory" => (&["1GiB"], &["foo", "-1", "\"\""]),
            "requests" | "limits" => {
                (&["{cpu: 1}", "{memory: 1Gi}"], &["{gpu: 1}", "{}", "{x: 1, cpu: 2}"])
            }
            "extraConfig" | "config" if kind != "KubeEtcdEncryptionConfig" => (
                &["{maxPods: 5}", "{a: {b: 1}}"],
                &["{}", "{port: 1}", "{apiVersion: x, kind: y}", "{staticPodPath: x, a: 1}"],
            ),
            "overrides" | "baseRuntimeSpecOverrides" => (
                &["{process: {rlimits: []}}", "{hostname: a}"],
                &["{process: 5}", "{}", "{hostname: 5}", "{mounts: {}}"],
            ),
            "extraArgs" if matches!(ty, Type::Arguments) => (
                &["{v: \"2\"}", "{a: b}"],
                &[
                    "{authorization-mode: RBAC}",
                    "{authorization-webhook-x: y}",
                    "{oidc-x: a}",
                    "{}",
                ],
            ),
            "nodeLabels" | "labels" => (
                &["{a: b}", "{a/b: \"\"}", "{node-role.kubernetes.io/control-plane: \"\"}"],
                &[
                    "{-a: b}",
                    "{a: -b-}",
                    "{a/b/c: d, /e: f, UP/g: h}",
                    "{\"\": a}",
                    "{}",
                    "{<a*64>: b}",
                ],
            ),
            "nodeAnnotations" | "annotations" => (
                &["{a: \"any text\"}"],
                &["{talos.dev/owned-labels: x}", "{\"a b\": c, -d: e}", "{}"],
            ),
            "nodeTaints" | "taints" => (
                &["{a: NoSchedule}", "{a: \"b:NoExecute\"}"],
                &["{a: Foo, b: \"-:NoSchedule\"}", "{-a: NoExecute}", "{a: \"\"}"],
            ),
            "variables" => (&["{A: b}", "{_a1: b}"], &["{1a: b}", "{a-b: c}", "{\"\": x}"]),
            "params" | "sysctls" | "sysfs" => (&["{a.b: c}"], &["{\"\": x}", "{}"]),
            "features" => (&["{tx: true}"], &[]),
            "mirrors" => {
                (&["{docker.io: {endpoints: [\"https://a\"]}}"], &["{a: {}}", "{b: null}"])
            }
            "webhook" | "pod" | "configuration" => (&["{a: 1}"], &["{}"]),
            _ if matches!(ty, Type::Map(_)) => (&["{}"], &[]),
            _ if matches!(ty, Type::Any | Type::Arguments) => (&["{a: 1}"], &["{}"]),
            _ => (&["a", "b.c"], &["\"\"", "foo"]),
        }
    }

    fn format_pool(self, random: &mut Random, format: Format) -> (Pool, Pool) {
        match format {
            Format::Duration => {
                (&["10s", "1m30s", "1h"], &["0s", "-1s", "5s", "-1m30s", "9999ms", "-500ms"])
            }
            Format::Octal => (&["0o644"], &[]),
            Format::Ip => {
                (&["10.0.0.1", "\"fd00::1\"", "10.0.0.2"], &["\"\"", "0.0.0.0", "\"::\""])
            }
            Format::Cidr if self.kind == "KubeNetworkConfig" => (
                &["10.244.0.0/16", "\"fd00::/56\"", "10.96.0.0/12", "\"fd01::/112\""],
                &[
                    "10.0.0.1/16",
                    "10.0.0.0/29",
                    "10.0.0.0/25",
                    "10.0.0.0/7",
                    "\"\"",
                    "\"fd00::/40\"",
                    "\"fd01::/107\"",
                    "\"fd01::/126\"",
                ],
            ),
            Format::Cidr => (
                &["10.0.0.0/8", "10.1.0.0/16", "\"fd00::/16\"", "11.0.0.0/8"],
                &["\"\"", "0.0.0.0/0", "10.0.0.1/8", "\"::/0\""],
            ),
            Format::IpPort => (&["\"10.0.0.1:51820\""], &["\"\""]),
            Format::Mac => (&["\"aa:bb:cc:dd:ee:ff\""], &["\"\""]),
            Format::Url => {
                let right: Pool = match self.kind {
                    "KmsgLogConfig" => &["\"tcp://a:1\"", "\"udp://a:514/\""],
                    LEGACY => &["\"tcp://a:1\"", "\"https://a\""],
                    _ => &["\"https://a\"", "\"https://a/\"", "\"http://a:80/b\""],
                };
                (right, READABLE_URLS)
            }
            Format::ByteSize => (&["2GiB", "1GiB"], &["-5GiB", "0", "\"\"", "50GiB"]),
            Format::Size => (&["40GiB", "50%"], &["-5GiB", "1MiB", "-10%", "0", "\"\""]),
            Format::DiskSize => (&["10GB"], &["0", "1000"]),
            Format::SizeMatch => (&["'>= 4GB'", "<= 8GB"], &["4GB"]),
            Format::PortRange => (&["80", "443", "1000-2000"], &["2000-1000", "90-1500"]),
            Format::RoutingTable => {
                (&["\"100\"", "\"10\""], &["main", "unspec", "local", "default"])
            }
            Format::Base64 => (&["YQ=="], &["\"\""]),
            Format::Word if self.key == "profile" => {
                (&["restricted", "privileged"], &["foo", "\"\""])
            }
            Format::Word => (&["none", "host"], &["foo", "\"\""]),
            Format::Manifest => (&["abc"], &["\"\""]),
            Format::Expression => {
                let pool = match (self.kind, self.key) {
                    ("OOMConfig", "triggerExpression") => TRIGGER_EXPRESSIONS,
                    ("OOMConfig", _) => RANKING_EXPRESSIONS,
                    ("LinkAliasConfig", _) => LINK_EXPRESSIONS,
                    ("ExistingVolumeConfig" | "LVMVolumeGroupConfig" | "RAIDArrayConfig", _) => {
                        VOLUME_EXPRESSIONS
                    }
                    _ => DISK_EXPRESSIONS,
                };
                let other = *random.pick(&[
                    TRIGGER_EXPRESSIONS,
                    RANKING_EXPRESSIONS,
                    LINK_EXPRESSIONS,
                    VOLUME_EXPRESSIONS,
                    DISK_EXPRESSIONS,
                    BROKEN_EXPRESSIONS,
                    BROKEN_EXPRESSIONS,
                ]);
                (pool, other)
            }
        }
    }
}

/// Values as they are written. No map has two names in it that are wrong as environment variables, or two
/// arguments that contradict an authorizer: talosctl goes through these in the order of a dice.
type Pool = &'static [&'static str];

/// At, below and above every bound that there is.
const NUMBERS: &[i128] = &[
    -1, 0, 1, 2, 5, 10, 16, 23, 24, 25, 32, 33, 64, 100, 101, 128, 129, 1000, 1279, 1280, 4094,
    4095, 6443, 65535, 65536,
];

const WIREGUARD_KEY: &str = "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg=";

const NAMES: Pool = &[
    "\"\"",
    "a_b",
    "\"a b\"",
    "A",
    "10.0.0.1",
    "10.0.0.0/8",
    "<a*64>",
    "<a*35>",
    "<a*16>",
    "a/b",
    "a/b/c",
    "/a",
    "-a",
    "customization",
    "foo",
    "\".\"",
    "é",
    "default",
];

const NUMBER_NAMES: Pool =
    &["\"0\"", "\"32500\"", "\"32766\"", "\"40000\"", "foo", "\"\"", "\"-1\"", "\"4294967296\""];

const FILE_NAMES: Pool = &[
    "\"\"",
    "/a",
    "../a",
    ".a",
    "resolv.conf",
    "kubernetes/x",
    "ssl",
    "cri/conf.d/x",
    "a/../hosts",
    "./hosts",
    "hosts/x",
    "a/../../b",
];

const LINK_PATTERNS: Pool = &["a%s", "\"%d\"", "\"\"", "a%dx", "a%", "a%d%d"];

const BOND_MODES: Pool = &[
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-tlb",
    "balance-alb",
];

const IMAGE_PATTERNS: Pool = &[
    "\"\"",
    "nginx",
    "a/b",
    "a/*",
    "docker.io/a@b",
    "docker.io/a:b",
    "\"h:5000/x\"",
    "localhost/a",
];

const SUBNETS: Pool =
    &["10.0.0.1", "foo", "\"\"", "\"!10.0.0.0/8\"", "10.0.0.0/33", "\"!\"", "\"::1\"", "0.0.0.0/0"];

const URLS: Pool = &[
    "\"\"",
    "foo",
    "\"https://\"",
    "\"https://h:99999\"",
    "\"https://h:0\"",
    "\"https://a/b\"",
    "\"ftp://a\"",
    "\"https://[::1]:1\"",
    "\"https://::1\"",
    "\"/a\"",
    "\"a:b\"",
    "\"::\"",
];

const READABLE_URLS: Pool = &[
    "\"\"",
    "foo",
    "\"https://\"",
    "\"https://h:99999\"",
    "\"https://h:0\"",
    "\"https://a/b\"",
    "\"ftp://a\"",
    "\"grpc://a\"",
    "\"tcp://a\"",
    "\"tcp://a:1/x\"",
    "\"udp://:5\"",
    "\"//a\"",
    "\"http://:80\"",
    "\"grpc://a/x\"",
    "\"HTTP://a\"",
];

const DISK_EXPRESSIONS: Pool = &[
    "system_disk",
    "\"!system_disk\"",
    "'disk.size > 10u * GiB && disk.transport == \"nvme\"'",
    "\"disk.model.startsWith('a') || glob('b*', disk.serial)\"",
    "\"disk.rotational && !disk.readonly && !disk.cdrom\"",
    "\"'x' in disk.symlinks && disk.secondary_disks.size() == 0\"",
    "\"disk.symlinks.exists(s, s.matches('^/dev'))\"",
    "\"disk.size >= 1u * TB ? true : disk.wwid != ''\"",
];

const VOLUME_EXPRESSIONS: Pool = &[
    "\"volume.partition_label == 'x'\"",
    "\"volume.size > 1u * GiB && disk.transport == 'nvme'\"",
    "\"volume.name in ['a', 'b'] && volume.partition_index == 1u\"",
    "\"disk.rotational\"",
];

const LINK_EXPRESSIONS: Pool = &[
    "\"link.driver == 'e1000'\"",
    "\"glob('00:*', mac(link.hardware_addr))\"",
    "\"link.mtu >= 1500u && link.link_state\"",
    "\"link.alt_names.exists(n, n == 'a') || link.speed_megabits > 1000\"",
];

const TRIGGER_EXPRESSIONS: Pool = &[
    "\"memory_full_avg10 > 12.0\"",
    "\"multiply_qos_vectors(d_qos_memory_full_total, {System: 8.0, Podruntime: 4.0}) > 3000.0\"",
    "\"time_since_trigger > duration('500ms') && d_memory_some_avg60 > 0.5\"",
    "\"qos_memory_current[Besteffort] > 5.0\"",
];

const RANKING_EXPRESSIONS: Pool = &[
    "\"memory_max.hasValue() ? 0.0 : 1.0\"",
    "\"double(memory_current.orValue(0u)) * {Besteffort: 1.0, Burstable: 0.5}[class]\"",
    "\"path.startsWith('/kubepods') ? 1.0 : 0.5\"",
];

/// Wrong in every environment.
const BROKEN_EXPRESSIONS: Pool = &[
    "foo",
    "\"\"",
    "1",
    "\"1.5\"",
    "\"'a'\"",
    "\"true &&\"",
    "\"(true\"",
    "\"disk.\"",
    "\"disk.foo == 1\"",
    "\"disk.size > 10\"",
    "\"1 + 'a' == 2\"",
    "\"foo(1)\"",
    "\"glob('a')\"",
    "\"foo && bar\"",
    "\"true ? 1 : 'a'\"",
    "\"[1, 2][0]\"",
    "\"a = b\"",
    "\"true\\n&& foo\"",
    "\"'abc\"",
];
