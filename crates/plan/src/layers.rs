//! The layers of a machine's configuration, in order, each with its origin.
//!
//! In: a spec and the texts of its patches. Out: for each machine its layers, the last one winning. The
//! native order is all < role < pool < machine; at each level what the spec itself says comes before the
//! patches. A door with an order and a base of its own renders the layers itself and brings the result
//! ([`Prerendered`]). Merging is done by `talos-config` and nowhere else.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use domain::{MachineName, PoolName};
use talos_config::{Confidential, Config, Contract, Location, Patch, Role, Secret, SourceId};

use crate::ErrorKind;
use crate::spec::{ClusterSpec, Cni, Membership, PatchEntry, PatchSource};

/// The layers of all machines of a cluster.
#[derive(Clone)]
pub struct Layers {
    layers: Vec<Layer>,
    /// The layers of each machine, by their place in the list above, the last one winning.
    order: BTreeMap<MachineName, Vec<usize>>,
    /// What the texts are called, by the number that places in them carry, less one.
    texts: Vec<String>,
    /// Configurations that a door rendered itself.
    prerendered: BTreeMap<MachineName, Prerendered>,
    /// The values of all encrypted files.
    encrypted: Confidential,
}

/// A configuration that a door rendered itself, in its own layer order.
#[derive(Clone)]
pub struct Prerendered {
    /// The whole text, as the door's own users know it.
    pub text: Secret<String>,
    /// The configuration after each layer; recorded only for `ichor explain`.
    pub steps: Vec<LayerSnapshot>,
    /// The texts that layers were read from, by the number that places in them carry, less one.
    pub texts: Vec<LayerSource>,
    /// The values of encrypted files, and the fields that such files set.
    pub confidential: Confidential,
}

/// A configuration after one more layer.
#[derive(Clone)]
pub struct LayerSnapshot {
    /// Where the layer comes from.
    pub layer: String,
    /// What the configuration is then.
    pub config: Config,
}

/// A text that a layer was read from. Its lines need not be those of its file.
#[derive(Clone, Debug)]
pub struct LayerSource {
    /// The file that it is in.
    pub file: String,
    /// The key of the file that holds it; empty when it is the file itself.
    pub key: String,
    /// Which lines of the file its lines are; empty when that is not known.
    pub lines: Vec<u32>,
}

/// One layer.
#[derive(Clone)]
pub struct Layer {
    /// Which machines it is for.
    pub scope: Scope,
    /// Where it comes from: a file, or a line of the spec.
    pub name: String,
    /// Whether that file was encrypted: every field that the layer sets is hidden where it is shown.
    pub is_encrypted: bool,
    pub(crate) patch: Patch,
}

/// Which machines a layer is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those of a role.
    Role(Role),
    /// Those of a pool.
    Pool(PoolName),
    /// One.
    Machine(MachineName),
}

/// Why there are no layers.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LayerError {
    /// The text of a patch was not given.
    #[error("{place}: there is no patch {path}")]
    NoFile {
        /// The file that is missing.
        path: String,
        /// Who names it.
        place: String,
    },
    /// A patch is none.
    #[error("cannot read the patch {name}")]
    Patch {
        /// Which one.
        name: String,
        /// What is wrong with it.
        #[source]
        error: talos_config::Error,
    },
}

impl LayerError {
    /// Every code, each with an entry in the reference of errors.
    pub const CODES: &[&str] = &["layer.no-file", "layer.patch"];

    /// The name of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoFile { .. } => "layer.no-file",
            Self::Patch { .. } => "layer.patch",
        }
    }

    /// What can be done about it: a file must be changed.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Permanent
    }
}

