//! The keys of a talconfig as layers of a machine, in the order in which they are applied.
//!
//! First values that keys set in the generated configuration, then documents that keys become, then
//! patches: those of the machine's group, of the machine, and of all machines. A patch for all
//! machines is therefore applied last. Every translation of a talconfig starts from these layers.

use std::collections::BTreeMap;

use talos_config::{Contract, Data, Document, Mode, Value};

use crate::door::documents::{self, document, object, text, texts};
use crate::door::image::Images;
use crate::door::load::{Node, Talconfig};
use crate::error::Error;
use crate::gotemplate;
use crate::host::Host;
use crate::value_ext::ValueExt;

/// One thing that a talconfig says.
#[derive(Clone)]
pub struct Layer {
    /// The key that says it, such as `nodes[0].patches[1]`.
    pub origin: String,
    /// The operation.
    pub op: LayerOp,
}

/// The operation of a layer on the layers below it.
#[derive(Clone)]
pub enum LayerOp {
    /// Sets a field of a document, whatever was there.
    Set {
        /// The kind of the document.
        kind: &'static str,
        /// The keys to the field.
        path: &'static [&'static str],
        /// The new value.
        value: Value,
    },
    /// Adds to a list of a document.
    Append {
        /// The kind of the document.
        kind: &'static str,
        /// The keys to the list.
        path: &'static [&'static str],
        /// The new items.
        items: Vec<Value>,
    },
    /// Sets an entry of a map to a template, rendered with the configuration below.
    Rendered {
        /// The kind of the document.
        kind: &'static str,
        /// The keys to the map.
        path: &'static [&'static str],
        /// The key of the entry.
        key: String,
        /// The template.
        template: String,
    },
    /// Removes the documents of a kind.
    Remove {
        /// The kind.
        kind: &'static str,
    },
    /// Appends a document.
    Add(Document),
    /// Documents of a key. Those of all keys are merged in one step.
    Documents(Vec<Document>),
    /// A patch of a machine or its group: text, `@file`, or the name of a file.
    Patch(String),
    /// A patch for all machines.
    GlobalPatch(String),
    /// A file whose documents are appended last.
    Manifest(String),
}

/// The settings that the layers of all machines have in common.
pub(crate) struct LayerContext<'a> {
    pub(crate) talconfig: &'a Talconfig,
    pub(crate) contract: Contract,
    pub(crate) mode: Option<Mode>,
    pub(crate) older_key: Option<&'a str>,
    pub(crate) images: &'a Images<'a>,
}

