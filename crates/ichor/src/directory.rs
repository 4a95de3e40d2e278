//! The directory of a cluster: where it is, and everything that it says.

mod find;
mod talconfig;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::journal::{Entry, FileJournal, Journal as _};
use engine::live::{FileVault, Seal, SystemClock, SystemEntropy};
use engine::{Cluster, PortError, Vault as _, bounded_file};
use plan::{ClusterSpec, DigestKey, Install, Layers, Machine, MachineName, NodeIdentity, SpecRule};
use sha2::{Digest as _, Sha256};
use talos_api::proto::definitions::cluster::IdentitySpec;
use talos_api::{Fingerprint, Node};
use talos_config::{
    Bundle, Coded, Context, Contract, Diagnostic, FileLocation, Location, Mode, Secret, SourceId,
};

pub(crate) use find::{
    ClusterDirectory, DirectoryKind, find, is_in_cluster, repository_key, talosconfig,
};

use ::talconfig::Registration;

use crate::commands::files::generate;
use crate::credentials::short_lived;
use crate::diagnostics::{
    DIRECTORY_MISSING, Diagnostics, INSTALLER_UNREGISTERED, SECRETS_AMBIGUOUS, SECRETS_MISSING,
};
use crate::factory::{DEFAULT_FACTORY, ImageFactoryClient};
use crate::printer::Printer;
use crate::settings::{self, ClusterLocation, Input};
use crate::sops_files::{self, SopsKeys};
use crate::sources::SourceMap;
use crate::{Error, release_catalog};

/// A cluster's directory, opened.
pub(crate) struct OpenedDirectory {
    pub(crate) root: PathBuf,
    pub(crate) cluster: Cluster,
    pub(crate) vault: FileVault,
    pub(crate) journal: FileJournal,
    /// Whether parts of its description were encrypted: files derived from it must be encrypted too.
    pub(crate) was_encrypted: bool,
    /// Warnings, which do not prevent anything.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The machines with all of their addresses.
    machines: Vec<KnownMachine>,
    /// Schematics to register with image factories before machines can be installed.
    registrations: Vec<Registration>,
    factories: ImageFactoryClient,
}

impl OpenedDirectory {
    /// Finds, reads and checks the cluster directory.
    pub(crate) async fn open(location: &ClusterLocation) -> Result<Self, Error> {
        Self::read(location, None).await
    }

    /// Opens the directory, and keeps the layers that explain the configuration of one machine.
    pub(crate) async fn open_to_explain(
        location: &ClusterLocation,
        machine: &MachineName,
    ) -> Result<Self, Error> {
        Self::read(location, Some(machine)).await
    }

    async fn read(
        location: &ClusterLocation,
        explained: Option<&MachineName>,
    ) -> Result<Self, Error> {
        let ClusterDirectory { root, file, kind } = find(location.directory.as_deref())?;
        let mut vault = FileVault::new(&root, Box::new(SopsFiles(location.keys.clone())));
        let described = match kind {
            DirectoryKind::Native => native(&root, &file, &vault, location).await?,
            DirectoryKind::Talconfig => talconfig::read(&file, location, explained)?,
        };
        let LoadedCluster {
            spec,
            layers,
            secrets,
            secrets_file,
            was_encrypted,
            warnings,
            machines,
            registrations,
        } = described;
        if let Some(file) = secrets_file {
            vault = vault.with_secrets(&file);
        }
        let journal = journal_of(&root);
        let key = digest_key(secrets.cluster_secret().expose());
        let cluster = Cluster { spec, layers, secrets, key, mode: Mode::Metal };
        let factories = ImageFactoryClient { trusted: settings::trusted(location.variable()) };
        Ok(Self {
            root,
            cluster,
            vault,
            journal,
            was_encrypted,
            warnings,
            machines,
            registrations,
            factories,
        })
    }

    /// Prints the warnings.
    pub(crate) fn tell_warnings(&self, printer: &mut Printer) {
        for warning in &self.warnings {
            printer.note(&warning.to_string());
        }
    }

    /// Returns the machine that has a name, a host name or an address.
    pub(crate) fn machine(&self, text: &str) -> Option<&Machine> {
        let known = KnownMachine::find(&self.machines, text)?;
        let mut machines = self.cluster.spec.machines().map(|(machine, _)| machine);
        machines.find(|machine| known.is(machine.name.as_str()))
    }

