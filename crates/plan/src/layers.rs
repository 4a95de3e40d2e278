//! The layers of a machine's configuration, in order, each with its origin.
//!
//! In: a spec and the texts of its patches. Out: for each machine its layers, the last one winning. The
//! native order is all < role < pool < machine; at each level what the spec itself says comes before the
//! patches. A door with an order and a base of its own renders the layers itself and brings the result
//! ([`Prerendered`]). Merging is done by `talos-config` and nowhere else.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

use domain::{MachineName, PoolName};
use talos_config::{
    Coded, Confidential, Config, Contract, Diagnostic, FileLocation, Location, Patch, Role, Secret,
    SourceId, codes,
};

use crate::spec::{ClusterSpec, Cni, Membership, PatchEntry, PatchSource};

/// The layers of all machines of a cluster.
#[derive(Clone)]
pub struct Layers {
    layers: Vec<Layer>,
    /// The layers of each machine, by their place in the list above, the last one winning.
    order: BTreeMap<MachineName, Vec<usize>>,
    /// The texts, by the number that locations in them carry, less one. The first is the spec's own file.
    texts: Vec<PatchText>,
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
    /// The origin of the layer.
    pub layer: String,
    /// The configuration after it.
    pub config: Config,
}

/// A text that a layer was read from. Its lines need not be those of its file.
#[derive(Clone, Debug)]
pub struct LayerSource {
    /// The file that it is in.
    pub file: String,
    /// The key of the file that holds it; empty when it is the file itself.
    pub key: String,
    /// The lines of the file that its lines are; empty when that is not known.
    pub lines: Vec<u32>,
}

/// One layer.
#[derive(Clone)]
pub struct Layer {
    /// The machines that it is for.
    pub scope: Scope,
    /// The origin: a file, or a line of the spec.
    pub name: String,
    /// True if that file was encrypted: every field that the layer sets is hidden where it is shown.
    pub is_encrypted: bool,
    /// Written for the contract of the spec.
    pub(crate) patch: Patch,
    /// The setting that it is; none for a patch of the user.
    setting: Option<Setting>,
}

/// A setting of the spec itself, which has a layout of its own in each contract.
#[derive(Clone, Copy)]
enum Setting {
    Network,
    /// No network plug-in on control planes.
    WithoutFlannel,
    HostName,
}

/// The machines that a layer is for.
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

/// The place of a patch: a file, or a value in the spec's file.
#[derive(Clone, Debug)]
pub struct PatchText {
    file: String,
    inline: Option<Inline>,
}

#[derive(Clone, Copy, Debug)]
struct Inline {
    /// The line of the value.
    line: u32,
    /// The text begins on the next line.
    is_block: bool,
}

impl PatchText {
    fn of_file(file: &str) -> Self {
        Self { file: file.to_owned(), inline: None }
    }

    /// Returns the location in the file. The columns of a value there are not known.
    fn location(&self, origin: Location) -> FileLocation {
        let (line, column) = match self.inline {
            None => (origin.line, origin.column),
            Some(Inline { line, is_block: true }) => (line + origin.line, 0),
            Some(Inline { line, is_block: false }) => (line, 0),
        };
        FileLocation { file: self.file.clone(), line, column }
    }
}

/// The failure to build layers.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LayerError {
    /// The text of a patch was not given.
    #[error("{location}: there is no patch {path}")]
    NoFile {
        /// The file that is missing.
        path: String,
        /// The line that names it.
        location: FileLocation,
    },
    /// A patch is none.
    #[error("cannot read the patch {name}")]
    Patch {
        /// The patch.
        name: String,
        /// Its text.
        text: PatchText,
        /// The problem.
        #[source]
        error: talos_config::Error,
    },
}

impl LayerError {
    /// Returns everything that is wrong, each with its location.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let (name, text, error) = match self {
            Self::Patch { name, text, error } => (name, text, error),
            Self::NoFile { path, location } => {
                let message = format!("there is no patch {path}");
                return vec![Diagnostic::error(self.code(), message).at(location.clone())];
            }
        };
        if let talos_config::Error::Document(problems) = error {
            let problems = problems.iter().cloned().map(|problem| {
                let code = self.code();
                Diagnostic { code, ..problem.in_file(|origin| Some(text.location(origin))) }
            });
            return problems.collect();
        }
        let problem = match error.origin() {
            Some(origin) => {
                Diagnostic::error(self.code(), error.to_string()).at(text.location(origin))
            }
            None => Diagnostic::error(self.code(), format!("{name}: {error}")),
        };
        vec![Diagnostic { hint: error.hint().map(Cow::into_owned), ..problem }]
    }
}

