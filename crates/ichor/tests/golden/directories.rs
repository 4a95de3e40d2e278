//! Seeded talconfig directories: every key that a talconfig can have, in the combinations that people write, and
//! every kind of mistake that is refused.
//!
//! In: a seed. Out: files, variables and commands. Of seven directories two have one fault each, and the others
//! nothing that is wrong. Combinations and faults take turns, so that all of them come up; what is around them is left
//! to chance. The same seed always gives the same directory.

// Named by path, because this file is also part of a test of the crate `talconfig`.
#[path = "directories/anchors.rs"]
mod anchors;
#[path = "directories/combinations.rs"]
mod combinations;
#[path = "directories/coverage.rs"]
mod coverage;
#[path = "directories/faults.rs"]
mod faults;
#[path = "directories/machines.rs"]
mod machines;
#[path = "directories/network.rs"]
mod network;
#[path = "directories/patches.rs"]
mod patches;
#[path = "directories/surroundings.rs"]
mod surroundings;
#[path = "directories/written.rs"]
mod written;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use combinations::{Combination, TABLES};
use faults::{FAULTS, Fault};

/// One directory and what is done in it.
pub(crate) struct Directory {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) commands: Vec<Vec<String>>,
    /// Files that are written anew before a command, by the place of the command.
    pub(crate) changes: BTreeMap<usize, (String, String)>,
    /// Whether there are no secrets, so that what is made is new every time.
    pub(crate) is_random: bool,
    /// What is wrong in it.
    pub(crate) fault: Option<&'static str>,
    /// The combinations that it shows.
    pub(crate) shown: BTreeSet<&'static str>,
    /// What the talconfig says, however that is written.
    pub(crate) talconfig: Value,
}

impl Directory {
    pub(crate) fn new(seed: u64) -> Self {
        let mut maker = Maker::new(seed);
        let mut talconfig = maker.talconfig();
        maker.put_together(&mut talconfig);
        maker.surround(&mut talconfig);
        maker.share(&mut talconfig);
        maker.spoil(&mut talconfig);
        let written = maker.marked(&talconfig);
        let mut commands = maker.commands();
        let text = maker.text(&written);
        let place = maker.place();
        let changes = maker.run_again(&written, &place, &mut commands);
        let is_random = maker.is_random();
        let Maker { mut files, beside, variables, shown, fault, .. } = maker;
        files.insert(place, text);
        files.extend(beside);
        for (name, text) in fault.iter().flat_map(|fault| fault.files) {
            files.insert((*name).to_owned(), (*text).to_owned());
        }
        let fault = fault.map(|fault| fault.name);
        Self { files, variables, commands, changes, is_random, fault, shown, talconfig }
    }
}

struct Maker {
    random: Random,
    /// Files that the talconfig names.
    files: BTreeMap<String, String>,
    /// Files that are looked for where the program is started.
    beside: BTreeMap<String, String>,
    /// Variables of the process.
    variables: BTreeMap<String, String>,
    /// Further words of `genconfig`.
    flags: Vec<String>,
    /// Of the release of Talos.
    minor: u32,
    /// The combination that has to come up; none where something is wrong.
    turn: &'static str,
    shown: BTreeSet<&'static str>,
    fault: Option<&'static Fault>,
    /// Whether most keys are there.
    generous: bool,
    /// Whether patches are RFC 6902 operations, which work on one document only.
    operations: bool,
    /// Whether what is being made is for a control plane.
    control_plane: bool,
}

