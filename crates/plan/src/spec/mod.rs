//! The spec of a cluster.
//!
//! In: the native file ([`ClusterSpec::parse`]), or what another door makes of its own format, which then
//! calls [`ClusterSpec::check`]. Out: one value that everything else starts from.
//!
//! Always holds for a checked spec: names and addresses are unique, networks are apart, there is a control
//! plane, and the releases go together.

mod error;
mod file;
mod rules;
mod schema;
mod table;
mod write;

use std::fmt;
use std::str::FromStr;

use domain::{
    Address, ClassName, ClusterName, Endpoint, FailureDomain, Fingerprint, InvalidText,
    KubernetesVersion, MachineName, Network, PoolName, ProviderName, Span, TalosVersion,
    TextFormat, Window,
};
use talos_config::{Contract, Location, Role, Schematic, Secret, SourceId, plain_installer};

pub use error::{SpecError, SpecRule};
pub(crate) use file::DEFAULT_DISK;
pub use schema::json_schema;

/// A cluster as it should be.
#[derive(Clone, Debug)]
pub struct ClusterSpec {
    /// Its name.
    pub cluster: ClusterName,
    /// The address of its Kubernetes API.
    pub endpoint: Endpoint,
    /// The release of Talos that its machines run.
    pub talos: TalosVersion,
    /// The release of Kubernetes.
    pub kubernetes: KubernetesVersion,
    /// The contract that its configuration follows, which may be older than the release.
    pub contract: Contract,
    /// The installer's image, where it is not the one that follows from release and extensions.
    pub image: Option<String>,
    /// Extensions of the operating system, by their official names.
    pub extensions: Vec<String>,
    /// Networks inside the cluster.
    pub network: ClusterNetwork,
    /// The provider that makes the machines that have no address here.
    pub provider: Option<ProviderName>,
    /// The machines that run etcd and Kubernetes itself.
    pub control_plane: ControlPlane,
    /// The machines that run workloads.
    pub pools: Vec<Pool>,
    /// Patches for all machines.
    pub patches: Vec<PatchSource>,
    /// The policy for changes.
    pub policy: Policy,
    /// The backups of etcd; none when there is none.
    pub backup: Option<Backup>,
    /// The lines that name its releases.
    pub releases: ReleaseOrigins,
}

/// Networks inside a cluster.
#[derive(Clone, Debug)]
pub struct ClusterNetwork {
    /// Addresses of pods.
    pub pods: Vec<Network>,
    /// Addresses of services.
    pub services: Vec<Network>,
    /// The domain of the cluster.
    pub domain: String,
    /// The network plug-in.
    pub cni: Cni,
    /// The line that describes it.
    pub origin: Location,
}

/// The network plug-in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Cni {
    /// The plug-in that Talos brings.
    Flannel,
    /// No plug-in: one is installed later, and no step waits for ready nodes before that.
    None,
    /// A manifest at a URL.
    Manifest(String),
}

/// The control plane.
#[derive(Clone, Debug)]
pub struct ControlPlane {
    /// Its machines; the first one begins the cluster.
    pub machines: Vec<Machine>,
    /// Patches for all of them.
    pub patches: Vec<PatchSource>,
    /// True if workloads may run on them.
    pub schedulable: bool,
}

/// Workers that are alike.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Its name.
    pub name: PoolName,
    /// Its machines.
    pub machines: Vec<Machine>,
    /// Patches for all of them.
    pub patches: Vec<PatchSource>,
    /// The line that describes it.
    pub origin: Location,
}

/// A machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The name, in the spec and in the cluster.
    pub name: MachineName,
    /// The source of the machine.
    pub source: MachineSource,
    /// Fingerprints of the certificate that it shows in maintenance, one of which has to match; any is taken when
    /// there is none.
    pub fingerprints: Vec<Fingerprint>,
    /// The disk that Talos is installed to.
    pub disk: String,
    /// The failure domain.
    pub domain: Option<FailureDomain>,
    /// Patches for it alone.
    pub patches: Vec<PatchSource>,
    /// The line that describes it.
    pub origin: Location,
}

