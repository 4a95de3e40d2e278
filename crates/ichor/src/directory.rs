//! The directory of a cluster: where it is, and everything that it says.

mod find;
mod talconfig;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::journal::FileJournal;
use engine::live::{FileVault, LiveKubernetes, LiveMachines, Seal, SystemClock};
use engine::{Cluster, Trouble, Vault as _};
use plan::{ClusterSpec, DigestKey, Layers, MachineName};
use sha2::{Digest as _, Sha256};
use talos_config::{Bundle, Mode, Secret, Source};

pub(crate) use find::{Found, Kind, find, talosconfig};

use crate::audit::hex;
use crate::error::with_causes;
use crate::sealed::{self, Keys};
use crate::settings::{Input, Place};
use crate::texts::Texts;
use crate::{Error, makers};

/// A cluster's directory, opened.
pub(crate) struct Directory {
    pub(crate) root: PathBuf,
    pub(crate) cluster: Cluster,
    pub(crate) vault: FileVault,
    pub(crate) journal: FileJournal,
    /// What should be looked at, though it stops nothing.
    pub(crate) warnings: Vec<String>,
}

impl Directory {
    /// Finds and reads the directory that is meant: all of it is checked before anything is done.
    pub(crate) async fn open(place: &Place) -> Result<Self, Error> {
        Self::read(place, None).await
    }

    /// Does the same, and keeps everything that can explain the configuration of a machine.
    pub(crate) async fn open_to_explain(
        place: &Place,
        machine: &MachineName,
    ) -> Result<Self, Error> {
        Self::read(place, Some(machine)).await
    }

    async fn read(place: &Place, explained: Option<&MachineName>) -> Result<Self, Error> {
        let Found { root, file, kind } = find(place.directory.as_deref())?;
        let mut vault = FileVault::new(&root, Box::new(Sealed(place.keys.clone())));
        let described = match kind {
            Kind::Native => native(&root, &file, &vault, place).await?,
            Kind::Talconfig => talconfig::read(&file, place, explained)?,
        };
        let Described { spec, layers, secrets, secrets_file, warnings } = described;
        if let Some(file) = secrets_file {
            vault = vault.with_secrets(&file);
        }
        let journal = FileJournal::new(&root.join(STATE), SystemClock::time);
        let key = digest_key(secrets.cluster_secret().expose());
        let cluster = Cluster { spec, layers, secrets, key, mode: Mode::Metal };
        Ok(Self { root, cluster, vault, journal, warnings })
    }

    /// Which directory on which computer it is. Whoever has the slot of its journal is the only one alive who says so, and
    /// may take over what a process that was killed held.
    pub(crate) fn id(&self) -> String {
        let mut hash = Sha256::new();
        for file in ["/etc/machine-id", "/proc/sys/kernel/hostname"] {
            hash.update(fs_err::read(file).unwrap_or_default());
        }
        hash.update(self.root.as_os_str().as_encoded_bytes());
        hex(&hash.finalize()[..6])
    }

    /// The machines of the cluster, with credentials for a day.
    pub(crate) fn machines(&self) -> Result<LiveMachines, Error> {
        let name = self.cluster.spec.cluster.as_str();
        let roles = ["os:admin".to_owned()];
        let talosconfig = makers::with(|makers| {
            self.cluster.secrets.talosconfig(name, &roles, CREDENTIALS, makers)
        })??;
        let context = talosconfig.context(name).ok_or_else(|| Error::Usage {
            message: "the secrets give no credentials".to_owned(),
            hint: "`ichor gen secrets` makes a complete set for a new cluster".to_owned(),
        })?;
        Ok(LiveMachines::new(context))
    }

    /// Its Kubernetes API, with credentials for a day.
    pub(crate) fn kubernetes(&self) -> Result<LiveKubernetes, Error> {
        let spec = &self.cluster.spec;
        let kubeconfig = makers::with(|makers| {
            let endpoint = spec.endpoint.to_string();
            let secrets = &self.cluster.secrets;
            secrets.kubeconfig(spec.cluster.as_str(), &endpoint, CREDENTIALS, makers)
        })??;
        Ok(LiveKubernetes::new(kubeconfig))
    }
}