impl Maker {
    fn new(seed: u64) -> Self {
        let (round, place) = (seed / 7, seed % 7);
        let fault = match place {
            3 => Some(at(FAULTS, round * 2)),
            6 => Some(at(FAULTS, round * 2 + 1)),
            _ => None,
        };
        let all: Vec<&'static Combination> = all_combinations().collect();
        let turn = *at(&all, round * 5 + place - u64::from(place > 3));
        let (least, most) = fault.map_or(turn.minors, |fault| fault.minors);
        let turn = if fault.is_some() { "" } else { turn.name };
        let mut random = Random(seed);
        let minor = loop {
            let minor = *random.pick(RELEASES);
            if (least..=most).contains(&minor) {
                break minor;
            }
        };
        let generous = random.one_in(6) && fault.is_none();
        let by_turn = turn.starts_with("operations");
        let mut about_patches = combinations::DOCUMENTS.iter().chain(combinations::PATCHES);
        let needs_documents = about_patches.any(|combination| combination.name == turn);
        let by_luck = random.one_in(3) && fault.is_none() && !needs_documents;
        let mut maker = Self {
            random,
            files: BTreeMap::new(),
            beside: BTreeMap::new(),
            variables: BTreeMap::new(),
            flags: Vec::new(),
            minor,
            turn,
            shown: BTreeSet::new(),
            fault,
            generous,
            operations: minor < 12 && (by_turn || by_luck),
            control_plane: true,
        };
        maker.shown.insert(TALOS[minor as usize - 2]);
        maker
    }

    /// A talconfig in which everything is right.
    fn talconfig(&mut self) -> Value {
        let mut cluster = self.object(CLUSTER);
        cluster["kubernetesVersion"] = json!(self.kubernetes_version());
        if let Some(version) = self.talos_version() {
            cluster["talosVersion"] = json!(version);
        }
        if self.often(4) {
            cluster["patches"] = self.patches();
        }
        if self.often(8) {
            cluster["inlineManifests"] = self.list(|maker, index| {
                let mut manifest = json!({ "name": format!("manifest-{index}") });
                manifest["contents"] = json!(maker.content());
                if maker.random.one_in(3) {
                    manifest["skipEnvsubst"] = json!(maker.random.one_in(2));
                }
                manifest
            });
        }
        for (group, one_in) in [("controlPlane", 2), ("worker", 3)] {
            self.control_plane = group == "controlPlane";
            if self.often(one_in) {
                cluster[group] = Value::Object(self.shared(3));
            }
        }
        let (count, control_planes) = self.size();
        let mut nodes = Vec::new();
        for index in 0..count {
            self.control_plane = index < control_planes;
            nodes.push(self.node(index));
        }
        cluster["nodes"] = json!(nodes);
        cluster
    }

    fn kubernetes_version(&mut self) -> String {
        let (least, most) = KUBERNETES[self.minor as usize - 2];
        let minor = least + self.random.below(most - least + 1);
        match self.one_shown(combinations::KUBERNETES, 20) {
            "Kubernetes without its v" => format!("1.{minor}.1"),
            "Kubernetes of two parts" => format!("v1.{minor}"),
            _ => format!("v1.{minor}.1"),
        }
    }

    fn talos_version(&mut self) -> Option<String> {
        let minor = self.minor;
        match self.one_shown(combinations::VERSIONS, 4) {
            "no release of Talos" => None,
            "a release without its v" => Some(format!("1.{minor}.0")),
            "a patch release" => Some(format!("v1.{minor}.{}", 1 + self.random.below(4))),
            "a release that is not known" => Some(format!("v1.{minor}.99")),
            _ => Some(format!("v1.{minor}.0")),
        }
    }

    /// How many machines there are, and how many of them, the first ones, are control planes.
    fn size(&mut self) -> (u32, u32) {
        // Whatever is shared between machines needs two of them.
        let count = 2 + self.random.below(3);
        match self.one_shown(combinations::SIZES, 3) {
            "one machine" => (1, 1),
            "no control plane" => (count, 0),
            "one control plane" => (count, 1),
            "three control planes" => (count.max(3), 3),
            "six machines" => (6, 1 + self.random.below(6)),
            _ => (count, 1 + self.random.below(count)),
        }
    }

