//! A machine's configuration: generated, patched, and compared with what the machine has.
//!
//! In: a spec, its layers, the secrets and a key. Out: the configuration itself, which is secret, for who
//! applies it; and for plans a [`Rendering`]: a keyed digest and what the change means for the running machine.
//!
//! Always holds: a rendering has no secret in it and nothing that came out of an encrypted file, and the same input
//! gives the same digest.

use std::borrow::Cow;
use std::collections::BTreeMap;

use domain::{Digest, DigestKey, MachineName, TalosVersion};
use talos_config::yaml::Dialect;
use talos_config::{
    Bundle, Coded, Confidential, Config, Contract, Explanation, Finding, Generate, Mode, Options,
    Patch, Patched, Role, Secret, SourceId, codes, diff, diff_hiding, explain, explain_steps,
};

use crate::install::{Install, InstallDisk};
use crate::layers::{Layer, Layers, Prerendered};
use crate::reboot::{self, RebootClass};
use crate::spec::{ClusterSpec, Cni, Machine, Membership};
use crate::step::FieldChange;

/// Makes the configuration of machines. It keeps what machines share, so one renderer should make all.
pub struct Renderer<'a> {
    spec: &'a ClusterSpec,
    layers: &'a Layers,
    secrets: &'a Bundle,
    key: &'a DigestKey,
    mode: Mode,
    shared: BTreeMap<(Contract, bool, &'a str, &'a [usize]), Config>,
}

/// The digest and the differences of a machine's configuration, as plans know them.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// The digest of it.
    pub digest: Digest,
    /// The disk that it has Talos installed to.
    pub disk: InstallDisk,
    /// The change on the machine, if the machine has a configuration that is known.
    pub change: Option<ConfigChange>,
    /// The reason why the machine must not be given it before its upgrade.
    pub too_new: Option<String>,
}

/// From the configuration that a machine has to the one it should have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigChange {
    /// The digest of the machine's configuration.
    pub from: Digest,
    /// The need of a reboot.
    pub class: RebootClass,
    /// True if it would make a worker of a control plane, or the other way round.
    pub changes_role: bool,
    /// True if it would give Kubernetes another release.
    pub changes_kubernetes: bool,
    /// The differences, secrets hidden.
    pub fields: Vec<FieldChange>,
}

/// The configuration that a machine has now.
#[derive(Clone, Copy)]
pub struct Live<'a> {
    /// Its configuration.
    pub config: &'a Config,
    /// Its release, if that is known.
    pub talos: Option<&'a TalosVersion>,
    /// The configuration that it boots with next, where that is another one.
    pub staged: Option<&'a Config>,
}

/// The renderings of all machines.
pub type Renderings = BTreeMap<MachineName, Rendering>;

/// The failure to render the configuration of a machine.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RenderError {
    /// The spec has no such machine.
    #[error("the spec has no machine {0}")]
    UnknownMachine(MachineName),
    /// It cannot be generated from what the spec says.
    #[error("cannot generate the configuration of {machine}")]
    Generate {
        /// The machine.
        machine: MachineName,
        /// The reason.
        #[source]
        error: talos_config::Error,
    },
    /// A layer does not fit.
    #[error("cannot apply {layer} to the configuration of {machine}")]
    Layer {
        /// The machine.
        machine: MachineName,
        /// The layer.
        layer: String,
        /// The reason.
        #[source]
        error: talos_config::Error,
    },
    /// Talos would not accept the result.
    #[error("the configuration of {machine} is not valid: {}", messages(.findings))]
    Invalid {
        /// The machine.
        machine: MachineName,
        /// Everything that is wrong with it.
        findings: Vec<Finding>,
    },
    /// A path that explains nothing.
    #[error("cannot explain a value of {machine}")]
    Explain {
        /// The machine.
        machine: MachineName,
        /// The reason.
        #[source]
        error: talos_config::Error,
    },
}

impl Coded for RenderError {
    codes! {
        Self::UnknownMachine(_) => "render.unknown-machine", Permanent;
        Self::Generate { .. } => "render.generate", Permanent;
        Self::Layer { .. } => "render.layer", Permanent;
        Self::Invalid { .. } => "render.invalid", Permanent;
        Self::Explain { .. } => "render.explain", Permanent;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::UnknownMachine(_) | Self::Invalid { .. } => None,
            Self::Generate { error, .. }
            | Self::Layer { error, .. }
            | Self::Explain { error, .. } => error.hint(),
        }
    }
}

/// The explanation of a value.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The value and what it means, secrets hidden.
    pub explanation: Explanation,
    /// The layers that set it, the last one last: a layer's name with the location in it, and the value.
    pub history: Vec<(String, Option<String>)>,
}

impl<'a> Renderer<'a> {
    /// Returns a renderer for a cluster. `mode` is where its machines run.
    pub fn new(
        spec: &'a ClusterSpec,
        layers: &'a Layers,
        secrets: &'a Bundle,
        key: &'a DigestKey,
        mode: Mode,
    ) -> Self {
        Self { spec, layers, secrets, key, mode, shared: BTreeMap::new() }
    }