    /// The installers that the configurations of machines name, by the names of the machines.
    pub(crate) fn installers(&self) -> Result<BTreeMap<String, String>, Error> {
        let mut renderer = self.cluster.renderer();
        let mut installers = BTreeMap::new();
        for (machine, _) in self.cluster.spec.machines() {
            let config = renderer.config(&machine.name).map_err(engine::Error::from)?;
            let image = Install::of(&config).image;
            installers.extend(image.map(|image| (machine.name.to_string(), image)));
        }
        Ok(installers)
    }

    /// Shows image factories what installers are made of. Gives a warning for each that did not take it: the machines may
    /// have their images from elsewhere.
    pub(crate) async fn register(&self) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for Registration { url, schematic } in self.registrations.clone() {
            let factories = self.factories.clone();
            let registered =
                tokio::task::spawn_blocking(move || factories.register(&url, &schematic)).await;
            if let Ok(Err(reason)) = registered {
                warnings.push(Diagnostic::warning(
                    INSTALLER_UNREGISTERED,
                    format!(
                        "a schematic is not registered, and machines may not find their installer: {reason}"
                    ),
                ));
            }
        }
        warnings
    }
}

/// A cluster as its file describes it.
struct LoadedCluster {
    spec: ClusterSpec,
    layers: Layers,
    secrets: Bundle,
    /// Path of the secrets, unless it is the default one of the vault.
    secrets_file: Option<PathBuf>,
    /// Whether other files than the secrets were encrypted.
    was_encrypted: bool,
    warnings: Vec<Diagnostic>,
    machines: Vec<KnownMachine>,
    registrations: Vec<Registration>,
}

async fn native(
    root: &Path,
    file: &Path,
    vault: &FileVault,
    location: &ClusterLocation,
) -> Result<LoadedCluster, Error> {
    refuse_second_secrets(root)?;
    let mut sources = SourceMap::with_keys(&location.keys);
    let name = file.display().to_string();
    let (spec, source) = native_spec(file, &mut sources)?;
    let mut patches = BTreeMap::new();
    let mut encrypted = BTreeMap::new();
    encrypted.extend(sources.encrypted(source).map(|values| (name.clone(), values.clone())));
    // A file that does not exist is reported by the layers, with the line that names it.
    for path in spec.patch_files().into_iter().filter(|path| root.join(path).exists()) {
        bounded_file::open(&root.join(path)).map_err(Error::Input)?;
        let (text, source) = sources.read(&Input::File(root.join(path)))?;
        encrypted.extend(sources.encrypted(source).map(|values| (path.to_owned(), values.clone())));
        patches.insert(path.to_owned(), Secret::new(text));
    }
    let layers = Layers::native(&spec, &name, &patches, &encrypted).map_err(|error| {
        let wrong = error.diagnostics().into_iter();
        Diagnostics::new(wrong.map(|wrong| wrong.map_text(|text| sources.redact(text))).collect())
    })?;
    let secrets = vault.read().await?.ok_or_else(|| no_secrets(root, &SECRETS))?;
    let versions = release_catalog::load(settings::cache(location.variable()).as_deref());
    let (extensions, version) = (&spec.extensions, spec.talos.to_string());
    let warning = match extensions.as_slice() {
        [] => None,
        names => release_catalog::check_extensions(names, &versions, &version, &name)?,
    };
    let schematic = spec.schematic().filter(|_| !extensions.is_empty());
    let registrations = schematic.map(|schematic| Registration {
        url: format!("{DEFAULT_FACTORY}/schematics"),
        schematic: schematic.canonical(),
    });
    Ok(LoadedCluster {
        layers,
        secrets,
        secrets_file: None,
        was_encrypted: false,
        warnings: warning.into_iter().chain(not_yet(&spec, |at| sources.place(at))).collect(),
        machines: machines_of(&spec),
        registrations: registrations.into_iter().collect(),
        spec,
    })
}

/// Warns of keys that are accepted and have no effect in this release.
fn not_yet(
    spec: &ClusterSpec,
    place: impl Fn(Location) -> Option<FileLocation>,
) -> Option<Diagnostic> {
    let backup = spec.backup.as_ref()?;
    let message = "\"backup\" has no effect in this release: nothing is backed up";
    let hint = "save a snapshot with `ichor etcd snapshot FILE -n MACHINE`";
    let warning = Diagnostic::warning(SpecRule::NotYet.name(), message).with_hint(hint);
    Some(warning.at(place(backup.origin)))
}