impl Layers {
    /// The layers of a spec in the native order. `file` is what the spec's file is called; `patches` are
    /// the texts of [`ClusterSpec::patch_files`] by their paths; `encrypted` are the values of those files that were
    /// encrypted, by the same paths, the spec's own file among them.
    pub fn native(
        spec: &ClusterSpec,
        file: &str,
        patches: &BTreeMap<String, Secret<String>>,
        encrypted: &BTreeMap<String, Confidential>,
    ) -> Result<Self, LayerError> {
        let mut layers =
            Self { texts: vec![file.to_owned()], ..Self::prerendered(BTreeMap::new()) };
        for values in encrypted.values() {
            layers.encrypted.extend(values);
        }
        let mut builder = Builder { layers, files: BTreeMap::new(), patches, encrypted };
        let all = builder.level(&Scope::All, Some(network(spec)), &spec.patches)?;
        let control_plane = builder.level(
            &Scope::Role(Role::ControlPlane),
            without_flannel(spec),
            &spec.control_plane.patches,
        )?;
        let mut pools = BTreeMap::new();
        for pool in &spec.pools {
            let level = builder.level(&Scope::Pool(pool.name.clone()), None, &pool.patches)?;
            pools.insert(&pool.name, level);
        }
        for (machine, membership) in spec.machines() {
            let host_name = Setting {
                what: "name",
                text: host_name(spec.contract, &machine.name),
                origin: machine.origin,
            };
            let scope = Scope::Machine(machine.name.clone());
            let own = builder.level(&scope, Some(host_name), &machine.patches)?;
            let group = match membership {
                Membership::ControlPlane => Some(&control_plane),
                Membership::Pool(pool) => pools.get(&pool.name),
            };
            let order = all.iter().chain(group.into_iter().flatten()).chain(&own).copied();
            let order = order.collect();
            builder.layers.order.insert(machine.name.clone(), order);
        }
        Ok(builder.layers)
    }

    /// Layers of machines whose configuration a door rendered itself.
    pub fn prerendered(prerendered: BTreeMap<MachineName, Prerendered>) -> Self {
        Self {
            layers: Vec::new(),
            order: BTreeMap::new(),
            texts: Vec::new(),
            prerendered,
            encrypted: Confidential::default(),
        }
    }

    /// What is hidden where the configuration of a machine is shown.
    pub fn confidential(&self, machine: &MachineName) -> Confidential {
        let mut confidential = self.encrypted.clone();
        if let Some(prerendered) = self.prerendered_for(machine) {
            confidential.extend(&prerendered.confidential);
        }
        for layer in self.of(machine).filter(|layer| layer.is_encrypted) {
            confidential.add_patch(&layer.patch);
        }
        confidential
    }

    /// Returns the configuration that a door rendered for a machine.
    pub(crate) fn prerendered_for(&self, machine: &MachineName) -> Option<&Prerendered> {
        self.prerendered.get(machine)
    }

    /// The layers of a machine, the last one winning.
    pub fn of(&self, machine: &MachineName) -> impl Iterator<Item = &Layer> {
        self.order.get(machine).into_iter().flatten().filter_map(|at| self.layers.get(*at))
    }

    /// The layers of a machine but for its own, by numbers: machines with the same ones share them.
    pub(crate) fn shared(&self, machine: &MachineName) -> &[usize] {
        let order = self.order.get(machine).map_or(&[][..], Vec::as_slice);
        let own = |at: &usize| matches!(self.layers[*at].scope, Scope::Machine(_));
        &order[..order.iter().position(own).unwrap_or(order.len())]
    }

    /// `file:line:column`, or nothing where no text gave the value.
    pub fn location(&self, origin: Location) -> Option<String> {
        let index = usize::try_from(origin.source.0).ok()?.checked_sub(1)?;
        Some(format!("{}:{}:{}", self.texts.get(index)?, origin.line, origin.column))
    }

    fn text(&mut self, name: String) -> SourceId {
        self.texts.push(name);
        SourceId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX))
    }
}

impl Prerendered {
    /// The place that a value was written at, or nothing where no text gave it.
    pub(crate) fn location(&self, origin: Location) -> Option<String> {
        let index = usize::try_from(origin.source.0).ok()?.checked_sub(1)?;
        Some(self.texts.get(index)?.location(origin.line))
    }
}

impl LayerSource {
    /// A line of it as people find it: `file:line`, and the key.
    pub fn location(&self, line: u32) -> String {
        let Self { file, key, lines } = self;
        let at = usize::try_from(line).ok().and_then(|line| lines.get(line.checked_sub(1)?));
        let at = at.map_or_else(String::new, |line| format!(":{line}"));
        if key.is_empty() { format!("{file}{at}") } else { format!("{file}{at} ({key})") }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all machines"),
            Self::Role(Role::ControlPlane) => f.write_str("control planes"),
            Self::Role(Role::Worker) => f.write_str("workers"),
            Self::Pool(pool) => write!(f, "pool {pool}"),
            Self::Machine(machine) => machine.fmt(f),
        }
    }
}

struct Builder<'a> {
    layers: Layers,
    /// Patches that were read already: a file may be named by several machines.
    files: BTreeMap<&'a str, Patch>,
    patches: &'a BTreeMap<String, Secret<String>>,
    encrypted: &'a BTreeMap<String, Confidential>,
}

/// What the spec itself says about a configuration, as a patch.
struct Setting {
    what: &'static str,
    text: String,
    origin: Location,
}

