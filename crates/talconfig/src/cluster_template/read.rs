//! The keys of both files, and what each must be.

use std::net::Ipv4Addr;

use talos_config::yaml::{self, Content, Limits, Node, Resolved};
use talos_config::{Diagnostic, Error, Level, Location, SourceId, suggest};

use super::{INVALID, Network, SCOPES};

/// The keys of `cluster.yaml` that concern Talos.
pub(super) struct ClusterFile {
    pub(super) node_network: Network,
    pub(super) gateway: Ipv4Addr,
    pub(super) vlan: Option<u64>,
    pub(super) api_address: Ipv4Addr,
    pub(super) api_names: Vec<String>,
    pub(super) pods: String,
    pub(super) services: String,
    pub(super) dns_servers: Vec<String>,
    pub(super) time_servers: Vec<String>,
}

/// One node of `nodes.yaml`.
pub(super) struct NodeEntry {
    pub(super) name: String,
    pub(super) address: Ipv4Addr,
    pub(super) is_controller: bool,
    pub(super) disk: String,
    pub(super) mac: String,
    pub(super) schematic: String,
    pub(super) mtu: Option<u64>,
    pub(super) secure_boot: bool,
    pub(super) encrypt_disk: bool,
    pub(super) kernel_modules: Vec<String>,
    origin: Location,
}

/// Parses the only document of a file.
pub(super) fn document(text: &str, source: SourceId) -> Result<Node, Error> {
    let documents = yaml::parse(text, source, Limits::default())?;
    match documents.into_iter().next() {
        Some(document) => Ok(document.root),
        None => {
            let origin = Location { source, line: 1, column: 1 };
            Err(Error::Document(vec![problem(origin, "the file is empty", None)]))
        }
    }
}

fn problem(
    origin: Location,
    message: impl Into<String>,
    hint: Option<String>,
) -> Diagnostic<Location> {
    Diagnostic { hint, ..Diagnostic::error(INVALID, message).at(origin) }
}

pub(super) fn cluster(
    root: &Node,
    problems: &mut Vec<Diagnostic<Location>>,
    warnings: &mut Vec<Diagnostic<Location>>,
) -> Option<ClusterFile> {
    let keys = Keys::new(root);
    let mut reader = Reader { keys: &keys, problems };
    let node_network = reader.required("node_cidr", NETWORK, Network::parse);
    let api_address = reader.required("cluster_api_addr", ADDRESS, parse_address);
    let gateway = reader.optional("node_default_gateway", ADDRESS, parse_address);
    let vlan = reader.optional("node_vlan_tag", "a number from 1 to 4094", |text| {
        text.parse().ok().filter(|tag| (1..=4094).contains(tag))
    });
    let dns_servers =
        reader.list("node_dns_servers", ADDRESS, |text| parse_address(text).is_some());
    let time_servers =
        reader.list("node_ntp_servers", ADDRESS, |text| parse_address(text).is_some());
    let api_names = reader.list("cluster_api_tls_sans", "a domain name", is_domain);
    let pods = reader.optional("cluster_pod_cidr", NETWORK, network_text);
    let services = reader.optional("cluster_svc_cidr", NETWORK, network_text);
    let pods = pods.unwrap_or_else(|| "10.42.0.0/16".to_owned());
    let services = services.unwrap_or_else(|| "10.43.0.0/16".to_owned());
    let nodes = keys.get("node_cidr").and_then(|(_, value)| value.scalar()).map(|(text, _)| text);
    for (key, own, others) in [
        ("cluster_pod_cidr", &pods, [("node_cidr", nodes), ("cluster_svc_cidr", None)]),
        ("cluster_svc_cidr", &services, [("node_cidr", nodes), ("cluster_pod_cidr", Some(&*pods))]),
    ] {
        for (other, network) in others {
            if network == Some(own.as_str()) {
                let message = format!("{key}: {own} is the network of {other} too");
                reader.wrong(key, message, Some("networks must differ".to_owned()));
            }
        }
    }
    for (name, key, _) in &keys.0 {
        // Most keys of the file are about other things than Talos, and people add their own.
        let near = suggest(name, CLUSTER_KEYS.into_iter());
        if let Some(near) = near.filter(|near| near != name && !keys.has(near)) {
            let message = format!("{name} is not known: did you mean {near:?}?");
            let odd = problem(key.origin, message, None);
            warnings.push(Diagnostic { level: Level::Warning, ..odd });
        }
    }
    let node_network = node_network?;
    let gateway = gateway.or_else(|| node_network.host(1));
    if gateway.is_none() {
        reader.wrong(
            "node_cidr",
            "node_cidr has no address for a gateway".to_owned(),
            Some("name it: `node_default_gateway: 10.0.0.1`".to_owned()),
        );
    }
    warnings.extend(networks(&keys, node_network, gateway, &pods, &services));
    let or = |given: Option<Vec<String>>, usual: [&str; 2]| {
        given.unwrap_or_else(|| usual.map(str::to_owned).to_vec())
    };
    Some(ClusterFile {
        node_network,
        gateway: gateway?,
        vlan,
        api_address: api_address?,
        api_names: api_names.unwrap_or_default(),
        pods,
        services,
        dns_servers: or(dns_servers, ["1.1.1.1", "1.0.0.1"]),
        time_servers: or(time_servers, ["162.159.200.1", "162.159.200.123"]),
    })
}