/// Parses a native file, and returns its source id too.
pub(crate) fn native_spec(
    file: &Path,
    sources: &mut SourceMap,
) -> Result<(ClusterSpec, SourceId), Error> {
    let (text, source) = sources.read(&Input::File(file.to_owned()))?;
    let spec = ClusterSpec::parse(&text, source).map_err(|error| {
        let problems = spec_problems(&error, sources, source).into_iter();
        Diagnostics::new(
            problems.map(|problem| problem.map_text(|text| sources.redact(text))).collect(),
        )
    })?;
    Ok((spec, source))
}

/// A machine that a cluster's directory describes.
pub(crate) struct KnownMachine {
    pub(crate) names: Vec<String>,
    /// At least one; the first is where it is called.
    pub(crate) addresses: Vec<String>,
    pub(crate) is_control_plane: bool,
    /// The keys that it may have in maintenance; any where there are none.
    pub(crate) fingerprints: Vec<Fingerprint>,
}

impl KnownMachine {
    /// Finds the machine that has a name, a host name or an address; the domain of a host name may differ.
    pub(crate) fn find<'a>(machines: &'a [Self], text: &str) -> Option<&'a Self> {
        let label = text.split('.').next().unwrap_or_default();
        let has_label =
            |machine: &&Self| machine.names.iter().any(|name| name.eq_ignore_ascii_case(label));
        machines.iter().find(|machine| machine.is(text)).or_else(|| machines.iter().find(has_label))
    }

    /// Returns the name in plans, if it can be one.
    pub(crate) fn machine_name(&self) -> Option<MachineName> {
        self.names.iter().find_map(|name| name.parse().ok())
    }

    /// Returns whether this is a name or an address of the machine.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.names.iter().chain(&self.addresses).any(|own| own == name)
    }
}

/// Returns the machines of the cluster directory, without reading secrets; empty outside of one.
pub(crate) fn known_machines(location: &ClusterLocation) -> Result<Vec<KnownMachine>, Error> {
    let ClusterDirectory { file, kind, .. } = match find(location.directory.as_deref()) {
        Ok(found) => found,
        Err(error @ Error::Owner { .. }) => return Err(error),
        Err(_) => return Ok(Vec::new()),
    };
    match kind {
        DirectoryKind::Native => {
            let (spec, _) = native_spec(&file, &mut SourceMap::with_keys(&location.keys))?;
            Ok(machines_of(&spec))
        }
        DirectoryKind::Talconfig => talconfig::known_machines(&file, location),
    }
}

fn machines_of(spec: &ClusterSpec) -> Vec<KnownMachine> {
    let machine = |(machine, membership): (&Machine, plan::Membership<'_>)| KnownMachine {
        names: vec![machine.name.to_string()],
        addresses: machine.address().iter().map(ToString::to_string).collect(),
        is_control_plane: matches!(membership, plan::Membership::ControlPlane),
        fingerprints: (machine.fingerprints.iter())
            .filter_map(|fingerprint| Fingerprint::parse(fingerprint.as_str()))
            .collect(),
    };
    spec.machines().map(machine).collect()
}

/// Returns the machines on which the journal of the directory has a member of etcd, or one that was about to begin; none where
/// there is no directory or no journal.
pub(crate) async fn members(location: &ClusterLocation) -> Result<BTreeSet<MachineName>, Error> {
    let Ok(ClusterDirectory { root, .. }) = find(location.directory.as_deref()) else {
        return Ok(BTreeSet::new());
    };
    let journal = journal_of(&root);
    let ledger = journal.ledger().await.map_err(engine::Error::from)?;
    Ok(ledger.members.into_values().chain(ledger.bootstrapping).collect())
}

/// Returns the machines that the journal of the directory has recorded as ours, and that were not about to be reset since; none
/// where there is no directory or no journal.
pub(crate) async fn recorded(location: &ClusterLocation) -> Result<BTreeSet<MachineName>, Error> {
    let Ok(ClusterDirectory { root, .. }) = find(location.directory.as_deref()) else {
        return Ok(BTreeSet::new());
    };
    let ledger = journal_of(&root).ledger().await.map_err(engine::Error::from)?;
    let recorded = ledger.recorded.into_keys();
    Ok(recorded.filter(|machine| !ledger.resetting.contains(machine)).collect())
}

