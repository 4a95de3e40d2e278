//! The validation rules of talhelper, in its words.

mod interfaces;
mod references;

use talos_config::{Contract, FileLocation, KubernetesRange, Value, rules, suggest};

use crate::door::image::Factory;
use crate::door::load::{Node, Talconfig};
use crate::door::release_catalog::{LATEST, ReleaseCatalog};
use crate::door::source_text::SourceText;
use crate::gotemplate;
use crate::host::Host;
use crate::value_ext::ValueExt;

/// One thing that is wrong or questionable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The name of the rule.
    pub kind: &'static str,
    /// The key that it is about.
    pub field: String,
    /// The file and the line of that key, where they are known.
    pub location: Option<FileLocation>,
    /// One message a line.
    pub messages: Vec<String>,
    /// True if it does not stop the command.
    pub is_warning: bool,
}

impl Finding {
    /// Returns what can be done about it, where that does not follow from the messages.
    pub fn hint(&self) -> Option<&'static str> {
        let (_, hint) = HINTS.iter().find(|(kind, _)| *kind == self.kind)?;
        Some(hint)
    }

    /// Returns what is wrong with the key, in our own words where talhelper's repeat it.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        let is_missing = self.kind.ends_with("Required");
        let messages = self.messages.iter();
        messages.map(move |text| if is_missing { "is required" } else { text.trim_end() })
    }
}

/// What can be done about findings, by the names of their rules.
const HINTS: &[(&str, &str)] = &[
    ("ClusterNameRequired", "for example: `clusterName: home`"),
    ("KubernetesVersionRequired", "write `kubernetesVersion: v…` here or in talenv.yaml"),
    ("EndpointRequired", "for example: `endpoint: https://10.0.0.10:6443`"),
    ("NodesRequired", "write `nodes:` and below it `- hostname: …` for each machine"),
    ("InvalidTalosVersion", "write a release such as v1.13.0"),
    ("InvalidKubernetesVersion", "choose a release that this release of Talos supports"),
    ("InvalidTalosEndpoint", "for example: `endpoint: https://10.0.0.10:6443`"),
    ("InvalidDomain", "for example: `domain: cluster.local`"),
    ("InvalidClusterPodNets", "for example: `clusterPodNets: [10.42.0.0/16]`"),
    ("InvalidClusterSvcNets", "for example: `clusterSvcNets: [10.43.0.0/16]`"),
    ("NodeHostnameRequired", "for example: `hostname: cp-1`"),
    ("NodeIPAddressRequired", "write the address at which the machine is reached"),
    ("NodeInstallRequired", "for example: `installDisk: /dev/sda`, or an installDiskSelector"),
    ("InvalidNodeIPAddress", "separate several addresses by commas"),
    ("InvalidNodeHostname", "a name is letters, digits and dashes between points"),
    ("InvalidNodeSchematic", "`ichor extensions VERSION` lists the extensions of a release"),
    ("InvalidMachineFiles", "op is create, append or overwrite, path is absolute"),
    ("InvalidNodeNameservers", "for example: `nameservers: [10.0.0.1]`"),
];

/// Applies all rules.
pub(crate) fn check(talconfig: &Talconfig, host: &dyn Host) -> Vec<Finding> {
    host.debug(&|| "start validating talconfig file".to_owned());
    let mut findings = Findings { all: Vec::new(), source_text: &talconfig.source_text };
    check_cluster(talconfig, host.release_catalog(), &mut findings);
    warn_of_unknown_release(talconfig, host);
    let factory = Factory::from_talconfig(&talconfig.cluster);
    for node in &talconfig.nodes {
        host.debug(&|| format!("validating config file for node {}", node.hostname()));
        let mut findings = findings.of_node(node);
        check_identity(node, &mut findings);
        check_kubernetes(&node.value, &mut findings);
        check_disks_and_files(&node.value, &mut findings);
        if factory.registry == "factory.talos.dev" && !node.value.flag_at("noSchematicValidate") {
            host.debug(&|| {
                let name = node.hostname();
                format!("validating schematic with official Talos schematic for node {name}")
            });
            check_schematic(&node.value, &talconfig.talos(), host.release_catalog(), &mut findings);
        }
        let nameservers = node.value.texts_at("nameservers");
        if !nameservers.iter().all(|address| rules::is_ip(address)) {
            let message =
                format!("{} is not a valid list of IP addresses", quoted_list(&nameservers));
            findings.error("InvalidNodeNameservers", "nameservers", [message]);
        }
        interfaces::check(node.value.items_at("networkInterfaces"), &mut findings);
        check_machine_spec(node.value.get("machineSpec"), &mut findings);
        check_firewall(node.value.get("ingressFirewall"), &mut findings);
        check_extra_manifests(&node.value, host, &mut findings);
    }
    findings.all
}