impl Coded for LayerError {
    codes! {
        Self::NoFile { .. } => "layer.no-file", Permanent;
        Self::Patch { .. } => "layer.patch", Permanent;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::NoFile { .. } => None,
            Self::Patch { error, .. } => error.hint(),
        }
    }
}

impl Layers {
    /// Returns the layers of a spec in the native order. `file` is what the spec's file is called; `patches` are
    /// the texts of [`ClusterSpec::patch_files`] by their paths; `encrypted` are the values of those files that were
    /// encrypted, by the same paths, the spec's own file among them.
    pub fn native(
        spec: &ClusterSpec,
        file: &str,
        patches: &BTreeMap<String, Secret<String>>,
        encrypted: &BTreeMap<String, Confidential>,
    ) -> Result<Self, LayerError> {
        let mut layers =
            Self { texts: vec![PatchText::of_file(file)], ..Self::prerendered(BTreeMap::new()) };
        for values in encrypted.values() {
            layers.encrypted.extend(values);
        }
        let mut builder = Builder { layers, spec, files: BTreeMap::new(), patches, encrypted };
        let network = spec.network.origin;
        let all = builder.level(&Scope::All, Some((Setting::Network, network)), &spec.patches)?;
        let control_plane = builder.level(
            &Scope::Role(Role::ControlPlane),
            Some((Setting::WithoutFlannel, network)),
            &spec.control_plane.patches,
        )?;
        let mut pools = BTreeMap::new();
        for pool in &spec.pools {
            let level = builder.level(&Scope::Pool(pool.name.clone()), None, &pool.patches)?;
            pools.insert(&pool.name, level);
        }
        for (machine, membership) in spec.machines() {
            let host_name = Some((Setting::HostName, machine.origin));
            let scope = Scope::Machine(machine.name.clone());
            let own = builder.level(&scope, host_name, &machine.patches)?;
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

    /// Returns what is hidden where the configuration of a machine is shown.
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

    /// Returns the layers of a machine, the last one winning.
    pub fn of(&self, machine: &MachineName) -> impl Iterator<Item = &Layer> {
        self.order.get(machine).into_iter().flatten().filter_map(|at| self.layers.get(*at))
    }

    /// Returns the layers of a machine but for its own, by numbers: machines with the same ones share them.
    pub(crate) fn shared(&self, machine: &MachineName) -> &[usize] {
        let order = self.order.get(machine).map_or(&[][..], Vec::as_slice);
        let own = |at: &usize| matches!(self.layers[*at].scope, Scope::Machine(_));
        &order[..order.iter().position(own).unwrap_or(order.len())]
    }

    /// Names the file of a location; nothing where no text gave the value.
    pub fn location(&self, origin: Location) -> Option<FileLocation> {
        let index = usize::try_from(origin.source.0).ok()?.checked_sub(1)?;
        Some(self.texts.get(index)?.location(origin))
    }

    fn text(&mut self, text: PatchText) -> SourceId {
        self.texts.push(text);
        SourceId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX))
    }
}

impl Prerendered {
    /// Returns the place that a value was written at, or nothing where no text gave it.
    pub(crate) fn location(&self, origin: Location) -> Option<String> {
        let index = usize::try_from(origin.source.0).ok()?.checked_sub(1)?;
        Some(self.texts.get(index)?.location(origin.line))
    }
}

impl LayerSource {
    /// Returns a line of it as people find it: `file:line`, and the key.
    pub fn location(&self, line: u32) -> String {
        let Self { file, key, lines } = self;
        let at = usize::try_from(line).ok().and_then(|line| lines.get(line.checked_sub(1)?));
        let at = at.map_or_else(String::new, |line| format!(":{line}"));
        if key.is_empty() { format!("{file}{at}") } else { format!("{file}{at} ({key})") }
    }
}

impl Layer {
    /// Returns the patch in the layout of a contract, which is that of the spec or an older one; `None` where that one
    /// has nothing to say. What users write stays as it is.
    pub(crate) fn in_layout(
        &self,
        spec: &ClusterSpec,
        contract: Contract,
    ) -> Option<Result<Cow<'_, Patch>, talos_config::Error>> {
        let Some(setting) = self.setting.filter(|_| contract != spec.contract) else {
            return Some(Ok(Cow::Borrowed(&self.patch)));
        };
        let text = setting.text(spec, &self.scope, contract)?;
        Some(Patch::parse(&text, SourceId::default()).map(Cow::Owned))
    }
}