/// What a file describes.
struct Described {
    spec: ClusterSpec,
    layers: Layers,
    secrets: Bundle,
    /// Where the secrets are, when that is not where a vault looks for them.
    secrets_file: Option<PathBuf>,
    warnings: Vec<String>,
}

async fn native(
    root: &Path,
    file: &Path,
    vault: &FileVault,
    place: &Place,
) -> Result<Described, Error> {
    let mut texts = Texts::with_keys(&place.keys);
    let spec = native_spec(file, &mut texts)?;
    let mut patches = BTreeMap::new();
    for path in spec.patch_files() {
        let (text, _) = texts.read(&Input::File(root.join(path)))?;
        patches.insert(path.to_owned(), Secret::new(text));
    }
    let layers = Layers::native(&spec, &file.display().to_string(), &patches).map_err(|error| {
        Error::Spec { message: with_causes(&error), hint: None, code: error.code() }
    })?;
    let secrets = vault.read().await?.ok_or_else(|| Error::Usage {
        message: format!("{} has no secrets", root.display()),
        hint: "`ichor init` makes them, or `ichor gen secrets -o secrets.yaml`".to_owned(),
    })?;
    Ok(Described { spec, layers, secrets, secrets_file: None, warnings: Vec::new() })
}

/// What a native file describes.
pub(crate) fn native_spec(file: &Path, texts: &mut Texts) -> Result<ClusterSpec, Error> {
    let (text, source) = texts.read(&Input::File(file.to_owned()))?;
    ClusterSpec::parse(&text, source).map_err(|error| Error::Spec {
        message: spec_problems(&error, texts, source),
        hint: error.hint().map(str::to_owned),
        code: error.code(),
    })
}

/// The address of each machine that the cluster of the working directory has, by all of its names; nothing when there is
/// no such directory.
pub(crate) fn addresses(place: &Place) -> Result<BTreeMap<String, String>, Error> {
    let Ok(Found { file, kind, .. }) = find(place.directory.as_deref()) else {
        return Ok(BTreeMap::new());
    };
    Ok(match kind {
        Kind::Native => {
            let spec = native_spec(&file, &mut Texts::with_keys(&place.keys))?;
            let machines = spec.machines();
            machines
                .map(|(machine, _)| (machine.name.to_string(), machine.address.to_string()))
                .collect()
        }
        Kind::Talconfig => {
            let machines = talconfig::machines(&file, place)?.into_iter();
            let named = machines.flat_map(|(names, address)| {
                names.into_iter().map(move |name| (name, address.clone()))
            });
            named.collect()
        }
    })
}

/// Files that the `sops` program could have encrypted.
struct Sealed(Keys);

impl Seal for Sealed {
    fn open(&self, text: String, path: &Path) -> Result<Secret<String>, Trouble> {
        sealed::open(text, path, &self.0).map(Secret::new).map_err(|error| error.trouble())
    }
}

/// The key of digests follows from what the cluster keeps for as long as it lives.
fn digest_key(secret: &str) -> DigestKey {
    let mut hash = Sha256::new();
    hash.update(b"ichor digest key\0");
    hash.update(secret.as_bytes());
    DigestKey::new(hash.finalize().into())
}

fn spec_problems(error: &plan::SpecError, texts: &Texts, source: Source) -> String {
    match error {
        plan::SpecError::Problems(problems) => {
            let lines = problems.iter().map(|problem| {
                let place = texts.place(problem.origin).unwrap_or_default();
                let hint = problem.hint.as_ref().filter(|_| problems.len() > 1);
                let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
                format!("{place}: {}{hint}", problem.message)
            });
            lines.collect::<Vec<_>>().join("\n  ")
        }
        plan::SpecError::Syntax(_) => format!("{}: {}", texts.name(source), with_causes(error)),
    }
}

pub(crate) const FILE: &str = "ichor.yaml";
const TALCONFIG: &str = "talconfig.yaml";
pub(crate) const STATE: &str = ".ichor";
/// As long as a pass could take, and some.
const CREDENTIALS: i64 = 24 * 3600;