/// The source of a machine. An address is a fact about a machine and not its identity: one that a provider makes has
/// none before it is made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MachineSource {
    /// It is there, at this address.
    Address(Address),
    /// The provider makes it, of this class.
    Class(ClassName),
}

impl Machine {
    /// Returns the address that the spec gives it.
    pub fn address(&self) -> Option<Address> {
        match self.source {
            MachineSource::Address(address) => Some(address),
            MachineSource::Class(_) => None,
        }
    }

    /// Returns whether the spec gives it this address, however that is written.
    pub fn is_at(&self, address: &str) -> bool {
        address.parse().is_ok_and(|given: Address| self.address() == Some(given))
    }

    /// Returns the class that the provider makes it of.
    pub fn class(&self) -> Option<&ClassName> {
        match &self.source {
            MachineSource::Address(_) => None,
            MachineSource::Class(class) => Some(class),
        }
    }
}

/// A patch, and the line that names it.
#[derive(Clone, Debug)]
pub struct PatchSource {
    /// The patch.
    pub patch: PatchEntry,
    /// The place that names it.
    pub origin: Location,
}

/// A patch: a file below the cluster's directory, or its text itself.
#[derive(Clone)]
pub enum PatchEntry {
    /// The path of a file.
    File(String),
    /// A text of more than one line, or in brackets. It may hold secrets.
    Inline(Secret<String>),
}

/// The policy for changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Policy {
    /// The number of workers of one failure domain that are changed at the same time.
    pub workers_at_once: u32,
    /// The hours in which machines may be disturbed; always when there is none.
    pub windows: Vec<Window>,
    /// The time within which a machine answers as one of the cluster after its first configuration.
    pub install_within: Span,
    /// The time for which a component of a changed machine may be unhealthy before the step fails.
    pub heals_within: Span,
    /// The location of each of these times in its file.
    pub origins: TimeOrigins,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            workers_at_once: 1,
            windows: Vec::new(),
            install_within: INSTALL_WITHIN,
            heals_within: HEALS_WITHIN,
            origins: TimeOrigins::default(),
        }
    }
}

/// Locations of the times of a [`Policy`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TimeOrigins {
    /// Location of `installWithin`.
    pub install_within: Location,
    /// Location of `healsWithin`.
    pub heals_within: Location,
}

/// Servers test their memory for minutes, twice, and a worker waits for the first control plane.
const INSTALL_WITHIN: Span = Span::minutes(20);
/// The longest back-off of the kubelet: what fails for longer does not heal by itself.
const HEALS_WITHIN: Span = Span::minutes(5);

/// Locations of the releases of a [`ClusterSpec`], or of what they follow from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ReleaseOrigins {
    /// Location of `talos`.
    pub talos: Location,
    /// Location of `kubernetes`.
    pub kubernetes: Location,
}

/// The backups of etcd.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Backup {
    /// The interval.
    pub every: Span,
    /// The number of backups that are kept.
    pub keep: u32,
    /// The destination: a directory, or a URL of an object store.
    pub to: String,
    /// The location of its key.
    pub origin: Location,
}