impl Setting {
    fn what(self) -> &'static str {
        match self {
            Self::Network | Self::WithoutFlannel => "network",
            Self::HostName => "name",
        }
    }

    /// Returns the patch in the layout of a contract; `None` where nothing needs to be said.
    fn text(self, spec: &ClusterSpec, scope: &Scope, contract: Contract) -> Option<String> {
        match (self, scope) {
            (Self::Network, _) => Some(network(spec, contract)),
            (Self::WithoutFlannel, _) => without_flannel(spec, contract),
            (Self::HostName, Scope::Machine(name)) => Some(host_name(contract, name)),
            (Self::HostName, _) => None,
        }
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
    spec: &'a ClusterSpec,
    /// Patches that were read already: a file may be named by several machines.
    files: BTreeMap<&'a str, Patch>,
    patches: &'a BTreeMap<String, Secret<String>>,
    encrypted: &'a BTreeMap<String, Confidential>,
}

impl<'a> Builder<'a> {
    /// Adds the layers of one level and gives their places.
    fn level(
        &mut self,
        scope: &Scope,
        setting: Option<(Setting, Location)>,
        patches: &'a [PatchSource],
    ) -> Result<Vec<usize>, LayerError> {
        let mut level = Vec::new();
        if let Some((setting, origin)) = setting
            && let Some(text) = setting.text(self.spec, scope, self.spec.contract)
        {
            let name = format!("{} ({})", self.line(origin), setting.what());
            // The text is made of a key that stands there.
            let from = self.inline("", origin);
            let patch = self.parse(&text, name.clone(), from)?;
            let is_encrypted = self.is_encrypted(None);
            level.push(self.add(Layer {
                scope: scope.clone(),
                name,
                is_encrypted,
                patch,
                setting: Some(setting),
            }));
        }
        for source in patches {
            let (name, file, patch) = match &source.patch {
                PatchEntry::Inline(text) => {
                    let name = format!("{} (patch)", self.line(source.origin));
                    let from = self.inline(text.expose(), source.origin);
                    let patch = self.parse(text.expose(), name.clone(), from)?;
                    (name, None, patch)
                }
                PatchEntry::File(path) => {
                    (path.clone(), Some(path.as_str()), self.file(path, source.origin)?)
                }
            };
            let is_encrypted = self.is_encrypted(file);
            let scope = scope.clone();
            level.push(self.add(Layer { scope, name, is_encrypted, patch, setting: None }));
        }
        Ok(level)
    }

    fn add(&mut self, layer: Layer) -> usize {
        self.layers.layers.push(layer);
        self.layers.layers.len() - 1
    }

    /// Returns whether the file of a patch was encrypted, or the spec's own file.
    fn is_encrypted(&self, file: Option<&str>) -> bool {
        self.encrypted.contains_key(file.unwrap_or(&self.layers.texts[0].file))
    }

    fn file(&mut self, path: &'a str, named: Location) -> Result<Patch, LayerError> {
        if let Some(patch) = self.files.get(path) {
            return Ok(patch.clone());
        }
        let Some(text) = self.patches.get(path) else {
            let file = self.layers.texts[0].file.clone();
            let location = FileLocation { file, line: named.line, column: named.column };
            return Err(LayerError::NoFile { path: path.to_owned(), location });
        };
        let patch = self.parse(text.expose(), path.to_owned(), PatchText::of_file(path))?;
        self.files.insert(path, patch.clone());
        Ok(patch)
    }

    fn parse(&mut self, text: &str, name: String, from: PatchText) -> Result<Patch, LayerError> {
        let source = self.layers.text(from.clone());
        Patch::parse(text, source).map_err(|error| LayerError::Patch { name, text: from, error })
    }

    /// Returns a text that stands in the spec's file.
    fn inline(&self, text: &str, origin: Location) -> PatchText {
        let file = self.layers.texts[0].file.clone();
        // Several lines begin below the mark of a block, a single one stands where it is named.
        let is_block = text.contains('\n');
        PatchText { file, inline: Some(Inline { line: origin.line, is_block }) }
    }

    /// Returns the spec's file with a line of it.
    fn line(&self, origin: Location) -> String {
        let file = &self.layers.texts[0].file;
        if origin.line == 0 { file.clone() } else { format!("{file}:{}", origin.line) }
    }
}

/// Returns the networks of the cluster. What follows from other options of generation is not repeated here.
fn network(spec: &ClusterSpec, contract: Contract) -> String {
    let list = |networks: &[domain::Network]| {
        let networks: Vec<String> =
            networks.iter().map(|network| format!("\"{network}\"")).collect();
        format!("[{}]", networks.join(", "))
    };
    let (pods, services) = (list(&spec.network.pods), list(&spec.network.services));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = if contract >= DOCUMENTS {
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
    text
}

/// Returns the patch that takes flannel away: where documents describe Kubernetes, no network plug-in is a document
/// that is not there.
fn without_flannel(spec: &ClusterSpec, contract: Contract) -> Option<String> {
    (contract >= DOCUMENTS && spec.network.cni == Cni::None)
        .then(|| "apiVersion: v1alpha1\nkind: KubeFlannelCNIConfig\n$patch: delete\n".to_owned())
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
