//! From files to a talconfig that has been checked.

use std::collections::BTreeMap;

use talos_config::{Coded, Confidential, Data, Value};

use crate::door::check::{self, Finding};
use crate::door::environment::Environment;
use crate::door::release_catalog::{LATEST, tag};
use crate::door::schema::{SHARED, TALCONFIG};
use crate::door::source_text::SourceText;
use crate::door::{decode, sops_files, text};
use crate::error::{Error, ErrorDetail, LocatedError, Refusal};
use crate::host::Host;
use crate::value_ext::ValueExt;

/// A cluster as a talconfig describes it, with what groups say put into their machines.
#[derive(Clone)]
pub struct Talconfig {
    pub(crate) cluster: Value,
    pub(crate) source_text: SourceText,
    /// The values of the encrypted files that were read.
    pub(crate) encrypted: Confidential,
    /// The machines, in their order.
    pub nodes: Vec<Node>,
    /// Warnings, which do not stop the command.
    pub warnings: Vec<Finding>,
}

/// One machine.
#[derive(Clone)]
pub struct Node {
    pub(crate) value: Value,
    /// The position in `nodes`.
    pub(crate) index: usize,
    /// The number of leading patches that come from its group.
    pub(crate) group_patches: usize,
}

/// How errors are worded.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Wording {
    /// As talhelper does, for scripts that look for its words.
    Talhelper,
    /// In our own words, with locations in the file.
    Located,
}

impl Talconfig {
    /// Reads a talconfig and the files that it refers to, and checks it. Variables that env files
    /// set are set in the environment afterwards. Errors are in talhelper's words.
    pub fn load(
        file: &str,
        env_files: &[String],
        environment: &mut Environment,
        host: &dyn Host,
    ) -> Result<Self, Error> {
        Self::read(file, env_files, environment, host, Wording::Talhelper)
    }

    /// Reads a talconfig for commands beyond talhelper's: missing versions are taken from the
    /// variables of the same name, and errors are in our own words and name their location in the file.
    pub fn open(
        file: &str,
        env_files: &[String],
        environment: &mut Environment,
        host: &dyn Host,
    ) -> Result<Self, Error> {
        Self::read(file, env_files, environment, host, Wording::Located)
    }