struct Findings<'a> {
    all: Vec<Finding>,
    source_text: &'a SourceText,
}

impl<'a> Findings<'a> {
    fn of_node<'f>(&'f mut self, node: &'f Node) -> Scope<'f, 'a> {
        Scope { findings: self, prefix: format!("nodes[{}].", node.index), value: &node.value }
    }

    fn of_cluster<'f>(&'f mut self, cluster: &'f Value) -> Scope<'f, 'a> {
        Scope { findings: self, prefix: String::new(), value: cluster }
    }
}

/// The part of a talconfig that is looked at.
struct Scope<'f, 'a> {
    findings: &'f mut Findings<'a>,
    prefix: String,
    value: &'f Value,
}

impl Scope<'_, '_> {
    /// Returns true if findings are in our own words, with locations.
    fn is_located(&self) -> bool {
        self.findings.source_text.is_known()
    }

    fn push(&mut self, kind: &'static str, key: &str, messages: Vec<String>, is_warning: bool) {
        let origin = self.value.get(key).map_or(self.value.origin, |value| value.origin);
        self.findings.all.push(Finding {
            kind,
            field: format!("{}{key}", self.prefix),
            location: self.findings.source_text.place(origin),
            messages,
            is_warning,
        });
    }

    /// Adds an error, unless there is no message.
    fn error(&mut self, kind: &'static str, key: &str, messages: impl IntoIterator<Item = String>) {
        let messages: Vec<String> = messages.into_iter().collect();
        if !messages.is_empty() {
            self.push(kind, key, messages, false);
        }
    }

    fn warn(&mut self, kind: &'static str, key: &str, message: String) {
        self.push(kind, key, vec![message], true);
    }

    fn require(&mut self, kind: &'static str, key: &str, is_there: bool) {
        if !is_there {
            let message = if self.is_located() {
                "the key is missing or empty".to_owned()
            } else {
                format!("\"{}{key}\" is required to be not empty", self.prefix)
            };
            self.error(kind, key, [message]);
        }
    }
}

fn check_cluster(talconfig: &Talconfig, catalog: &ReleaseCatalog, findings: &mut Findings<'_>) {
    let cluster = &talconfig.cluster;
    let mut scope = findings.of_cluster(cluster);
    scope.require("ClusterNameRequired", "clusterName", cluster.has("clusterName"));
    scope.require(
        "KubernetesVersionRequired",
        "kubernetesVersion",
        cluster.has("kubernetesVersion"),
    );
    scope.require("EndpointRequired", "endpoint", cluster.has("endpoint"));
    scope.require("NodesRequired", "nodes", !talconfig.nodes.is_empty());
    check_talos_version(talconfig, catalog, &mut scope);
    check_kubernetes_version(talconfig, &mut scope);
    if cluster.has("endpoint") {
        scope.error(
            "InvalidTalosEndpoint",
            "endpoint",
            rules::endpoint(cluster.text_at("endpoint")).err(),
        );
    }
    let domain = cluster.text_at("domain");
    if !domain.is_empty() && !rules::is_domain(domain) {
        let message = format!("{} is not a valid domain", rules::quoted(domain));
        scope.error("InvalidDomain", "domain", [message]);
    }
    for (kind, key) in
        [("InvalidClusterPodNets", "clusterPodNets"), ("InvalidClusterSvcNets", "clusterSvcNets")]
    {
        let nets = cluster.texts_at(key);
        if !nets.iter().all(|net| rules::is_cidr(net)) {
            let message =
                format!("{} doesn't look like list of CIDR notations", quoted_list(&nets));
            scope.error(kind, key, [message]);
        }
    }
    if let Some(cni) = cluster.get("cniConfig") {
        let problems = rules::cni(cni);
        scope.error(
            "InvalidCNIConfig",
            "cniConfig",
            problems.errors.into_iter().chain(problems.warnings),
        );
    }
    if let Some(manifests) = cluster.get("inlineManifests") {
        let problems = rules::inline_manifests(manifests);
        scope.error("InvalidClusterInlineManifests", "inlineManifests", problems.errors);
    }
}