/// How the first secrets of a cluster are made.
pub(crate) struct NewSecrets {
    /// The path of the encrypted file, whether or not it exists.
    pub(crate) path: PathBuf,
    pub(crate) contract: Contract,
}

/// Returns how the first secrets of the directory's cluster are made.
pub(crate) fn new_secrets(location: &ClusterLocation) -> Result<NewSecrets, Error> {
    let ClusterDirectory { root, file, kind } = find(location.directory.as_deref())?;
    Ok(match kind {
        DirectoryKind::Native => {
            let (spec, _) = native_spec(&file, &mut SourceMap::with_keys(&location.keys))?;
            NewSecrets { path: root.join(SECRETS[0]), contract: spec.contract }
        }
        DirectoryKind::Talconfig => NewSecrets {
            path: file.with_file_name("talsecret.sops.yaml"),
            contract: talconfig::contract(&file, location)?,
        },
    })
}

/// A machine that is about to be reset, in the journal of the cluster's directory.
pub(crate) struct JournaledReset {
    journal: FileJournal,
    machine: MachineName,
    /// The installation that the journal has.
    installation: NodeIdentity,
    /// An earlier reset may still reach the machine.
    was_resetting: bool,
}

impl JournaledReset {
    /// Records that a machine is about to be reset; `None` unless it is the installation that the journal has: an address
    /// may be that of another cluster's machine. One that was configured and not recorded since has nothing to be forgotten.
    pub(crate) async fn begin(
        location: &ClusterLocation,
        node: &Node,
    ) -> Result<Option<Self>, Error> {
        let Ok(ClusterDirectory { root, .. }) = find(location.directory.as_deref()) else {
            return Ok(None);
        };
        let known = known_machines(location)?;
        let machine = known.iter().find(|machine| machine.is(node.name()));
        let Some(machine) = machine.and_then(KnownMachine::machine_name) else { return Ok(None) };
        let journal = journal_of(&root);
        let mut ledger = journal.ledger().await.map_err(engine::Error::from)?;
        let Some(installation) = ledger.recorded.remove(&machine) else { return Ok(None) };
        let identity = node.get::<IdentitySpec>("local").await?;
        if identity.is_none_or(|identity| identity.node_id != installation.0) {
            return Ok(None);
        }
        let was_resetting = ledger.resetting.contains(&machine);
        let reset = Self { journal, machine, installation, was_resetting };
        reset.append(|machine| Entry::MachineResetting { machine }).await?;
        Ok(Some(reset))
    }

    /// Records that the machine has no configuration any more.
    pub(crate) async fn forget(self) -> Result<(), Error> {
        self.append(|machine| Entry::MachineForgotten { machine }).await
    }

    /// Records that the machine was not reset: one that is in maintenance later is looked at by a person.
    pub(crate) async fn withdraw(self) -> Result<(), Error> {
        if self.was_resetting {
            return Ok(());
        }
        // The journal keeps the member that it has.
        let (node, member) = (self.installation.clone(), None);
        self.append(|machine| Entry::MachineRecorded { machine, node, member }).await
    }

    async fn append(&self, entry: impl FnOnce(MachineName) -> Entry) -> Result<(), Error> {
        let appended = self.journal.append(entry(self.machine.clone())).await;
        Ok(appended.map_err(engine::Error::from)?)
    }
}

fn journal_of(root: &Path) -> FileJournal {
    FileJournal::new(&root.join(STATE), Arc::new(SystemClock), Arc::new(SystemEntropy))
}

/// What a client needs to know of a cluster: its name, its secrets, and where it is reached.
pub(crate) struct ClientAccess {
    pub(crate) cluster: String,
    pub(crate) secrets: Bundle,
    /// The addresses of the control planes.
    pub(crate) endpoints: Vec<String>,
    /// The addresses of all machines.
    pub(crate) nodes: Vec<String>,
}