    fn read(
        file: &str,
        env_files: &[String],
        environment: &mut Environment,
        host: &dyn Host,
        wording: Wording,
    ) -> Result<Self, Error> {
        host.debug(&|| "start loading and validating config file".to_owned());
        let written = read(file, host)?;
        environment.load(env_files, host)?;
        host.debug(&|| "substituting config file with environment variable".to_owned());
        let refused = |variant: fn(ErrorDetail) -> Error| {
            move |Refusal { said, problems }: Refusal| match (variant(said), wording) {
                (error, Wording::Located) => {
                    Error::Located(LocatedError::new(file, error.code(), problems))
                }
                (Error::Substitution(said), Wording::Talhelper) => {
                    Error::Substitution(said.in_file(file))
                }
                (error, Wording::Talhelper) => error,
            }
        };
        let documents = text::parse(&written).map_err(refused(Error::Substitution))?;
        let text = text::substitute_documents(&documents, environment)
            .map_err(refused(Error::Substitution))?;
        host.debug(&|| "substituting relative paths with absolute paths".to_owned());
        let folder = match file.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((folder, _)) => folder,
            None => ".",
        };
        let absolute = |path: &str| {
            if path.starts_with('/') {
                path.to_owned()
            } else {
                host.absolute(&format!("{folder}/{path}"))
            }
        };
        let root = documents.first().map(|document| &document.root);
        let source_text = match (wording, root) {
            (Wording::Located, Some(root)) => SourceText::new(file, root),
            _ => SourceText::default(),
        };
        let root = root.filter(|_| wording == Wording::Located);
        let substituted = text::parse(&text)
            .map_err(|refusal| text::located(refusal, &documents, environment))
            .map_err(refused(Error::Structure))?;
        let (text, tree) = text::absolutize_paths(substituted, root, &absolute)
            .map_err(refused(Error::Structure))?;
        let tree = root.map(|_| &tree);
        let mut cluster = decode::object(&text, &TALCONFIG, tree, environment.encrypted())
            .map_err(refused(Error::WrongType))?;
        if let (Data::Map(map), Wording::Located) = (&mut cluster.data, wording) {
            for key in RELEASES {
                if let Some(value) = environment.get(key) {
                    map.entry(key.to_owned()).or_insert_with(|| Value::from(value.trim()));
                }
            }
        }
        let mut encrypted = environment.encrypted().clone();
        let refused = refused(Error::Reference);
        fetch_manifests(&mut cluster, environment, host, &mut encrypted).map_err(&refused)?;
        let nodes = nodes(&cluster, environment, host, &mut encrypted).map_err(&refused)?;
        let mut talconfig = Self { cluster, source_text, encrypted, nodes, warnings: Vec::new() };
        let findings = check::check(&talconfig, host);
        if findings.iter().any(|finding| !finding.is_warning) {
            return Err(Error::Invalid(findings));
        }
        talconfig.warnings = findings;
        Ok(talconfig)
    }

    /// Checks a talconfig without its groups and files. Without an environment, variables are not
    /// substituted either.
    pub fn validate(
        file: &str,
        env_files: &[String],
        mut environment: Option<&mut Environment>,
        host: &dyn Host,
    ) -> Result<Vec<Finding>, Error> {
        let mut text = read(file, host)?;
        if let Some(environment) = environment.as_deref_mut() {
            environment.load(env_files, host)?;
            text = text::substitute(&text, environment)
                .map_err(|refusal| Error::Substitution(refusal.said.in_file(file)))?;
        }
        let encrypted = environment.map(|environment| environment.encrypted().clone());
        let encrypted = encrypted.unwrap_or_default();
        let cluster = decode::object(&text, &TALCONFIG, None, &encrypted)
            .map_err(|refusal| Error::WrongType(refusal.said))?;
        let nodes = cluster.items_at("nodes").iter().enumerate();
        let nodes =
            nodes.map(|(index, value)| Node { value: value.clone(), index, group_patches: 0 });
        let talconfig = Self {
            nodes: nodes.collect(),
            cluster,
            source_text: SourceText::default(),
            encrypted,
            warnings: Vec::new(),
        };
        Ok(check::check(&talconfig, host))
    }

    /// Returns the name of the cluster.
    pub fn cluster_name(&self) -> &str {
        self.cluster.text_at("clusterName")
    }

    /// Returns true if workloads run on control planes.
    pub(crate) fn schedules_on_control_planes(&self) -> bool {
        self.cluster.flag_at("allowSchedulingOnMasters")
            || self.cluster.flag_at("allowSchedulingOnControlPlanes")
    }

    /// Returns the release of Kubernetes, without a `v`.
    pub fn kubernetes(&self) -> &str {
        let version = self.cluster.text_at("kubernetesVersion");
        version.strip_prefix('v').unwrap_or(version)
    }

    /// Returns the release of Talos, with a `v`.
    pub fn talos(&self) -> String {
        match self.cluster.text_at("talosVersion") {
            "" => LATEST.to_owned(),
            version => tag(version),
        }
    }
}

impl Node {
    /// Returns the host name.
    pub fn hostname(&self) -> &str {
        self.value.text_at("hostname")
    }

    /// Returns true for a control plane.
    pub fn is_control_plane(&self) -> bool {
        self.value.flag_at("controlPlane")
    }

    /// Returns the addresses.
    pub fn addresses(&self) -> Vec<String> {
        self.raw_address().split(',').map(|address| address.trim().to_owned()).collect()
    }

    /// Returns the addresses as the talconfig spells them.
    pub fn raw_address(&self) -> &str {
        self.value.text_at("ipAddress")
    }
}

fn read(file: &str, host: &dyn Host) -> Result<String, Error> {
    host.debug(&|| format!("reading {file}"));
    match host.read(file) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.is_missing() => Err(Error::Unreadable(ErrorDetail::new(format!(
            "{file} doesn't exist. Refer to this docs for more information on how to create one: {GUIDE}"
        )))),
        Err(error) => Err(Error::Unreadable(error.to_string().into())),
    }
}

/// Puts the contents of files in the place of their names.
fn fetch_manifests(
    cluster: &mut Value,
    environment: &Environment,
    host: &dyn Host,
    encrypted: &mut Confidential,
) -> Result<(), Refusal> {
    for (index, manifest) in items_mut(cluster, "inlineManifests").enumerate() {
        fetch(manifest, "contents", environment, host, encrypted).map_err(|detail| {
            let name = manifest.text_at("contents");
            let attempt = format!(
                "failed to get inlineManifest content for {name} in `inlineManifest[{index}]`: "
            );
            unreadable(manifest, "contents", &format!("inlineManifests[{index}]"), &attempt, detail)
        })?;
    }
    Ok(())
}

