//! The cluster-template's `cluster.yaml` and `nodes.yaml`, converted to a talconfig.
//!
//! Both files go in ([`ClusterTemplate::parse`]), and the talconfig that the template would
//! generate comes out ([`ClusterTemplate::talconfig`]). The user's own patches are templates,
//! rendered with the same values ([`ClusterTemplate::render`]).
//!
//! Always holds: every constraint is checked before there is any output, and all problems are
//! reported at once, each with its location and a hint.

mod read;
mod tags;
mod template;
mod write;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use talos_config::{Diagnostic, Error, Location, SourceId, code_table};

use crate::error::ErrorDetail;
use read::{ClusterFile, NodeEntry};

/// A cluster as the two files describe it.
pub struct ClusterTemplate {
    cluster: ClusterFile,
    nodes: Vec<NodeEntry>,
    /// The data of templates.
    data: minijinja::Value,
    /// Warnings, which do not stop the command.
    pub warnings: Vec<Diagnostic<Location>>,
}

code_table! {
    pub CODES;
    INVALID = "guide.invalid";
    TEMPLATE = "guide.template";
}

/// The names of patch files by scope or by the name of a node. Names are sorted.
pub type PatchFiles = BTreeMap<String, Vec<String>>;

/// For all nodes, for controllers, for workers.
pub const SCOPES: [&str; 3] = ["global", "controller", "worker"];

impl ClusterTemplate {
    /// Reads and checks both files.
    pub fn parse(cluster: (&str, SourceId), nodes: (&str, SourceId)) -> Result<Self, Error> {
        let cluster = read::document(cluster.0, cluster.1)?;
        let nodes = read::document(nodes.0, nodes.1)?;
        let mut problems = Vec::new();
        let mut warnings = Vec::new();
        let read_cluster = read::cluster(&cluster, &mut problems, &mut warnings);
        let read_nodes = read::nodes(&nodes, &mut problems);
        let (Some(read_cluster), true) = (read_cluster, problems.is_empty()) else {
            return Err(Error::Document(problems));
        };
        warnings.extend(read::misplaced(&read_cluster, &read_nodes));
        let data = template::data(&cluster, &nodes, &read_cluster, read_nodes.len());
        Ok(Self { cluster: read_cluster, nodes: read_nodes, data, warnings })
    }

    /// Returns the names of the nodes.
    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.name.as_str())
    }

    /// Returns the talconfig, with references to the patches.
    pub fn talconfig(&self, patches: &PatchFiles) -> String {
        write::talconfig(&self.cluster, &self.nodes, patches)
    }

    /// Renders a template; errors refer to it as `name`.
    pub fn render(
        &self,
        name: &str,
        template: &str,
        patches: &PatchFiles,
    ) -> Result<String, ErrorDetail> {
        template::render(name, template, &self.data, patches)
    }
}