/// Reads the access data of the cluster directory; `None` outside of one.
pub(crate) fn client_access(location: &ClusterLocation) -> Result<Option<ClientAccess>, Error> {
    let ClusterDirectory { root, file, kind } = match find(location.directory.as_deref()) {
        Ok(found) => found,
        Err(error) if error.code() == DIRECTORY_MISSING => return Ok(None),
        Err(error) => return Err(error),
    };
    let machines = known_machines(location)?;
    let (cluster, secrets) = match kind {
        DirectoryKind::Native => {
            let mut sources = SourceMap::with_keys(&location.keys);
            let (spec, _) = native_spec(&file, &mut sources)?;
            refuse_second_secrets(&root)?;
            let there = SECRETS.iter().map(|name| root.join(name)).find(|path| path.exists());
            let there = there.ok_or_else(|| no_secrets(&root, &SECRETS))?;
            let bundle = generate::read_bundle(&Input::File(there), &mut sources)?;
            (spec.cluster.to_string(), bundle)
        }
        DirectoryKind::Talconfig => talconfig::secrets(&file, location)?,
    };
    let address = |machine: &KnownMachine| machine.addresses.first().cloned();
    let control_planes = machines.iter().filter(|machine| machine.is_control_plane);
    let endpoints = control_planes.filter_map(address).collect();
    let nodes = machines.iter().filter_map(address).collect();
    Ok(Some(ClientAccess { cluster, secrets, endpoints, nodes }))
}

/// Signs credentials for one process with the secrets of the directory, with its control planes as endpoints and all of its
/// machines as nodes. `None` where the working directory belongs to no cluster.
pub(crate) fn signed_context(location: &ClusterLocation) -> Result<Option<Context>, Error> {
    let Some(ClientAccess { cluster, secrets, endpoints, nodes }) = client_access(location)? else {
        return Ok(None);
    };
    let roles = ["os:admin".to_owned()];
    let made = short_lived(|lasts, makers| secrets.talosconfig(&cluster, &roles, lasts, makers))??;
    Ok(made.context(&cluster).map(|context| Context { endpoints, nodes, ..context }))
}

/// The error of a directory without secrets. New ones would not open the machines of a cluster that exists, so its hint
/// speaks of the old ones first.
fn no_secrets(folder: &Path, names: &[&str]) -> Error {
    let make = names.last().copied().unwrap_or_default();
    let message = format!("no {} in {}", names.join(" or "), folder.display());
    let hint = format!(
        "restore it from your backup; only for a cluster that does not exist yet: `ichor gen secrets -o {make}`"
    );
    Diagnostic::error(SECRETS_MISSING, message).with_hint(hint).into()
}

/// Refuses a directory with two sets of secrets: which of them the machines have is not known.
fn refuse_second_secrets(root: &Path) -> Result<(), Error> {
    if !SECRETS.iter().all(|name| root.join(name).exists()) {
        return Ok(());
    }
    let message = format!("{} has both {}", root.display(), SECRETS.join(" and "));
    let hint = "keep the file with the secrets of the machines, and move the other one away";
    Err(Diagnostic::error(SECRETS_AMBIGUOUS, message).with_hint(hint).into())
}

/// Files that the `sops` program could have encrypted.
struct SopsFiles(SopsKeys);

impl Seal for SopsFiles {
    fn open(&self, text: String, path: &Path) -> Result<Secret<String>, PortError> {
        sops_files::decrypt(text, path, &self.0)
            .map(Secret::new)
            .map_err(|error| error.port_error())
    }
}

/// The key of digests follows from what the cluster keeps for as long as it lives.
fn digest_key(secret: &str) -> DigestKey {
    let mut hash = Sha256::new();
    hash.update(b"ichor digest key\0");
    hash.update(secret.as_bytes());
    DigestKey::new(hash.finalize().into())
}

/// Names the file of each problem of a spec; of one without a location it is the text as a whole.
fn spec_problems(
    error: &plan::SpecError,
    sources: &SourceMap,
    source: SourceId,
) -> Vec<Diagnostic> {
    let whole = || FileLocation::file(sources.name(source));
    let problems = error.diagnostics().into_iter().map(|problem| {
        let located = problem.in_file(|origin| sources.place(origin));
        Diagnostic { location: Some(located.location.unwrap_or_else(whole)), ..located }
    });
    problems.collect()
}

/// The files that may hold the secrets of a native directory.
const SECRETS: [&str; 2] = ["secrets.sops.yaml", "secrets.yaml"];
pub(crate) const FILE: &str = "ichor.yaml";
const TALCONFIG: &str = "talconfig.yaml";
pub(crate) const STATE: &str = ".ichor";