fn fetch(
    holder: &mut Value,
    key: &str,
    environment: &Environment,
    host: &dyn Host,
    encrypted: &mut Confidential,
) -> Result<(), ErrorDetail> {
    let Some(path) = holder.text_at(key).strip_prefix('@').map(str::to_owned) else {
        return Ok(());
    };
    host.debug(&|| format!("getting file content of @{path}"));
    let opened = sops_files::read_with_values(&path, environment, host)?;
    let mut content = opened.text;
    if !holder.flag_at("skipEnvsubst") {
        content = text::substitute(&content, environment)
            .map_err(|refusal| refusal.said.in_file(&path))?;
    }
    if let Some(values) = &opened.encrypted {
        encrypted.extend(values);
        encrypted.add_value(&content);
    }
    if let Data::Map(map) = &mut holder.data
        && let Some(value) = map.get_mut(key)
    {
        value.data = Data::Text(content);
    }
    Ok(())
}

/// Refuses a reference to a file. `path` is that of its holder.
fn unreadable(
    holder: &Value,
    key: &str,
    path: &str,
    attempt: &str,
    detail: ErrorDetail,
) -> Refusal {
    let origin = holder.get(key).map_or(holder.origin, |value| value.origin);
    let message = text::within(&text::below(path, key), &detail.message);
    Refusal::new(detail.within(attempt), origin, message)
}

/// Returns the machines, each merged with its group.
fn nodes(
    cluster: &Value,
    environment: &Environment,
    host: &dyn Host,
    encrypted: &mut Confidential,
) -> Result<Vec<Node>, Refusal> {
    let nothing = Value::new(Data::Map(BTreeMap::new()));
    let mut nodes = Vec::new();
    for (index, value) in cluster.items_at("nodes").iter().enumerate() {
        let (key, role) = if value.flag_at("controlPlane") {
            ("controlPlane", "controlplane")
        } else {
            ("worker", "worker")
        };
        let hostname = value.text_at("hostname").to_owned();
        host.debug(&|| format!("overriding global {role} node config for {hostname}"));
        let mut node = with_group(value, cluster.get(key).unwrap_or(&nothing));
        node.index = index;
        for (at, file) in items_mut(&mut node.value, "machineFiles").enumerate() {
            fetch(file, "content", environment, host, encrypted).map_err(|detail| {
                let attempt = format!(
                    "failed to get machine file content for {hostname} in `machineFiles[{at}]`: "
                );
                let holder = if value.has("machineFiles") {
                    format!("nodes[{index}]")
                } else {
                    key.to_owned()
                };
                let path = format!("{holder}.machineFiles[{at}]");
                unreadable(file, "content", &path, &attempt, detail)
            })?;
        }
        nodes.push(node);
    }
    Ok(nodes)
}

/// Merges a machine with its group: the machine's keys win, except that three lists are
/// concatenated.
fn with_group(node: &Value, group: &Value) -> Node {
    let mut value = node.clone();
    let mut group_patches = 0;
    let Data::Map(map) = &mut value.data else {
        return Node { value, index: 0, group_patches };
    };
    for (key, switch) in [
        ("patches", "overridePatches"),
        ("extraManifests", "overrideExtraManifests"),
        ("certSANs", "overrideMachineCertSANs"),
    ] {
        let of_group = group.items_at(key);
        if of_group.is_empty() || node.flag_at(switch) {
            continue;
        }
        let own = node.items_at(key);
        // Patches of a machine follow those of its group; the other lists are concatenated in the
        // opposite order.
        let (first, second) = if key == "patches" { (of_group, own) } else { (own, of_group) };
        let items = first.iter().chain(second).cloned().collect();
        map.insert(key.to_owned(), Value::new(Data::List(items)));
    }
    for key in SHARED {
        if !map.contains_key(key.name)
            && let Some(value) = group.get(key.name)
        {
            map.insert(key.name.to_owned(), value.clone());
        }
    }
    if !node.flag_at("overridePatches") || !node.has("patches") {
        group_patches = group.items_at("patches").len();
    }
    Node { value, index: 0, group_patches }
}

fn items_mut<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = match &mut value.data {
        Data::Map(map) => map.get_mut(key).map(|value| &mut value.data),
        _ => None,
    };
    let items = match list {
        Some(Data::List(items)) => items.as_mut_slice(),
        _ => &mut [],
    };
    items.iter_mut()
}

/// The keys that variables of the same name may give.
pub(crate) const RELEASES: [&str; 2] = ["talosVersion", "kubernetesVersion"];
const GUIDE: &str = "https://budimanjojo.github.io/talhelper/latest/guides/#example-talconfigyaml";