/// Networks that overlap, and a gateway that no node reaches.
fn networks(
    keys: &Keys<'_>,
    nodes: Network,
    gateway: Option<Ipv4Addr>,
    pods: &str,
    services: &str,
) -> Vec<Diagnostic<Location>> {
    let mut problems = Vec::new();
    let mut problem = |key: &str, message: String, hint: &str| {
        problems.push(self::problem(keys.origin(key), message, Some(hint.to_owned())));
    };
    if let Some(gateway) = gateway.filter(|gateway| !nodes.contains(*gateway)) {
        problem(
            "node_default_gateway",
            format!("node_default_gateway: {gateway} is not in node_cidr"),
            "nodes reach a gateway only in their own network",
        );
    }
    let all = [
        ("node_cidr", Some(nodes)),
        ("cluster_pod_cidr", Network::parse(pods)),
        ("cluster_svc_cidr", Network::parse(services)),
    ];
    for (index, (key, network)) in all.iter().enumerate() {
        for (other_key, other) in &all[..index] {
            // Networks that are the same are an error already.
            if let (Some(network), Some(other)) = (network, other)
                && network != other
                && network.overlaps(*other)
            {
                // A default is not in the file: the key that is can be changed.
                let (key, other_key) =
                    if keys.has(key) { (key, other_key) } else { (other_key, key) };
                problem(
                    key,
                    format!("{key} and {other_key} overlap"),
                    "addresses of nodes, pods and services must differ",
                );
            }
        }
    }
    problems
}

pub(super) fn nodes(root: &Node, problems: &mut Vec<Diagnostic<Location>>) -> Vec<NodeEntry> {
    let list = root.get("nodes");
    let items = match list.map(|list| &list.content) {
        Some(Content::Sequence(items)) if !items.is_empty() => items,
        _ => {
            let hint = "write `nodes:` and below it one `- name: …` for each";
            problems.push(problem(
                list.map_or(root.origin, |list| list.origin),
                "the list of nodes is missing",
                Some(hint.to_owned()),
            ));
            return Vec::new();
        }
    };
    let mut entries: Vec<NodeEntry> = Vec::new();
    for item in items {
        let keys = Keys::new(item);
        let Some(entry) = node(&keys, item.origin, problems) else { continue };
        for (key, same) in [
            ("name", entries.iter().find(|other| other.name == entry.name)),
            ("address", entries.iter().find(|other| other.address == entry.address)),
            ("mac_addr", entries.iter().find(|other| other.mac == entry.mac)),
        ] {
            let Some(other) = same else { continue };
            let mut reader = Reader { keys: &keys, problems };
            let value = reader.shown(key);
            let line = other.origin.line;
            let message = format!("{key}: {value} is that of another node, on line {line}");
            reader.wrong(key, message, None);
        }
        entries.push(entry);
    }
    entries
}