    fn node(&mut self, index: u32) -> Value {
        let name =
            if self.random.one_in(10) { format!("N{index}.lan") } else { format!("n{index}") };
        let address = format!("10.0.0.1{index}");
        let address = match self.one_shown(combinations::ADDRESSES, 12) {
            "several addresses" => format!("{address}, fd00::1{index}"),
            "an address that is a name" => format!("node{index}.lan"),
            _ => address,
        };
        let mut node = json!({ "hostname": name, "ipAddress": address });
        if self.control_plane || self.random.one_in(2) {
            node["controlPlane"] = json!(self.control_plane);
        }
        match self.random.below(6) {
            0 | 1 => node["installDiskSelector"] = self.one_of(machines::DISK_SELECTORS),
            2 => {
                node["installDisk"] = json!("/dev/nvme0n1");
                node["installDiskSelector"] = json!({ "model": "WDC*" });
            }
            _ => node["installDisk"] = json!("/dev/sda"),
        }
        for (key, one_in) in [
            ("ignoreHostname", 8),
            ("overridePatches", 8),
            ("overrideExtraManifests", 12),
            ("overrideMachineCertSANs", 12),
        ] {
            if self.often(one_in) {
                node[key] = json!(!self.random.one_in(4));
            }
        }
        for (key, value) in self.shared(4) {
            node[key] = value;
        }
        node
    }

    /// An object with some of the keys of a table.
    fn object(&mut self, table: &[Key]) -> Value {
        let mut object = Map::new();
        for (key, one_in, texts) in table {
            if self.often(*one_in) {
                object.insert((*key).to_owned(), self.one_of(texts));
            }
        }
        Value::Object(object)
    }

    /// One of several values, each written as JSON.
    fn one_of(&mut self, texts: &[&str]) -> Value {
        parsed(self.random.pick::<&str>(texts))
    }

    /// None, one or two elements.
    fn list(&mut self, mut make: impl FnMut(&mut Self, u32) -> Value) -> Value {
        let count = match self.random.below(8) {
            0 => 0,
            1..=4 => 1,
            _ => 2,
        };
        let mut items = Vec::new();
        for index in 0..count {
            items.push(make(self, index));
        }
        Value::Array(items)
    }

    /// Whether something is there that is there in one of so many cases; more often in a generous directory.
    fn often(&mut self, one_in: u32) -> bool {
        let one_in = if self.generous { one_in.min(2) } else { one_in };
        self.random.one_in(one_in)
    }

    /// Whether to show a combination: when it is its turn, and else in one of so many cases. Where something is wrong
    /// there are none, or the fault might be passed over.
    fn shows(&mut self, name: &'static str, one_in: u32) -> bool {
        let by_luck = self.random.one_in(one_in) && self.fault.is_none();
        let shows = (self.turn == name || by_luck) && self.allows(name);
        if shows {
            self.shown.insert(name);
        }
        shows
    }