impl ClusterSpec {
    /// Reads the native file.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, SpecError> {
        file::parse(text, source)
    }

    /// Refuses a cluster that cannot be meant.
    pub fn check(&self) -> Result<(), SpecError> {
        let problems = rules::broken(self);
        if problems.is_empty() { Ok(()) } else { Err(SpecError::Problems(problems)) }
    }

    /// Returns all machines with their place in the cluster, control planes first, in the order of the spec.
    pub fn machines(&self) -> impl Iterator<Item = (&Machine, Membership<'_>)> {
        let control_planes =
            self.control_plane.machines.iter().map(|machine| (machine, Membership::ControlPlane));
        let workers = self.pools.iter().flat_map(|pool| {
            pool.machines.iter().map(move |machine| (machine, Membership::Pool(pool)))
        });
        control_planes.chain(workers)
    }

    /// Returns a machine by its name.
    pub fn machine(&self, name: &MachineName) -> Option<(&Machine, Membership<'_>)> {
        self.machines().find(|(machine, _)| machine.name == *name)
    }

    /// Returns whether a machine is one of the control plane's.
    pub fn is_control_plane(&self, name: &MachineName) -> bool {
        self.control_plane.machines.iter().any(|machine| machine.name == *name)
    }

    /// Returns the installer's image.
    pub fn installer(&self) -> String {
        if let Some(image) = &self.image {
            return image.clone();
        }
        match self.schematic().filter(|_| !self.extensions.is_empty()) {
            Some(schematic) => schematic.installer("metal", &self.talos.to_string(), false),
            None => plain_installer(&self.talos),
        }
    }

    /// Returns the schematic that an image factory makes the installer of, where no image is named.
    pub fn schematic(&self) -> Option<Schematic> {
        let names: Vec<String> = self.extensions.iter().map(|name| format!("{name:?}")).collect();
        let text = if names.is_empty() {
            "customization: {}\n".to_owned()
        } else {
            let names = names.join(", ");
            format!("customization:\n  systemExtensions:\n    officialExtensions: [{names}]\n")
        };
        // A list of quoted texts is always a schematic.
        Schematic::parse(&text, SourceId::default()).ok().filter(|_| self.image.is_none())
    }

    /// Returns the paths of all files with patches, each once.
    pub fn patch_files(&self) -> Vec<&str> {
        let machines = self.machines().flat_map(|(machine, _)| &machine.patches);
        let pools = self.pools.iter().flat_map(|pool| &pool.patches);
        let all = self.patches.iter().chain(&self.control_plane.patches).chain(pools);
        let mut files: Vec<&str> = Vec::new();
        for patch in all.chain(machines) {
            if let PatchEntry::File(path) = &patch.patch
                && !files.contains(&path.as_str())
            {
                files.push(path);
            }
        }
        files
    }
}

/// The membership of a machine: in the control plane or in a pool.
#[derive(Clone, Copy, Debug)]
pub enum Membership<'a> {
    /// In the control plane.
    ControlPlane,
    /// In a pool of workers.
    Pool(&'a Pool),
}

impl Membership<'_> {
    /// Returns the role that configuration knows.
    pub fn role(self) -> Role {
        match self {
            Self::ControlPlane => Role::ControlPlane,
            Self::Pool(_) => Role::Worker,
        }
    }
}

impl TextFormat for PatchEntry {
    const WHAT: &'static str = "a patch";
    const RULE: &'static str =
        "a path within the directory, or the patch itself in several lines or in brackets";
    const PATTERN: &'static str = r"\S";
}

impl FromStr for PatchEntry {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        if text.contains('\n') || text.starts_with(['{', '[']) {
            return Ok(Self::Inline(Secret::new(text.to_owned())));
        }
        // A patch is a file of the cluster's directory: the directory is the whole cluster.
        let outside = text.starts_with('/') || text.split('/').any(|part| part == "..");
        if text.trim().is_empty() || outside {
            return Err(InvalidText::new::<Self>(text));
        }
        Ok(Self::File(text.to_owned()))
    }
}

/// Without the text of a patch, which may hold secrets.
impl fmt::Debug for PatchEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Inline(_) => f.write_str("Inline"),
        }
    }
}

impl TextFormat for Cni {
    const WHAT: &'static str = "a network plug-in";
    const RULE: &'static str = "flannel, none, or the URL of a manifest";
    const PATTERN: &'static str = "^(flannel|none|https?://.+)$";
}

impl FromStr for Cni {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        match text {
            "flannel" => Ok(Self::Flannel),
            "none" => Ok(Self::None),
            url if ["http://", "https://"]
                .iter()
                .any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty())) =>
            {
                Ok(Self::Manifest(url.to_owned()))
            }
            _ => Err(InvalidText::new::<Self>(text)),
        }
    }
}