fn node(
    keys: &Keys<'_>,
    origin: Location,
    problems: &mut Vec<Diagnostic<Location>>,
) -> Option<NodeEntry> {
    let before = problems.len();
    let mut reader = Reader { keys, problems };
    let name = reader.required("name", "a lower-case name of letters, digits and dashes", |name| {
        is_label(name).then(|| name.to_owned())
    });
    if name.as_deref().is_some_and(|name| SCOPES.contains(&name)) {
        let message =
            format!("name: {} is the name of a directory of patches", reader.shown("name"));
        reader.wrong("name", message, Some("choose another name".to_owned()));
    }
    let address = reader.required("address", ADDRESS, parse_address);
    let is_controller = reader.required_flag("controller");
    let disk = reader.required("disk", "a device or the serial number of a disk", |disk| {
        (!disk.is_empty()).then(|| disk.to_owned())
    });
    let mac =
        reader.required("mac_addr", "a MAC address in lower case, as 00:11:22:aa:bb:cc", |mac| {
            is_mac(mac).then(|| mac.to_owned())
        });
    let wanted = "the id of a schematic: 64 lower-case letters and digits";
    let schematic = reader.required("schematic_id", wanted, |id| is_id(id).then(|| id.to_owned()));
    let mtu = reader.optional("mtu", "a number from 1450 to 9000", |text| {
        text.parse().ok().filter(|mtu| (1450..=9000).contains(mtu))
    });
    let secure_boot = reader.flag("secureboot");
    let encrypt_disk = reader.flag("encrypt_disk");
    let kernel_modules = reader.list("kernel_modules", "the name of a kernel module", is_word);
    for key in VM_KEYS {
        reader.optional(key, "a whole number", |number| number.parse::<u64>().ok());
    }
    for (name, _, _) in &keys.0 {
        if !NODE_KEYS.contains(name) && !VM_KEYS.contains(name) {
            let near = suggest(name, NODE_KEYS.into_iter().chain(VM_KEYS));
            let hint = near.map_or_else(
                || format!("known are: {}", NODE_KEYS.join(", ")),
                |near| format!("did you mean {near:?}?"),
            );
            reader.wrong(name, format!("{name} is not a key of a node"), Some(hint));
        }
    }
    if problems.len() > before {
        return None;
    }
    Some(NodeEntry {
        name: name?,
        address: address?,
        is_controller: is_controller?,
        disk: disk?,
        mac: mac?,
        schematic: schematic?,
        mtu,
        secure_boot,
        encrypt_disk,
        kernel_modules: kernel_modules.unwrap_or_default(),
        origin,
    })
}

/// Nodes that do not fit the cluster.
pub(super) fn misplaced(cluster: &ClusterFile, nodes: &[NodeEntry]) -> Vec<Diagnostic<Location>> {
    let mut problems = Vec::new();
    if let Some(first) = nodes.first().filter(|_| nodes.iter().all(|node| !node.is_controller)) {
        let hint = "set `controller: true` on one node or on three".to_owned();
        problems.push(problem(first.origin, "no node is a control plane", Some(hint)));
    }
    for NodeEntry { address, schematic, origin, .. } in nodes {
        let mut problem = |message: String, hint: Option<&str>| {
            problems.push(problem(*origin, message, hint.map(str::to_owned)));
        };
        if !cluster.node_network.contains(*address) {
            problem(format!("address: {address} is not in node_cidr"), None);
        }
        if !schematic.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            problem(
                format!("schematic_id: {schematic} is not the id of any schematic"),
                Some("an id has no letters beyond f: copy it from the image factory"),
            );
        }
        if *address == cluster.api_address {
            problem(
                format!("address: {address} is cluster_api_addr too"),
                Some(
                    "control planes hand that one over to each other, and etcd does not listen there",
                ),
            );
        }
    }
    problems
}

/// The keys of a mapping, followed by those of merged mappings.
pub(super) struct Keys<'a>(pub(super) Vec<(&'a str, &'a Node, &'a Node)>, Location);

impl<'a> Keys<'a> {
    pub(super) fn new(node: &'a Node) -> Self {
        let mut keys = Self(Vec::new(), node.origin);
        keys.add(node);
        keys
    }

    fn add(&mut self, node: &'a Node) {
        let Content::Mapping(entries) = &node.content else { return };
        let is_merge = |key: &Node| yaml::resolve_node(key) == Resolved::Merge;
        for (key, value) in entries.iter().filter(|(key, _)| !is_merge(key)) {
            if let Some((name, _)) = key.scalar()
                && !self.has(name)
            {
                self.0.push((name, key, value));
            }
        }
        for (_, value) in entries.iter().filter(|(key, _)| is_merge(key)) {
            match &value.content {
                Content::Sequence(several) => several.iter().for_each(|node| self.add(node)),
                _ => self.add(value),
            }
        }
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the location of a key, or that of the mapping.
    fn origin(&self, key: &str) -> Location {
        self.get(key).map_or(self.1, |(key, _)| key.origin)
    }

    /// Returns a key and its value.
    fn get(&self, key: &str) -> Option<(&'a Node, &'a Node)> {
        self.0.iter().find(|(name, _, _)| *name == key).map(|(_, key, value)| (*key, *value))
    }
}

/// Reads keys, and collects their problems.
struct Reader<'a> {
    keys: &'a Keys<'a>,
    problems: &'a mut Vec<Diagnostic<Location>>,
}