    /// The one to show of several combinations that exclude each other; empty where there is none.
    fn one_shown(&mut self, table: &'static [Combination], one_in: u32) -> &'static str {
        let by_turn = table.iter().find(|combination| combination.name == self.turn);
        let by_luck = self.random.one_in(one_in) && self.fault.is_none();
        let name = match by_turn {
            Some(combination) => combination.name,
            None if by_luck => self.random.pick(table).name,
            None => return "",
        };
        if !self.allows(name) {
            return "";
        }
        self.shown.insert(name);
        name
    }

    /// Whether a combination may come up, and the release of Talos has what it needs.
    fn allows(&self, name: &str) -> bool {
        let combination = all_combinations().find(|combination| combination.name == name);
        let combination = combination.expect("a combination of the tables");
        let (least, most) = combination.minors;
        (combination.by_luck || self.turn == name) && (least..=most).contains(&self.minor)
    }
}

/// A key, in one of how many cases it is there, and what it may be, as JSON.
type Key = (&'static str, u32, &'static [&'static str]);

/// All combinations.
fn all_combinations() -> impl Iterator<Item = &'static Combination> {
    TABLES.iter().flat_map(|table| table.iter())
}

/// The element whose turn it is.
fn at<T>(list: &[T], number: u64) -> &T {
    let length = u64::try_from(list.len()).unwrap_or(1);
    &list[usize::try_from(number % length).unwrap_or(0)]
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text} is no JSON: {error}"))
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

const CLUSTER: &[Key] = &[
    ("clusterName", 1, &[r#""c1""#, r#""home-lab""#, r#""prod""#]),
    (
        "endpoint",
        1,
        &[
            r#""https://10.0.0.1:6443""#,
            r#""https://k8s.lan:6443""#,
            r#""https://[fd00::1]:6443""#,
            r#""https://10.0.0.1""#,
        ],
    ),
    ("domain", 6, &[r#""cluster.local""#, r#""a.b.c""#, r#""a_b.c.""#]),
    ("allowSchedulingOnMasters", 6, &["true", "false"]),
    ("allowSchedulingOnControlPlanes", 6, &["true", "false"]),
    ("additionalMachineCertSans", 4, &["[]", r#"["m.lan"]"#, r#"["10.9.9.9", "fd00::9"]"#]),
    ("additionalApiServerCertSans", 3, &["[]", r#"["api.lan"]"#, r#"["10.0.0.1", "10.0.0.1"]"#]),
    ("clusterPodNets", 4, &["[]", r#"["10.42.0.0/16"]"#, r#"["10.42.0.0/16", "fd00:42::/56"]"#]),
    ("clusterSvcNets", 4, &["[]", r#"["10.43.0.0/16"]"#, r#"["10.43.0.0/16", "fd00:43::/112"]"#]),
    (
        "cniConfig",
        3,
        &[
            r#"{"name": "flannel"}"#,
            r#"{"name": "none"}"#,
            r#"{"name": "none", "urls": []}"#,
            r#"{"name": "custom", "urls": ["https://a.b/cni.yaml"]}"#,
            r#"{"name": "custom", "urls": ["https://a.b/cni.yaml", "http://c.d/more.yaml"]}"#,
            r#"{"name": "flannel", "flannel": {"extraArgs": ["--iface-can-reach=10.0.0.1"]}}"#,
            r#"{"name": "flannel", "flannel": {"extraArgs": ["-v", "--iface=eth0"]}}"#,
            r#"{"name": "flannel", "flannel": {"extraArgs": [], "kubeNetworkPoliciesEnabled": true}}"#,
        ],
    ),
    (
        "imageFactory",
        8,
        &[
            r#"{"registryURL": "factory.lan"}"#,
            r#"{"registryURL": "f.lan:8080", "schematicEndpoint": "/s", "protocol": "http"}"#,
            r#"{"schematicEndpoint": "/schematics", "installerURLTmpl": "{{.RegistryURL}}/x/{{.ID}}:{{.Version}}"}"#,
            r#"{"installerURLTmpl": "{{.RegistryURL}}/{{.Mode | upper | lower}}{{if .Secureboot}}-sb{{end}}/{{.ID | trunc 8}}:{{.Version}}"}"#,
            r#"{"protocol": "http", "ISOURLTmpl": "{{.Protocol}}://{{.RegistryURL}}/{{.ID}}/{{.Version}}/{{.Mode}}-{{.Arch}}-{{.BootMethod}}{{.Suffix}}-{{.Secureboot}}-{{.UseUKI}}"}"#,
            r#"{"ImageURLTmpl": "not a key"}"#,
        ],
    ),
    ("unknownKey", 10, &[r#"{"a": [1, 2]}"#]),
];

/// Minor releases of Talos, those in use more often.
const RELEASES: &[u32] = &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12, 12, 12, 13, 13, 13, 13];

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

/// The combinations that are a release of Talos.
const TALOS: [&str; 12] = [
    "Talos 1.2",
    "Talos 1.3",
    "Talos 1.4",
    "Talos 1.5",
    "Talos 1.6",
    "Talos 1.7",
    "Talos 1.8",
    "Talos 1.9",
    "Talos 1.10",
    "Talos 1.11",
    "Talos 1.12",
    "Talos 1.13",
];