impl<'a> Builder<'a> {
    /// Adds the layers of one level and gives their places.
    fn level(
        &mut self,
        scope: &Scope,
        setting: Option<Setting>,
        patches: &'a [PatchSource],
    ) -> Result<Vec<usize>, LayerError> {
        let mut level = Vec::new();
        if let Some(Setting { what, text, origin }) = setting {
            let name = format!("{} ({what})", self.line(origin));
            let patch = self.parse(&text, name.clone())?;
            level.push(self.add(scope, name, self.is_encrypted(None), patch));
        }
        for source in patches {
            let (name, file, patch) = match &source.patch {
                PatchEntry::Inline(text) => {
                    let name = format!("{} (patch)", self.line(source.origin));
                    let patch = self.parse(text.expose(), name.clone())?;
                    (name, None, patch)
                }
                PatchEntry::File(path) => {
                    (path.clone(), Some(path.as_str()), self.file(path, source.origin)?)
                }
            };
            level.push(self.add(scope, name, self.is_encrypted(file), patch));
        }
        Ok(level)
    }

    fn add(&mut self, scope: &Scope, name: String, is_encrypted: bool, patch: Patch) -> usize {
        self.layers.layers.push(Layer { scope: scope.clone(), name, is_encrypted, patch });
        self.layers.layers.len() - 1
    }

    /// Whether the file of a patch was encrypted, or the spec's own file.
    fn is_encrypted(&self, file: Option<&str>) -> bool {
        self.encrypted.contains_key(file.unwrap_or(&self.layers.texts[0]))
    }

    fn file(&mut self, path: &'a str, named: Location) -> Result<Patch, LayerError> {
        if let Some(patch) = self.files.get(path) {
            return Ok(patch.clone());
        }
        let Some(text) = self.patches.get(path) else {
            return Err(LayerError::NoFile { path: path.to_owned(), place: self.line(named) });
        };
        let patch = self.parse(text.expose(), path.to_owned())?;
        self.files.insert(path, patch.clone());
        Ok(patch)
    }

    fn parse(&mut self, text: &str, name: String) -> Result<Patch, LayerError> {
        let source = self.layers.text(name.clone());
        Patch::parse(text, source).map_err(|error| LayerError::Patch { name, error })
    }

    /// The spec's file with a line of it.
    fn line(&self, origin: Location) -> String {
        let file = &self.layers.texts[0];
        if origin.line == 0 { file.clone() } else { format!("{file}:{}", origin.line) }
    }
}

/// The networks of the cluster. What follows from other options of generation is not repeated here.
fn network(spec: &ClusterSpec) -> Setting {
    let list = |networks: &[domain::Network]| {
        let networks: Vec<String> =
            networks.iter().map(|network| format!("\"{network}\"")).collect();
        format!("[{}]", networks.join(", "))
    };
    let (pods, services) = (list(&spec.network.pods), list(&spec.network.services));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = if spec.contract >= DOCUMENTS {
        write!(
            text,
            "apiVersion: v1alpha1\nkind: KubeNetworkConfig\npodSubnets: {pods}\nserviceSubnets: {services}\n"
        )
    } else {
        let cni = if spec.network.cni == Cni::None { "\n    cni: {name: none}" } else { "" };
        write!(
            text,
            "cluster:\n  network:\n    podSubnets: {pods}\n    serviceSubnets: {services}{cni}\n"
        )
    };
    Setting { what: "network", text, origin: spec.network.origin }
}

/// Where documents describe Kubernetes, no network plug-in is a document that is not there.
fn without_flannel(spec: &ClusterSpec) -> Option<Setting> {
    (spec.contract >= DOCUMENTS && spec.network.cni == Cni::None).then(|| Setting {
        what: "network",
        text: "apiVersion: v1alpha1\nkind: KubeFlannelCNIConfig\n$patch: delete\n".to_owned(),
        origin: spec.network.origin,
    })
}

fn host_name(contract: Contract, name: &MachineName) -> String {
    if contract >= HOST_NAME_DOCUMENT {
        format!(
            "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: {:?}\n",
            name.as_str()
        )
    } else {
        format!("machine:\n  network:\n    hostname: {:?}\n", name.as_str())
    }
}

/// The first contract whose configuration has a document for the name of the host.
const HOST_NAME_DOCUMENT: Contract = Contract::new(1, 12);
/// The first contract whose configuration describes Kubernetes by documents.
const DOCUMENTS: Contract = Contract::new(1, 14);