impl LayerContext<'_> {
    /// Returns the layers that keys of the talconfig set for one machine.
    pub(crate) fn keys(&self, node: &Node) -> Result<Vec<Layer>, Error> {
        let mut list = List { layers: Vec::new(), prefix: String::new() };
        let host = self.images.host;
        self.cluster_keys(node, &mut list);
        list.prefix = format!("nodes[{}].", node.index);
        if self.contract < Contract::new(1, 12) {
            legacy_network(node, host, &mut list);
        }
        self.install(node, host, &mut list)?;
        list.prefix = String::new();
        self.workloads(node, &mut list);
        Ok(list.layers)
    }

    /// Returns the layers above those: documents, patches, and files with further documents.
    pub(crate) fn overlays(&self, node: &Node) -> Result<Vec<Layer>, Error> {
        let mut list = List { layers: Vec::new(), prefix: String::new() };
        list.prefix = format!("nodes[{}].", node.index);
        for (key, documents) in
            documents::documents(node, self.contract, self.mode, self.images.host)?
        {
            list.push(key, LayerOp::Documents(documents));
        }
        list.prefix = String::new();
        for (index, patch) in node.value.texts_at("patches").into_iter().enumerate() {
            let role = if node.is_control_plane() { "controlPlane" } else { "worker" };
            let origin = match index.checked_sub(node.group_patches) {
                None => format!("{role}.patches[{index}]"),
                Some(index) => format!("nodes[{}].patches[{index}]", node.index),
            };
            list.push(&origin, LayerOp::Patch(patch));
        }
        for (index, patch) in self.talconfig.cluster.texts_at("patches").into_iter().enumerate() {
            list.push(&format!("patches[{index}]"), LayerOp::GlobalPatch(patch));
        }
        for (index, path) in node.value.texts_at("extraManifests").into_iter().enumerate() {
            let path = path.strip_prefix('@').map_or(path.clone(), str::to_owned);
            let origin = format!("nodes[{}].extraManifests[{index}]", node.index);
            list.push(&origin, LayerOp::Manifest(path));
        }
        Ok(list.layers)
    }

    fn since(&self, minor: u32) -> bool {
        self.contract >= Contract::new(1, minor)
    }

    /// Adds the layers that are the same for all machines.
    fn cluster_keys(&self, node: &Node, list: &mut List) {
        let cluster = &self.talconfig.cluster;
        let documented = self.since(14);
        for (key, field, default) in [
            ("clusterPodNets", "podSubnets", ("10.244.0.0/16", "fc00:db8:10::/56")),
            ("clusterSvcNets", "serviceSubnets", ("10.96.0.0/12", "fc00:db8:20::/112")),
        ] {
            let nets = cluster.texts_at(key);
            let endpoint = cluster.text_at("endpoint");
            let default =
                if endpoint.parse::<std::net::Ipv6Addr>().is_ok() { default.1 } else { default.0 };
            let nets = if nets.is_empty() { vec![default.to_owned()] } else { nets };
            let (kind, path): (_, &[&str]) = match (documented, field) {
                (true, "podSubnets") => ("KubeNetworkConfig", &["podSubnets"]),
                (true, _) => ("KubeNetworkConfig", &["serviceSubnets"]),
                (false, "podSubnets") => (V1, &["cluster", "network", "podSubnets"]),
                (false, _) => (V1, &["cluster", "network", "serviceSubnets"]),
            };
            list.set(key, kind, path, texts(&nets));
        }
        let sans = cluster.items_at("additionalMachineCertSans").to_vec();
        list.append("additionalMachineCertSans", V1, &["machine", "certSANs"], sans);
        if node.is_control_plane() {
            let sans = cluster.items_at("additionalApiServerCertSans").to_vec();
            if documented {
                list.append(
                    "additionalApiServerCertSans",
                    "KubeAPIServerConfig",
                    &["certExtraSANs"],
                    sans,
                );
            } else {
                list.append(
                    "additionalApiServerCertSans",
                    V1,
                    &["cluster", "apiServer", "certSANs"],
                    sans,
                );
            }
        }
        if self.mode == Some(Mode::Container) && self.contract == Contract::new(1, 7) {
            let path = &["machine", "features", "hostDNS", "forwardKubeDNSToHost"];
            list.set("clusterName", V1, path, Value::new(Data::Bool(true)));
        }
        if let Some(key) = self.older_key.filter(|_| self.since(3) && !documented) {
            self.images.host.debug(&|| {
                "encryption with secretbox is supported and AESCBCEncryptionSecret is not empty"
                    .to_owned()
            });
            list.set("clusterName", V1, &["cluster", "aescbcEncryptionSecret"], text(key));
        }
    }

    /// Adds the layers about installation and about the Kubernetes node.
    fn install(&self, node: &Node, host: &dyn Host, list: &mut List) -> Result<(), Error> {
        let value = &node.value;
        let documented = self.since(14);
        let say = |line: String| host.debug(&|| line.clone());
        if value.has("installDisk") {
            say(format!("setting install disk to {}", value.text_at("installDisk")));
            if !documented {
                list.copy(value, "installDisk", &["machine", "install", "disk"]);
            }
        }
        if value.has("installDiskSelector") {
            say("setting install disk selector".to_owned());
            if !documented {
                list.copy(value, "installDiskSelector", &["machine", "install", "diskSelector"]);
            }
        }
        if !value.items_at("machineDisks").is_empty() {
            say("setting machine disks".to_owned());
            list.copy(value, "machineDisks", &["machine", "disks"]);
        }
        if let Some(modules) = value.get("kernelModules").filter(|list| list.as_list() != Some(&[]))
        {
            say("setting kernel modules".to_owned());
            list.set(
                "kernelModules",
                V1,
                &["machine", "kernel"],
                object(vec![("modules", modules.clone())]),
            );
        }
        self.node_maps(node, host, list);
        if !value.items_at("machineFiles").is_empty() {
            say("setting machine files".to_owned());
            list.copy(value, "machineFiles", &["machine", "files"]);
        }
        let arguments = value
            .get("schematic")
            .and_then(|schematic| schematic.get("customization"))
            .map(|customization| customization.items_at("extraKernelArgs").to_vec())
            .unwrap_or_default();
        let uses_uki = value.get("machineSpec").is_some_and(|spec| spec.flag_at("useUKI"));
        if !arguments.is_empty() && !uses_uki && !self.since(12) {
            say("appending schematic kernel args to install kernel args".to_owned());
            list.append("schematic", V1, &["machine", "install", "extraKernelArgs"], arguments);
        }
        if !value.items_at("certSANs").is_empty() {
            say("appending extra machine certificate SANs".to_owned());
            list.append(
                "certSANs",
                V1,
                &["machine", "certSANs"],
                value.items_at("certSANs").to_vec(),
            );
        }
        let installer = self.images.installer(node, &self.talconfig.talos())?;
        say(format!("installer URL for {} is set to: {installer}", node.hostname()));
        if documented {
            let image = object(vec![("image", text(&installer))]);
            list.set("talosImageURL", "UnattendedInstallConfig", &["installer"], image);
            let provisioning = provisioning(value);
            list.set("installDisk", "UnattendedInstallConfig", &["provisioning"], provisioning);
        } else {
            let said = ["talosImageURL", "schematic", "machineSpec"];
            let key = said.into_iter().find(|key| value.has(key)).unwrap_or("talosImageURL");
            list.set(key, V1, &["machine", "install", "image"], text(&installer));
        }
        for (key, path, documented_path) in MAPS {
            for (name, template) in value.map_at(key) {
                if gotemplate::is_template(template) {
                    let (kind, path) =
                        if documented { ("KubeNodeConfig", documented_path) } else { (V1, path) };
                    let (name, template) = (name.to_owned(), template.to_owned());
                    list.push(key, LayerOp::Rendered { kind, path, key: name, template });
                }
            }
        }
        Ok(())
    }

    /// Adds the layers of the CNI and of manifests.
    fn workloads(&self, node: &Node, list: &mut List) {
        let cluster = &self.talconfig.cluster;
        let documented = self.since(14);
        if let Some(cni) = cluster.get("cniConfig") {
            if documented {
                documented_cni(cni, node.is_control_plane(), list);
            } else {
                list.set("cniConfig", V1, &["cluster", "network", "cni"], cni.clone());
            }
        }
        let manifests = cluster.items_at("inlineManifests");
        if manifests.is_empty() {
            return;
        }
        if documented {
            for manifest in manifests.iter().filter(|_| node.is_control_plane()) {
                let fields = vec![
                    ("name", text(manifest.text_at("name"))),
                    ("manifest", text(manifest.text_at("contents"))),
                ];
                list.push(
                    "inlineManifests",
                    LayerOp::Add(document("KubeInlineManifestConfig", fields)),
                );
            }
        } else {
            list.copy(cluster, "inlineManifests", &["cluster", "inlineManifests"]);
        }
    }

    /// Adds the layers of labels, annotations and taints. Templates among them are rendered later.
    fn node_maps(&self, node: &Node, host: &dyn Host, list: &mut List) {
        let value = &node.value;
        for (key, path, documented_path, what) in [
            (
                "nodeAnnotations",
                &["machine", "nodeAnnotations"],
                &["annotations"],
                "annotations for",
            ),
            ("nodeLabels", &["machine", "nodeLabels"], &["labels"], "labels to"),
            ("nodeTaints", &["machine", "nodeTaints"], &["taints"], "taints to"),
        ] {
            if !value.has(key) {
                continue;
            }
            let mut map = value.map_at(key);
            if key != "nodeTaints" {
                map.retain(|_, value| !gotemplate::is_template(value));
            }
            host.debug(&|| {
                let shown: Vec<String> =
                    map.iter().map(|(key, value)| format!("{key}:{value}")).collect();
                format!("setting node {what} map[{}]", shown.join(" "))
            });
            if self.since(14) && node.is_control_plane() {
                // The `v1alpha1` document implies these; the newer one must name them.
                match key {
                    "nodeLabels" => drop(map.insert(CONTROL_PLANE, "")),
                    "nodeTaints" if !self.talconfig.schedules_on_control_planes() => {
                        map.insert(CONTROL_PLANE, "NoSchedule");
                    }
                    _ => {}
                }
            }
            let entries: BTreeMap<String, Value> =
                map.into_iter().map(|(key, value)| (key.to_owned(), text(value))).collect();
            let entries = Value::new(Data::Map(entries));
            if self.since(14) {
                list.set(key, "KubeNodeConfig", documented_path, entries);
            } else {
                list.set(key, V1, path, entries);
            }
        }
    }
}