/// Extensions of a release that is not known are held against those of another one.
fn warn_of_unknown_release(talconfig: &Talconfig, host: &dyn Host) {
    let version = talconfig.talos();
    if talconfig.nodes.iter().any(|node| node.value.has("schematic"))
        && !host.release_catalog().contains(&version)
    {
        host.warn(&format!(
            "the extensions of {version} are not known, those of {LATEST} are taken: `ichor extensions {version} \
             --refresh` asks the image factory"
        ));
    }
}

fn check_talos_version(talconfig: &Talconfig, catalog: &ReleaseCatalog, scope: &mut Scope<'_, '_>) {
    if !talconfig.cluster.has("talosVersion") {
        return;
    }
    let version = talconfig.talos();
    if catalog.contains(&version) {
        return;
    }
    let quoted = rules::quoted(&version);
    if contract(&version).and_then(kubernetes_of).is_some() {
        // Plans know by themselves which releases they can manage.
        if !scope.is_located() {
            let message = format!(
                "{quoted} might not be compatible with this Talhelper version you're using"
            );
            scope.warn("UnreleasedTalosVersion", "talosVersion", message);
        }
    } else {
        let message = format!("{quoted} is not a supported Talos version");
        scope.error("InvalidTalosVersion", "talosVersion", [message]);
    }
}

/// Returns the releases of Kubernetes that go with a release of Talos; `None` for one that is not supported.
fn kubernetes_of(contract: Contract) -> Option<&'static KubernetesRange> {
    contract.release()?.kubernetes.as_ref()
}

/// Parses `v1.13`, `v1.13.0` or `v1.13.0-rc.1`, as strictly as talhelper does.
fn contract(version: &str) -> Option<Contract> {
    let bare = version.strip_prefix('v')?;
    let core = bare.split(['-', '+']).next()?;
    let numbers: Option<Vec<u32>> = core.split('.').map(number).collect();
    match numbers?.as_slice() {
        [major, minor] if core == bare => Some(Contract::new(*major, *minor)),
        [major, minor, _] => Some(Contract::new(*major, *minor)),
        _ => None,
    }
}

