//! A cluster that a door describes, said natively.
//!
//! In: the spec that a door made, and the configuration that each machine has. Out: a spec and patches that give
//! every machine exactly that configuration; or nothing.

use std::collections::{BTreeMap, BTreeSet};

use domain::{DigestKey, MachineName};
use talos_config::{Bundle, Coded, Config, Location, Mode, Secret, codes, diff, patches_between};

use crate::install::Install;
use crate::layers::{LayerError, Layers};
use crate::render::{RenderError, Renderer};
use crate::spec::{ClusterSpec, DEFAULT_DISK, Machine, PatchEntry, PatchSource};

/// A spec that names its patches, and their texts by their paths.
pub struct NativeExport {
    /// The content of the native file.
    pub spec: ClusterSpec,
    /// The patches, by the paths that the spec names. They may hold secrets.
    pub patches: BTreeMap<String, Secret<String>>,
}

/// The failure to export a native file.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// A patch that was made is none.
    #[error(transparent)]
    Layers(#[from] LayerError),
    /// The configuration of a machine cannot be made.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A machine would get something else than it has.
    #[error("the native file would give {machine} another {field} than it has")]
    Differs {
        /// The machine.
        machine: MachineName,
        /// The first field that differs.
        field: String,
    },
}

impl Coded for NativeError {
    codes! {
        from Self::Layers, Self::Render;
        Self::Differs { .. } => "native.differs", Permanent;
    }
}

type Configs = BTreeMap<MachineName, Config>;

impl NativeExport {
    /// Says natively what machines have.
    pub fn from_configs(
        spec: &ClusterSpec,
        wanted: &Configs,
        secrets: &Bundle,
        key: &DigestKey,
        mode: Mode,
    ) -> Result<Self, NativeError> {
        let mut native = Self { spec: spec.clone(), patches: BTreeMap::new() };
        native.set_spec_fields(wanted);
        let plain = native.rendered(secrets, key, mode)?;
        native.patch(&plain, wanted);
        let rendered = native.rendered(secrets, key, mode)?;
        for (machine, config) in wanted {
            let differs = |given: &&Config| key.config(given) != key.config(config);
            let Some(given) = rendered.get(machine).filter(differs) else { continue };
            let field = diff(config, given).into_iter().next();
            let field = field.map_or_else(
                || "order of documents".to_owned(),
                |field| format!("{} {}", field.document, field.path),
            );
            return Err(NativeError::Differs { machine: machine.clone(), field });
        }
        // A default stands for a disk that a patch takes away again: it is not written.
        let unnamed = spec.machines().filter(|(machine, _)| machine.disk.is_empty());
        let unnamed: BTreeSet<&MachineName> = unnamed.map(|(machine, _)| &machine.name).collect();
        native.for_each_machine(|machine| {
            if unnamed.contains(&machine.name) {
                machine.disk.clear();
            }
        });
        Ok(native)
    }

    /// Gives the patches other paths.
    #[must_use]
    pub fn with_paths(mut self, path: impl Fn(&str) -> String) -> Self {
        self.for_each_machine(|machine| {
            for source in &mut machine.patches {
                if let PatchEntry::File(file) = &mut source.patch {
                    *file = path(file);
                }
            }
        });
        let patches = std::mem::take(&mut self.patches).into_iter();
        self.patches = patches.map(|(file, text)| (path(&file), text)).collect();
        self
    }

    /// Says in the spec what can be said there.
    fn set_spec_fields(&mut self, wanted: &Configs) {
        let mut images: Vec<_> = wanted.values().map(|config| Install::of(config).image).collect();
        images.dedup();
        if let [Some(image)] = images.as_slice()
            && *image != self.spec.installer()
        {
            self.spec.image = Some(image.clone());
        }
        self.for_each_machine(|machine| {
            // Where a selector names the disk, there has to be one before a patch can take it away.
            if machine.disk.is_empty() {
                DEFAULT_DISK.clone_into(&mut machine.disk);
            }
        });
    }

    /// Makes patches of everything else, for each machine its own.
    fn patch(&mut self, plain: &Configs, wanted: &Configs) {
        let mut patches = BTreeMap::new();
        self.for_each_machine(|machine| {
            let name = &machine.name;
            let (Some(from), Some(to)) = (plain.get(name), wanted.get(name)) else { return };
            let numbered = patches_between(from, to).into_iter().zip(1..).map(|(text, number)| {
                let path = format!("patches/{name}-{number}.yaml");
                patches.insert(path.clone(), text);
                PatchSource { patch: PatchEntry::File(path), origin: Location::default() }
            });
            machine.patches = numbered.collect();
        });
        self.patches = patches;
    }

    fn rendered(
        &self,
        secrets: &Bundle,
        key: &DigestKey,
        mode: Mode,
    ) -> Result<Configs, NativeError> {
        let layers = Layers::native(&self.spec, "ichor.yaml", &self.patches, &BTreeMap::new())?;
        let mut renderer = Renderer::new(&self.spec, &layers, secrets, key, mode);
        let mut configs = Configs::new();
        for (machine, _) in self.spec.machines() {
            configs.insert(machine.name.clone(), renderer.config(&machine.name)?);
        }
        Ok(configs)
    }

    fn for_each_machine(&mut self, change: impl FnMut(&mut Machine)) {
        let pools = self.spec.pools.iter_mut().flat_map(|pool| &mut pool.machines);
        self.spec.control_plane.machines.iter_mut().chain(pools).for_each(change);
    }
}