/// The keys of labels and annotations, with their paths in the `v1alpha1` document and in a
/// document of their own.
const MAPS: [(&str, &[&str], &[&str]); 2] = [
    ("nodeLabels", &["machine", "nodeLabels"], &["labels"]),
    ("nodeAnnotations", &["machine", "nodeAnnotations"], &["annotations"]),
];

/// Adds host name, name servers and interfaces to the `v1alpha1` document.
fn legacy_network(node: &Node, host: &dyn Host, list: &mut List) {
    let value = &node.value;
    let say = |line: String| host.debug(&|| line.clone());
    if !value.flag_at("ignoreHostname") {
        say(format!("setting hostname to {}", node.hostname()));
        list.copy(value, "hostname", &["machine", "network", "hostname"]);
    }
    let nameservers = value.texts_at("nameservers");
    if !nameservers.is_empty() {
        say(format!("setting nameservers to [{}]", nameservers.join(" ")));
        list.copy(value, "nameservers", &["machine", "network", "nameservers"]);
    }
    if value.flag_at("disableSearchDomain") {
        say("setting disableSearchDomain to true".to_owned());
        list.copy(value, "disableSearchDomain", &["machine", "network", "disableSearchDomain"]);
    }
    if !value.items_at("networkInterfaces").is_empty() {
        say("setting network interfaces".to_owned());
        list.copy(value, "networkInterfaces", &["machine", "network", "interfaces"]);
    }
}