    /// Returns the configuration of a machine as plans know it.
    pub fn render(
        &mut self,
        name: &MachineName,
        live: Option<Live<'_>>,
    ) -> Result<Rendering, RenderError> {
        let runs = live.and_then(|live| live.talos);
        let (config, too_new) = self.config_before_upgrade(name, runs)?;
        let digest = self.key.config(&config);
        let confidential = self.layers.confidential(name);
        Ok(Rendering {
            digest,
            disk: Install::of(&config).disk,
            change: live.map(|live| self.change(&config, digest, live, &confidential)),
            too_new,
        })
    }

    /// Returns the configuration of a machine that runs this release, and the reason why the machine must not be given it
    /// before its upgrade.
    pub fn config_before_upgrade(
        &mut self,
        name: &MachineName,
        runs: Option<&TalosVersion>,
    ) -> Result<(Config, Option<String>), RenderError> {
        match self.config_for(name, runs) {
            Ok(config) => {
                let too_new = self.too_new(&config, runs);
                Ok((config, too_new))
            }
            // The layers do not fit the layout of that release: they are written for a later one.
            Err(error) if self.contract(runs) < self.spec.contract => {
                Ok((self.config(name)?, Some(error.to_string())))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the configuration of a machine itself. It holds secrets.
    pub fn config(&mut self, name: &MachineName) -> Result<Config, RenderError> {
        self.config_for(name, None)
    }

    /// Returns the configuration of a machine that runs this release. A machine that is behind the spec is configured
    /// in the layout of its own release until it is upgraded.
    pub fn config_for(
        &mut self,
        name: &MachineName,
        runs: Option<&TalosVersion>,
    ) -> Result<Config, RenderError> {
        let contract = self.contract(runs);
        let (machine, membership) = self.machine(name)?;
        let config = match self.layers.prerendered_for(name) {
            Some(prerendered) => Config::parse(prerendered.text.expose(), SourceId::default())
                .map_err(|error| RenderError::Generate { machine: name.clone(), error })?,
            None => {
                let shared = self.shared(machine, membership, contract)?;
                let own = self.layers.of(name).skip(self.layers.shared(name).len());
                self.apply(shared, own, name, contract)?
            }
        };
        let mut findings = config.validate(self.mode, false).errors;
        if findings.is_empty() {
            return Ok(config);
        }
        let confidential = self.layers.confidential(name);
        for finding in &mut findings {
            let message = &mut finding.problem.message;
            *message = confidential.redact(message).into_owned();
        }
        Err(RenderError::Invalid { machine: name.clone(), findings })
    }

    /// Returns the text that a machine is given for its configuration: the door's own, or the one that Talos writes.
    pub fn text(&self, name: &MachineName, config: &Config) -> Secret<String> {
        let prerendered =
            self.layers.prerendered_for(name).map(|prerendered| prerendered.text.clone());
        prerendered.unwrap_or_else(|| config.encode(Dialect::default()))
    }

    /// Explains which layers set a value of a machine's configuration.
    pub fn explain(&self, name: &MachineName, path: &str) -> Result<Explained, RenderError> {
        let (machine, membership) = self.machine(name)?;
        if let Some(prerendered) = self.layers.prerendered_for(name) {
            return explain_prerendered(prerendered, name, path);
        }
        let confidential = self.layers.confidential(name);
        let generated = self.generate(machine, membership, self.spec.contract)?;
        let generated = generated.encode(Dialect::default());
        let layers: Vec<_> = self.layers.of(name).collect();
        let patches: Vec<Patch> = layers.iter().map(|layer| layer.patch.clone()).collect();
        let generated = generated.expose();
        let explanation = explain(generated, SourceId::default(), &patches, path, &confidential)
            .map_err(|error| RenderError::Explain { machine: name.clone(), error })?;
        let who = |layer: usize| layer.checked_sub(1).and_then(|at| layers.get(at));
        let history = explanation.history.iter().map(|change| {
            let place = self.layers.location(change.origin);
            let name = who(change.layer).map_or("generated", |layer| layer.name.as_str());
            (place.map_or_else(|| name.to_owned(), |at| at.to_string()), change.value.clone())
        });
        let history = history.collect();
        Ok(Explained { explanation, history })
    }

    fn machine(&self, name: &MachineName) -> Result<(&'a Machine, Membership<'a>), RenderError> {
        self.spec.machine(name).ok_or_else(|| RenderError::UnknownMachine(name.clone()))
    }

    /// Renders what a machine has in common with others of its role, disk and layers.
    fn shared(
        &mut self,
        machine: &'a Machine,
        membership: Membership<'a>,
        contract: Contract,
    ) -> Result<Config, RenderError> {
        let numbers = self.layers.shared(&machine.name);
        let key = (contract, membership.role() == Role::Worker, machine.disk.as_str(), numbers);
        if let Some(config) = self.shared.get(&key) {
            return Ok(config.clone());
        }
        let generated = self.generate(machine, membership, contract)?;
        let layers = self.layers.of(&machine.name).take(numbers.len());
        let config = self.apply(generated, layers, &machine.name, contract)?;
        self.shared.insert(key, config.clone());
        Ok(config)
    }

    fn generate(
        &self,
        machine: &Machine,
        membership: Membership<'_>,
        contract: Contract,
    ) -> Result<Config, RenderError> {
        let spec = self.spec;
        let options = Options {
            dns_domain: spec.network.domain.clone(),
            install_disk: machine.disk.clone(),
            install_image: spec.installer(),
            custom_cni: match &spec.network.cni {
                Cni::Manifest(url) => Some(url.clone()),
                Cni::Flannel | Cni::None => None,
            },
            schedule_on_control_planes: spec.control_plane.schedulable,
            ..Options::default()
        };
        let generate = Generate {
            cluster: spec.cluster.as_str(),
            endpoint: &spec.endpoint.to_string(),
            kubernetes: &spec.kubernetes.bare(),
            contract,
            secrets: self.secrets,
            options,
        };
        generate
            .config(membership.role())
            .map_err(|error| RenderError::Generate { machine: machine.name.clone(), error })
    }

    /// Applies layers in the layout of a contract.
    fn apply<'l>(
        &self,
        config: Config,
        layers: impl Iterator<Item = &'l Layer>,
        machine: &MachineName,
        contract: Contract,
    ) -> Result<Config, RenderError> {
        let mut patched = Patched::from(config);
        let mut last = "";
        let failed = |layer: &str, error| RenderError::Layer {
            machine: machine.clone(),
            layer: layer.to_owned(),
            error,
        };
        for layer in layers {
            let Some(patch) = layer.in_layout(self.spec, contract) else { continue };
            last = &layer.name;
            let applied = patch.and_then(|patch| patched.apply(&patch, Dialect::default()));
            patched = applied.map_err(|error| failed(last, error))?;
        }
        // What operations have made of a document is checked only now.
        patched.into_config().map_err(|error| failed(last, error))
    }

    /// Returns the contract of the configuration for a machine that runs this release.
    fn contract(&self, runs: Option<&TalosVersion>) -> Contract {
        runs.map_or(self.spec.contract, |runs| self.spec.contract.min(runs.contract()))
    }

    /// Returns what a machine that is behind the spec does not know, in words: users and doors may say more than the
    /// layout.
    fn too_new(&self, config: &Config, runs: Option<&TalosVersion>) -> Option<String> {
        let runs = runs.filter(|runs| runs.contract() < self.spec.talos.contract())?;
        let newer = config.newer_than(runs.contract());
        let newer: Vec<_> =
            newer.iter().map(|(what, since)| format!("{what} came with Talos {since}")).collect();
        (!newer.is_empty()).then(|| newer.join(", "))
    }

    fn change(
        &self,
        wanted: &Config,
        digest: Digest,
        live: Live<'_>,
        confidential: &Confidential,
    ) -> ConfigChange {
        let from = self.key.config(live.config);
        let same = from == digest;
        let differences = if same { Vec::new() } else { diff(live.config, wanted) };
        // A machine that has what it should, and would boot with something else, is handed the same once more: that takes
        // the place of what is staged.
        let staged = live.staged.filter(|staged| same && self.key.config(staged) != digest);
        // What a change means follows from the values themselves, also from those that are hidden.
        let shown = match staged {
            Some(staged) => diff_hiding(staged, wanted, confidential),
            None if same => Vec::new(),
            None => diff_hiding(live.config, wanted, confidential),
        };
        let class = match staged {
            Some(_) => RebootClass::WithoutReboot,
            None => reboot::class(&differences, same, live.talos),
        };
        ConfigChange {
            from,
            class,
            changes_role: live.config.is_worker() != wanted.is_worker(),
            changes_kubernetes: differences.iter().any(reboot::changes_kubernetes),
            fields: shown.into_iter().map(FieldChange::from).collect(),
        }
    }
}

fn explain_prerendered(
    prerendered: &Prerendered,
    machine: &MachineName,
    path: &str,
) -> Result<Explained, RenderError> {
    let steps = prerendered.steps.iter().map(|step| &step.config);
    let explanation = explain_steps(steps, path, &prerendered.confidential)
        .map_err(|error| RenderError::Explain { machine: machine.clone(), error })?;
    let history = explanation.history.iter().map(|change| {
        let layer = || prerendered.steps[change.layer].layer.clone();
        (prerendered.location(change.origin).unwrap_or_else(layer), change.value.clone())
    });
    let history = history.collect();
    Ok(Explained { explanation, history })
}

fn messages(findings: &[Finding]) -> String {
    findings.iter().map(Finding::message).collect::<Vec<_>>().join("; ")
}