/// Parses a number without leading zeros.
fn number(text: &str) -> Option<u32> {
    let plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

/// Returns true for three numbers, with or without a pre-release and a build.
fn is_semantic_version(version: &str) -> bool {
    let bare = version.strip_prefix('v').unwrap_or(version);
    let (bare, build) =
        bare.split_once('+').map_or((bare, None), |(bare, build)| (bare, Some(build)));
    let (core, pre) = bare.split_once('-').map_or((bare, None), |(core, pre)| (core, Some(pre)));
    let words = |text: &str| {
        text.split('.').all(|word| {
            !word.is_empty()
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
    };
    let plain = |text: &str| {
        text.split('.')
            .all(|word| !word.bytes().all(|b| b.is_ascii_digit()) || number(word).is_some())
    };
    core.split('.').count() == 3
        && core.split('.').all(|part| number(part).is_some())
        && pre.is_none_or(|pre| words(pre) && plain(pre))
        && build.is_none_or(words)
}

fn check_kubernetes_version(talconfig: &Talconfig, scope: &mut Scope<'_, '_>) {
    const KIND: &str = "InvalidKubernetesVersion";
    if !talconfig.cluster.has("kubernetesVersion") {
        return;
    }
    let written = talconfig.cluster.text_at("talosVersion");
    if !written.is_empty() && !is_semantic_version(written) {
        let message = "fix the issue on \"talosVersion\" field".to_owned();
        return scope.error(KIND, "kubernetesVersion", [message]);
    }
    let talos = talconfig.talos();
    let talos = talos.strip_prefix('v').unwrap_or(&talos);
    let kubernetes = talconfig.kubernetes();
    let Some(version) = kubernetes_version(kubernetes) else {
        let message = format!("error parsing Kubernetes version {}", rules::quoted(kubernetes));
        return scope.error(KIND, "kubernetesVersion", [message]);
    };
    let core = |text: &str| text.split(['-', '+']).next().unwrap_or_default().to_owned();
    let Some(runs) = contract(&format!("v{talos}")).and_then(kubernetes_of) else {
        let message = format!("compatibility with version {} is not supported", core(talos));
        return scope.error(KIND, "kubernetesVersion", [message]);
    };
    let shown = {
        let (major, minor, patch) = version;
        format!("{major}.{minor}.{patch}")
    };
    let problem = if (version.0, version.1) < (1, *runs.minors().start()) {
        "too old"
    } else if (version.0, version.1) > (1, *runs.minors().end()) {
        "too new"
    } else {
        return;
    };
    let message =
        format!("version of Kubernetes {shown} is {problem} to be used with Talos {}", core(talos));
    scope.error(KIND, "kubernetesVersion", [message]);
}

/// Parses `1.34` or `1.34.1`, ignoring a pre-release.
fn kubernetes_version(text: &str) -> Option<(u32, u32, u32)> {
    let core = text.split(['-', '+']).next()?;
    let parts: Option<Vec<u32>> = core.split('.').map(number).collect();
    match parts?.as_slice() {
        [major, minor] => Some((*major, *minor, 0)),
        [major, minor, patch] => Some((*major, *minor, *patch)),
        _ => None,
    }
}

fn check_identity(node: &Node, scope: &mut Scope<'_, '_>) {
    let value = &node.value;
    scope.require("NodeHostnameRequired", "hostname", value.has("hostname"));
    scope.require("NodeIPAddressRequired", "ipAddress", value.has("ipAddress"));
    let installs = value.has("installDisk") || value.has("installDiskSelector");
    scope.require("NodeInstallRequired", "installDisk", installs);
    if value.has("ipAddress") {
        let addresses = node.addresses();
        let wrong = addresses
            .iter()
            .filter(|address| !rules::is_ip(address) && !rules::is_domain(address))
            .map(|address| {
                format!("{} is not a valid domain or IP address", rules::quoted(address))
            });
        scope.error("InvalidNodeIPAddress", "ipAddress", wrong);
    }
    if let Some(selector) = value.get("installDiskSelector") {
        scope.error(
            "InvalidNodeDiskSelector",
            "installDiskSelector",
            rules::disk_selector(selector),
        );
    }
    let hostname = node.hostname();
    if !hostname.is_empty() && !is_hostname(hostname) {
        let message = format!("{} is not a valid hostname", rules::quoted(hostname));
        scope.error("InvalidNodeHostname", "hostname", [message]);
    }
    let image = value.text_at("talosImageURL");
    if !image.is_empty() {
        scope.error("InvalidNodeTalosImageURL", "talosImageURL", references::check(image).err());
    }
}

fn is_hostname(text: &str) -> bool {
    (1..=255).contains(&text.len())
        && text.split('.').all(|label| {
            let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
            label.len() <= 63
                && edge(label.as_bytes().first())
                && edge(label.as_bytes().last())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
}

fn check_kubernetes(node: &Value, scope: &mut Scope<'_, '_>) {
    let plain = |key: &str| {
        let mut map = node.map_at(key);
        map.retain(|_, value| !gotemplate::is_template(value));
        map
    };
    scope.error("InvalidNodeLabels", "nodeLabels", rules::node_labels(&plain("nodeLabels")));
    let annotations = plain("nodeAnnotations");
    scope.error("InvalidNodeAnnotations", "nodeAnnotations", rules::node_annotations(&annotations));
    scope.error("InvalidNodeTaints", "nodeTaints", rules::node_taints(&node.map_at("nodeTaints")));
}

fn check_disks_and_files(node: &Value, scope: &mut Scope<'_, '_>) {
    if node.has("machineDisks") {
        let message = "`machineDisks` is deprecated, please use `userVolumes` instead".to_owned();
        scope.warn("DeprecatedNodeMachineDisks", "machineDisks", message);
        let mut messages = Vec::new();
        for disk in node.items_at("machineDisks") {
            let partitions = disk.items_at("partitions");
            let Some((_, before_last)) = partitions.split_last() else { continue };
            messages.extend(before_last.iter().filter(|partition| !partition.has("size")).map(
                |partition| {
                    format!(
                        "partition {} for disk {} is set to occupy full disk, but it's not the last \
                         partition in the list",
                        rules::quoted(partition.text_at("mountpoint")),
                        rules::quoted(disk.text_at("device"))
                    )
                },
            ));
        }
        scope.error("InvalidMachineDisks", "machineDisks", messages);
    }
    let mut messages = Vec::new();
    for file in node.items_at("machineFiles") {
        let (operation, path) = (file.text_at("op"), file.text_at("path"));
        if !["create", "append", "overwrite"].contains(&operation) {
            let operation = rules::quoted(operation);
            messages.push(format!(
                "{operation} is not a valid operation name (create,append,overwrite)"
            ));
        }
        if !is_unix_path(path) {
            messages.push(format!("{} is not a valid Unix file path", rules::quoted(path)));
        }
    }
    scope.error("InvalidMachineFiles", "machineFiles", messages);
}

/// Returns true for an absolute path without empty names and NUL.
fn is_unix_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.contains('\0')
        && !path[1..].split('/').rev().skip(1).any(str::is_empty)
}

fn check_schematic(node: &Value, talos: &str, catalog: &ReleaseCatalog, scope: &mut Scope<'_, '_>) {
    let Some(schematic) = node.get("schematic") else { return };
    let talos = if catalog.contains(talos) { talos } else { LATEST };
    let quoted_talos = rules::quoted(talos);
    let mut messages = Vec::new();
    let mut seen = Vec::new();
    let extensions = schematic
        .get("customization")
        .and_then(|customization| customization.get("systemExtensions"))
        .map(|extensions| extensions.texts_at("officialExtensions"))
        .unwrap_or_default();
    for extension in extensions {
        let quoted = rules::quoted(&extension);
        if !catalog.has_extension(talos, &extension) {
            let known = catalog.extensions(talos).unwrap_or_default();
            let official = format!("siderolabs/{extension}");
            let near = if known.contains(&official) {
                Some(official.as_str())
            } else {
                suggest(&extension, known.iter().map(String::as_str))
            };
            let near = near.filter(|_| scope.is_located());
            let meant = near.map(|near| format!(": did you mean {near:?}?")).unwrap_or_default();
            messages.push(format!(
                "{quoted} is not a supported Talos extension for {quoted_talos}{meant}"
            ));
        }
        if seen.contains(&extension) {
            messages.push(format!("duplicate system extension {quoted}"));
        }
        seen.push(extension);
    }
    if let Some(overlay) = schematic.get("overlay") {
        let (image, name) = (overlay.text_at("image"), overlay.text_at("name"));
        if !image.is_empty() || !name.is_empty() {
            if image.is_empty() || name.is_empty() {
                messages.push("both `image` and `name` is required to be set".to_owned());
            }
            if !catalog.has_overlay(talos, name, image) {
                messages.push(format!(
                    "{name} ({image}) is not a supported Talos overlay for {quoted_talos}"
                ));
            }
        }
    }
    scope.error("InvalidNodeSchematic", "schematic", messages);
}

fn check_machine_spec(spec: Option<&Value>, scope: &mut Scope<'_, '_>) {
    let Some(spec) = spec else { return };
    let (method, suffix) = (spec.text_at("bootMethod"), spec.text_at("imageSuffix"));
    let mut messages = Vec::new();
    if !["", "iso", "disk-image", "pxe"].contains(&method) {
        messages.push("`bootMethod` should be one of iso, disk-image, pxe".to_owned());
    }
    if !suffix.is_empty() {
        match method {
            "" | "iso" if suffix == "iso" => {}
            "" | "iso" => messages.push("`imageSuffix` for iso (default) should be iso".to_owned()),
            "disk-image" if DISK_IMAGES.contains(&suffix) => {}
            "disk-image" => messages.push(format!(
                "`imageSuffix` for disk-image should be one of [{}]",
                DISK_IMAGES.join(" ")
            )),
            "pxe" => messages.push("`imageSuffix` for pxe should be \"\"".to_owned()),
            _ => messages.push("invalid `imageSuffix` and `bootMethod`".to_owned()),
        }
    }
    scope.error("InvalidNodeMachineSpec", "machineSpec", messages);
}

const DISK_IMAGES: [&str; 7] =
    ["raw.zst", "raw.xz", "raw.tar.gz", "vhd.xz", "raw.gz", "ova", "qcow2"];

fn check_firewall(firewall: Option<&Value>, scope: &mut Scope<'_, '_>) {
    let Some(firewall) = firewall else { return };
    let mut messages = Vec::new();
    for (index, rule) in firewall.items_at("rules").iter().enumerate() {
        let nothing = Value::new(talos_config::Data::Map(std::collections::BTreeMap::new()));
        let selector = rule.get("portSelector").unwrap_or(&nothing);
        if !rule.has("name") {
            messages.push(format!("rules[{index}]: name is required"));
        }
        if !selector.has("protocol") {
            messages.push(format!("rules[{index}]: \"Protocol(0)\" is not a valid protocol"));
        }
        let ports = selector.items_at("ports");
        if ports.is_empty() {
            messages.push(format!("rules[{index}]: portSelector.ports is required"));
        }
        let backwards = ports.iter().filter_map(Value::as_text).find(|range| {
            let bounds = range.split_once('-').map(|(low, high)| (low.parse(), high.parse()));
            matches!(bounds, Some((Ok::<u16, _>(low), Ok::<u16, _>(high))) if low > high)
        });
        if let Some(range) = backwards {
            messages.push(format!("rules[{index}]: \"invalid port range: {range}\""));
        }
        for from in rule.items_at("ingress") {
            if !from.has("subnet") {
                messages.push(format!("rules[{index}]: invalid subnet: invalid Prefix"));
            }
        }
    }
    scope.error("InvalidNodeIngressFirewall", "ingressFirewall", messages);
}

fn check_extra_manifests(node: &Value, host: &dyn Host, scope: &mut Scope<'_, '_>) {
    let manifests = node.texts_at("extraManifests");
    if manifests.is_empty() {
        return;
    }
    let message = "`extraManifests` is deprecated, please use `patches` instead".to_owned();
    scope.warn("DeprecatedNodeMachineDisks", "extraManifests", message);
    let missing = manifests.iter().enumerate().filter_map(|(index, path)| {
        let error = host.stat(path.strip_prefix('@').unwrap_or(path)).err()?;
        Some(format!("extraManifests[{index}], {}", rules::quoted(&error.to_string())))
    });
    let missing: Vec<String> = missing.collect();
    scope.error("InvalidNodeExtraManifests", "extraManifests", missing);
}

/// Formats a list as Go's `%q` does.
fn quoted_list(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| rules::quoted(text)).collect();
    format!("[{}]", quoted.join(" "))
}