/// Adds the layers of the CNI for releases with documents for it.
fn documented_cni(cni: &Value, control_plane: bool, list: &mut List) {
    list.push("cniConfig", LayerOp::Remove { kind: "KubeFlannelCNIConfig" });
    if !control_plane {
        return;
    }
    match cni.text_at("name") {
        "flannel" => {
            let mut fields =
                vec![("backendType", text("vxlan")), ("backendPort", Value::new(Data::Int(4789)))];
            if let Some(flannel) = cni.get("flannel") {
                for key in ["extraArgs", "kubeNetworkPoliciesEnabled"] {
                    fields.extend(flannel.get(key).map(|value| (key, value.clone())));
                }
            }
            list.push("cniConfig", LayerOp::Add(document("KubeFlannelCNIConfig", fields)));
        }
        "custom" => {
            for (index, url) in cni.texts_at("urls").iter().enumerate() {
                let name = if index == 0 {
                    "custom-cni".to_owned()
                } else {
                    format!("custom-cni-{index}")
                };
                let fields = vec![("name", text(&name)), ("url", text(url))];
                list.push(
                    "cniConfig",
                    LayerOp::Add(document("KubeExternalManifestConfig", fields)),
                );
            }
        }
        _ => {}
    }
}

/// Returns the `provisioning` of an `UnattendedInstallConfig`.
pub(crate) fn provisioning(value: &Value) -> Value {
    let expression = match value.text_at("installDisk") {
        "" => disk_expression(value),
        disk => format!("disk.dev_path == {disk:?}"),
    };
    let selector = object(vec![("match", text(&expression))]);
    object(vec![("diskSelector", selector), ("wipe", Value::new(Data::Bool(false)))])
}

/// Returns a disk selector as an expression.
fn disk_expression(value: &Value) -> String {
    let nothing = object(Vec::new());
    let selector = value.get("installDiskSelector").unwrap_or(&nothing);
    let mut conditions = Vec::new();
    let size = selector.text_at("size");
    if !size.is_empty() {
        let sign = [">=", "<=", ">", "<", "=="].into_iter().find(|sign| size.starts_with(sign));
        let amount = size[sign.map_or(0, str::len)..].trim();
        let bytes = talos_config::rules::bytes(amount).unwrap_or_default();
        conditions.push(format!("disk.size {} {bytes}u", sign.unwrap_or("==")));
    }
    for key in ["uuid", "wwid", "model", "serial", "modalias"] {
        if selector.has(key) {
            conditions.push(format!("glob({:?}, disk.{key})", selector.text_at(key)));
        }
    }
    // Otherwise it might be a disk that is made of others.
    conditions.push("disk.transport != \"\"".to_owned());
    if selector.has("busPath") {
        conditions.push(format!("glob({:?}, disk.bus_path)", selector.text_at("busPath")));
    }
    conditions.extend(
        match selector.text_at("type") {
            "nvme" => Some("disk.transport == \"nvme\""),
            "sd" => Some("disk.transport == \"mmc\""),
            "hdd" => Some("disk.rotational"),
            "ssd" => Some("!disk.rotational"),
            _ => None,
        }
        .map(str::to_owned),
    );
    conditions.push("!disk.readonly && !disk.cdrom".to_owned());
    conditions.join(" && ")
}

struct List {
    layers: Vec<Layer>,
    /// The prefix of the following keys.
    prefix: String,
}

impl List {
    fn push(&mut self, key: &str, op: LayerOp) {
        let origin = format!("{}{key}", self.prefix);
        self.layers.push(Layer { origin, op });
    }

    fn set(&mut self, key: &str, kind: &'static str, path: &'static [&'static str], value: Value) {
        self.push(key, LayerOp::Set { kind, path, value });
    }

    fn append(
        &mut self,
        key: &str,
        kind: &'static str,
        path: &'static [&'static str],
        items: Vec<Value>,
    ) {
        if !items.is_empty() {
            self.push(key, LayerOp::Append { kind, path, items });
        }
    }

    /// Sets a field of the `v1alpha1` document to the value of a key.
    fn copy(&mut self, from: &Value, key: &str, path: &'static [&'static str]) {
        if let Some(value) = from.get(key) {
            self.set(key, V1, path, value.clone());
        }
    }
}

/// The label and the taint of a control plane node.
pub(crate) const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// The document without a kind.
const V1: &str = "v1alpha1";