/// A network and how much of an address it takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Network {
    address: Ipv4Addr,
    prefix: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let prefix = prefix.parse().ok().filter(|prefix| *prefix <= 32)?;
        Some(Self { address: address.parse().ok()?, prefix })
    }

    /// Returns the n-th address of the network.
    fn host(self, number: u32) -> Option<Ipv4Addr> {
        let first = u32::from(self.address) & self.mask();
        let within = u64::from(number) < 1u64 << (32 - self.prefix);
        within.then(|| Ipv4Addr::from(first + number))
    }

    fn contains(self, address: Ipv4Addr) -> bool {
        u32::from(address) & self.mask() == u32::from(self.address) & self.mask()
    }

    fn overlaps(self, other: Self) -> bool {
        self.contains(other.address) || other.contains(self.address)
    }

    fn mask(self) -> u32 {
        u32::MAX.checked_shl(32 - self.prefix).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: &str = "node_cidr: 10.0.0.0/24\ncluster_api_addr: 10.0.0.10\n";

    /// Returns a file of one valid node, with one line of it replaced or added.
    fn node(key: &str, value: &str) -> String {
        let id = "a1".repeat(32);
        let good = [
            ("name", "cp-1"),
            ("address", "10.0.0.11"),
            ("controller", "true"),
            ("disk", "/dev/sda"),
            ("mac_addr", "00:11:22:33:44:aa"),
            ("schematic_id", &id),
        ];
        let mut lines: Vec<(&str, &str)> =
            good.into_iter().filter(|(name, _)| *name != key).collect();
        if !value.is_empty() {
            lines.push((key, value));
        }
        let lines: Vec<String> =
            lines.into_iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        format!("nodes:\n  - {}", lines.join("    ").trim_end())
    }

    fn problems(cluster: &str, nodes: &str) -> Vec<Diagnostic<Location>> {
        match ClusterTemplate::parse((cluster, SourceId(1)), (nodes, SourceId(2))) {
            Ok(_) => Vec::new(),
            Err(Error::Document(problems)) => problems,
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn each_constraint_of_a_node_is_checked_at_its_place() {
        assert_eq!(problems(CLUSTER, &node("", "")), []);
        let long = "a".repeat(64);
        let short = "a".repeat(63);
        for (key, value, wrong) in [
            ("name", "", "name is missing"),
            ("name", "Cp-1", "name: \"Cp-1\" is not a lower-case name"),
            ("name", "-cp", "name: \"-cp\" is not a lower-case name"),
            ("name", &long, "is not a lower-case name"),
            ("name", "global", "name: \"global\" is the name of a directory of patches"),
            ("name", "controller", "name: \"controller\" is the name of a directory of patches"),
            ("name", "worker", "name: \"worker\" is the name of a directory of patches"),
            ("address", "", "address is missing"),
            ("address", "10.0.0.300", "address: \"10.0.0.300\" is not an IPv4 address"),
            ("address", "fd00::1", "address: \"fd00::1\" is not an IPv4 address"),
            ("controller", "", "controller is missing"),
            ("controller", "\"true\"", "controller: \"true\" is not true or false"),
            ("disk", "", "disk is missing"),
            ("disk", "\"\"", "disk: \"\" is not a device or the serial number of a disk"),
            ("mac_addr", "", "mac_addr is missing"),
            ("mac_addr", "00-11-22-33-44-55", "is not a MAC address in lower case"),
            ("mac_addr", "00:11:22:33:44:AA", "is not a MAC address in lower case"),
            ("schematic_id", "", "schematic_id is missing"),
            ("schematic_id", &short, "is not the id of a schematic"),
            ("schematic_id", &format!("{short}A"), "is not the id of a schematic"),
            ("mtu", "1449", "mtu: \"1449\" is not a number from 1450 to 9000"),
            ("mtu", "9001", "mtu: \"9001\" is not a number from 1450 to 9000"),
            ("mtu", "big", "mtu: \"big\" is not a number from 1450 to 9000"),
            ("secureboot", "maybe", "secureboot: \"maybe\" is not true or false"),
            ("encrypt_disk", "1", "encrypt_disk: \"1\" is not true or false"),
            ("kernel_modules", "zfs", "kernel_modules is not a list"),
            ("kernel_modules", "[\"a b\"]", "\"a b\" is not the name of a kernel module"),
            ("vm_cores", "four", "vm_cores: \"four\" is not a whole number"),
            ("encrypt_dsk", "true", "encrypt_dsk is not a key of a node"),
        ] {
            let text = node(key, value);
            let found = problems(CLUSTER, &text);
            assert_eq!(found.len(), 1, "{key}: {value}: {found:?}");
            assert!(found[0].message.contains(wrong), "{key}: {value}: {found:?}");
            assert_eq!(found[0].location.unwrap().source, SourceId(2));
            let line = text.lines().position(|line| line.contains(&format!("{key}: ")));
            let line = line.map_or(2, |line| u32::try_from(line).unwrap() + 1);
            assert_eq!(found[0].location.unwrap().line, line, "{key}: {value}");
        }
        for value in ["1450", "9000"] {
            assert_eq!(problems(CLUSTER, &node("mtu", value)), []);
        }
        let hint = problems(CLUSTER, &node("encrypt_dsk", "true")).remove(0).hint;
        assert_eq!(hint.as_deref(), Some("did you mean \"encrypt_disk\"?"));
    }

    #[test]
    fn nodes_differ_in_name_address_and_mac() {
        let first = node("", "");
        let other = [("name", "w-1"), ("address", "10.0.0.12"), ("mac_addr", "00:11:22:33:44:bb")];
        for (same, _) in other {
            let mut second = first.trim_start_matches("nodes:\n").to_owned();
            for (key, value) in other.into_iter().filter(|(key, _)| *key != same) {
                let line = second.lines().find(|line| line.contains(&format!("{key}: "))).unwrap();
                let (before, _) = line.split_once(": ").unwrap();
                second = second.replace(line, &format!("{before}: {value}"));
            }
            let found = problems(CLUSTER, &format!("{first}\n{second}\n"));
            assert_eq!(found.len(), 1, "{same}: {found:?}");
            assert!(found[0].message.starts_with(&format!("{same}: ")), "{found:?}");
            assert!(found[0].message.ends_with("is that of another node, on line 2"), "{found:?}");
        }
        for nothing in ["nodes: []", "{}", "nodes: many"] {
            assert_eq!(problems(CLUSTER, nothing).len(), 1, "{nothing}");
        }
    }

    #[test]
    fn each_constraint_of_the_cluster_is_checked_at_its_place() {
        for (text, wrong) in [
            ("cluster_api_addr: 10.0.0.10\n", "node_cidr is missing"),
            ("node_cidr: 10.0.0.0/24\n", "cluster_api_addr is missing"),
            ("{CLUSTER}node_cidr: 10.0.0.0", "node_cidr: \"10.0.0.0\" is not an IPv4 network"),
            ("{CLUSTER}node_cidr: 10.0.0.0/33", "is not an IPv4 network"),
            ("{CLUSTER}cluster_api_addr: api", "cluster_api_addr: \"api\" is not an IPv4 address"),
            ("{CLUSTER}node_default_gateway: \"\"", "node_default_gateway: \"\" is not an IPv4"),
            (
                "{CLUSTER}node_dns_servers: [dns]",
                "node_dns_servers: \"dns\" is not an IPv4 address",
            ),
            ("{CLUSTER}node_ntp_servers: 1.1.1.1", "node_ntp_servers is not a list"),
            ("{CLUSTER}node_vlan_tag: \"\"", "node_vlan_tag: \"\" is not a number from 1 to 4094"),
            ("{CLUSTER}node_vlan_tag: 4095", "is not a number from 1 to 4094"),
            ("{CLUSTER}cluster_api_tls_sans: [a_b]", "\"a_b\" is not a domain name"),
            (
                "{CLUSTER}cluster_pod_cidr: pods",
                "cluster_pod_cidr: \"pods\" is not an IPv4 network",
            ),
            ("{CLUSTER}cluster_svc_cidr: 10.42.0.0/16", "is the network of cluster_pod_cidr too"),
            ("{CLUSTER}cluster_pod_cidr: 10.0.0.0/24", "is the network of node_cidr too"),
        ] {
            // A key that is there already is replaced.
            let (base, line) =
                text.split_once("{CLUSTER}").map_or((text, ""), |(_, line)| (CLUSTER, line));
            let key = line.split(':').next().unwrap_or_default();
            let kept = base.lines().filter(|line| key.is_empty() || !line.starts_with(key));
            let text = kept.chain([line]).collect::<Vec<_>>().join("\n");
            let found = problems(&text, &node("", ""));
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].message.contains(wrong), "{text}: {found:?}");
            assert_eq!(found[0].location.unwrap().source, SourceId(1));
        }
    }

    #[test]
    fn what_is_only_questionable_is_a_warning() {
        let cluster = format!("{CLUSTER}node_vlan_tga: 5\ncloudflare_domain: example.com\n");
        let nodes = node("address", "10.0.1.11");
        let guide = ClusterTemplate::parse((&cluster, SourceId(1)), (&nodes, SourceId(2))).unwrap();
        let warnings: Vec<&str> =
            guide.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(
            warnings,
            [
                "node_vlan_tga is not known: did you mean \"node_vlan_tag\"?",
                "address: 10.0.1.11 is not in node_cidr",
            ]
        );
        let nodes = node("address", "10.0.0.10");
        let guide = ClusterTemplate::parse((CLUSTER, SourceId(1)), (&nodes, SourceId(2))).unwrap();
        assert_eq!(guide.warnings[0].message, "address: 10.0.0.10 is cluster_api_addr too");
    }

    #[test]
    fn cluster_that_cannot_work_is_a_warning() {
        let warnings = |cluster: &str, nodes: &str| -> Vec<String> {
            let cluster = format!("{CLUSTER}{cluster}");
            let guide =
                ClusterTemplate::parse((&cluster, SourceId(1)), (nodes, SourceId(2))).unwrap();
            let shown = |warning: Diagnostic<Location>| {
                format!("{}: {}", warning.location.unwrap().line, warning.message)
            };
            guide.warnings.into_iter().map(shown).collect()
        };
        let good = node("", "");
        assert_eq!(warnings("", &good), [""; 0]);
        assert_eq!(
            warnings("node_default_gateway: 10.0.1.1\n", &good),
            ["3: node_default_gateway: 10.0.1.1 is not in node_cidr"]
        );
        assert_eq!(
            warnings("cluster_pod_cidr: 10.0.0.0/8\n", &good),
            [
                "3: cluster_pod_cidr and node_cidr overlap",
                "3: cluster_pod_cidr and cluster_svc_cidr overlap"
            ]
        );
        assert_eq!(
            warnings("cluster_svc_cidr: 10.42.128.0/17\n", &good),
            ["3: cluster_svc_cidr and cluster_pod_cidr overlap"]
        );
        let id = "g1".repeat(32);
        assert_eq!(
            warnings("", &node("schematic_id", &id)),
            [format!("2: schematic_id: {id} is not the id of any schematic")]
        );
        assert_eq!(warnings("", &node("controller", "false")), ["2: no node is a control plane"]);
    }

    #[test]
    fn missing_key_names_the_misspelt_one() {
        let found = problems("node_cidr: 10.0.0.0/24\ncluster_api_adr: 10.0.0.10\n", &node("", ""));
        assert_eq!(found[0].message, "cluster_api_addr is missing");
        assert_eq!(
            found[0].hint.as_deref(),
            Some("is \"cluster_api_adr\" on line 2 meant? It is an IPv4 address")
        );
    }

    #[test]
    fn a_key_may_come_from_an_anchor() {
        let shared = node("name", "").replacen("nodes:\n  - ", "", 1).replace("    ", "  ");
        let text = format!("all: &all\n  {shared}\nnodes:\n  - <<: *all\n    name: cp-1\n");
        assert_eq!(problems(CLUSTER, &text), []);
    }

    #[test]
    fn hosts_of_a_network() {
        let network = |text: &str| Network::parse(text).unwrap();
        assert_eq!(network("10.0.0.77/24").host(1), Some(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!(network("10.0.0.1/32").host(1), None);
        assert_eq!(network("0.0.0.0/0").host(1), Some(Ipv4Addr::new(0, 0, 0, 1)));
    }
}