impl Reader<'_> {
    fn required<T>(
        &mut self,
        key: &str,
        wanted: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        self.demand(key, wanted);
        self.optional(key, wanted, parse)
    }

    fn required_flag(&mut self, key: &str) -> Option<bool> {
        self.demand(key, FLAG);
        self.keys.get(key).map(|_| self.flag(key))
    }

    fn demand(&mut self, key: &str, wanted: &str) {
        if !self.keys.has(key) {
            let names = self.keys.0.iter().map(|(name, _, _)| *name);
            let others =
                names.filter(|name| !CLUSTER_KEYS.contains(name) && !NODE_KEYS.contains(name));
            let near = suggest(key, others).and_then(|name| Some((name, self.keys.get(name)?.0)));
            let hint = Some(match near {
                Some((name, at)) => {
                    format!("is {name:?} on line {} meant? It is {wanted}", at.origin.line)
                }
                None => format!("it is {wanted}"),
            });
            let message = format!("{key} is missing");
            self.problems.push(problem(self.keys.1, message, hint));
        }
    }

    fn optional<T>(
        &mut self,
        key: &str,
        wanted: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let (_, value) = self.keys.get(key)?;
        let parsed = value.scalar().and_then(|(text, _)| parse(text));
        if parsed.is_none() {
            let message = format!("{key}: {} is not {wanted}", self.shown(key));
            self.wrong(key, message, None);
        }
        parsed
    }

    /// Reads a boolean; false if it is missing.
    fn flag(&mut self, key: &str) -> bool {
        match self.keys.get(key).map(|(_, value)| yaml::resolve_node(value)) {
            None => false,
            Some(Resolved::Bool(flag)) => flag,
            Some(_) => {
                let message = format!("{key}: {} is not {FLAG}", self.shown(key));
                self.wrong(key, message, Some("write it without quotes".to_owned()));
                false
            }
        }
    }

    fn list(
        &mut self,
        key: &str,
        wanted: &str,
        is_right: impl Fn(&str) -> bool,
    ) -> Option<Vec<String>> {
        let (_, value) = self.keys.get(key)?;
        let Content::Sequence(items) = &value.content else {
            let hint = Some("write it as `[first, second]`".to_owned());
            self.wrong(key, format!("{key} is not a list"), hint);
            return None;
        };
        let mut texts = Vec::new();
        for item in items {
            match item.scalar().map(|(text, _)| text) {
                Some(text) if is_right(text) => texts.push(text.to_owned()),
                other => {
                    let shown = other
                        .map_or_else(|| "a list or mapping".to_owned(), |text| format!("{text:?}"));
                    let message = format!("{key}: {shown} is not {wanted}");
                    self.problems.push(problem(item.origin, message, None));
                }
            }
        }
        Some(texts)
    }

    fn wrong(&mut self, key: &str, message: String, hint: Option<String>) {
        self.problems.push(problem(self.keys.origin(key), message, hint));
    }

    /// Returns a value for an error message.
    fn shown(&self, key: &str) -> String {
        let scalar = self.keys.get(key).and_then(|(_, value)| value.scalar());
        scalar.map_or_else(|| "a list or mapping".to_owned(), |(text, _)| format!("{text:?}"))
    }
}

fn parse_address(text: &str) -> Option<Ipv4Addr> {
    text.parse().ok()
}

fn network_text(text: &str) -> Option<String> {
    Network::parse(text).map(|_| text.to_owned())
}

/// Returns true for a label of a domain name, in lower case.
fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

fn is_domain(text: &str) -> bool {
    text.len() <= 253
        && text.trim_end_matches('.').split('.').all(|label| is_label(&label.to_ascii_lowercase()))
}

fn is_mac(text: &str) -> bool {
    let is_pair = |pair: &str| {
        pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    text.split(':').count() == 6 && text.split(':').all(is_pair)
}

fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

const ADDRESS: &str = "an IPv4 address";
const NETWORK: &str = "an IPv4 network, as 10.0.0.0/24";
const FLAG: &str = "true or false";

/// The keys of `cluster.yaml` that are about Talos.
const CLUSTER_KEYS: [&str; 9] = [
    "node_cidr",
    "node_dns_servers",
    "node_ntp_servers",
    "node_default_gateway",
    "node_vlan_tag",
    "cluster_api_addr",
    "cluster_api_tls_sans",
    "cluster_pod_cidr",
    "cluster_svc_cidr",
];

const NODE_KEYS: [&str; 10] = [
    "name",
    "address",
    "controller",
    "disk",
    "mac_addr",
    "schematic_id",
    "mtu",
    "secureboot",
    "encrypt_disk",
    "kernel_modules",
];

/// Keys for users who also create virtual machines from the file; not used here.
const VM_KEYS: [&str; 8] = [
    "vm_id",
    "vm_cores",
    "vm_sockets",
    "vm_memory",
    "vm_disk_size",
    "vm_startup_order",
    "vm_startup_delay",
    "vm_shutdown_delay",
];
