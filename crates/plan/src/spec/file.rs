//! `ichor.yaml`: its keys, and the spec that it is.

use domain::{
    Address, ClassName, ClusterName, Day, Endpoint, FailureDomain, Fingerprint, InvalidText,
    KubernetesVersion, MachineName, NAMES_OF_DAYS, Network, PoolName, ProviderName, Span,
    TalosVersion, TextFormat, TimeOfDay, Window,
};
use talos_config::yaml::{self, Limits};
use talos_config::{Contract, DEFAULT, Diagnostic, Location, Release, SourceId};

use super::error::{SpecError, SpecRule as Rule};
use super::rules;
use super::table::{
    self, FormatCheck, Key, Literal, Need, Parsed, Type, format_of, secret_format_of,
};
use super::{
    Backup, ClusterNetwork, ClusterSpec, Cni, ControlPlane, Machine, MachineSource, PatchEntry,
    PatchSource, Policy, Pool, ReleaseOrigins, TimeOrigins,
};

/// Reads the file, key by key, and checks what holds in it as a whole.
pub(super) fn parse(text: &str, source: SourceId) -> Result<ClusterSpec, SpecError> {
    let documents = yaml::parse(text, source, Limits::default()).map_err(SpecError::Syntax)?;
    let [document] = documents.as_slice() else {
        let message = format!("one document is wanted, not {}", documents.len());
        let start = Location { source, line: 1, column: 1 };
        let origin = documents.get(1).map_or(start, |second| second.origin);
        return Err(SpecError::Problems(vec![format_problem(origin, message)]));
    };
    let (item, mut problems) = table::read(&document.root, FILE);
    if problems.is_empty() {
        problems = sources(&item);
    }
    // Where only a value here and there is wrong, the rest can be judged all the same.
    let spec = spec(&item);
    problems.extend(spec.iter().flat_map(rules::broken));
    match spec {
        Some(spec) if problems.is_empty() => Ok(spec),
        None if problems.is_empty() => {
            let message = "the file does not describe a cluster".to_owned();
            Err(SpecError::Problems(vec![format_problem(document.origin, message)]))
        }
        Some(_) | None => {
            problems.sort_by_key(|problem| problem.location);
            Err(SpecError::Problems(problems))
        }
    }
}

/// Problems with where machines come from that a spec cannot show: it has one source for each machine.
fn sources(item: &Parsed) -> Vec<Diagnostic<Location>> {
    let mut problems = Vec::new();
    let mut note = |origin: Location, message: String, hint: &str| {
        problems.push(Rule::MachineSource.problem(origin, message).with_hint(hint));
    };
    for group in item.get("controlPlane").into_iter().chain(item.items("pools")) {
        for machine in group.items("machines") {
            if let (Some(_), Some(class)) = (machine.get("address"), machine.get("class")) {
                let message = format!(
                    "{} has an address and a class",
                    machine.get("name").map_or("the machine", Parsed::text)
                );
                let hint = "give it an address if it is there, or a class if a provider makes it";
                note(class.origin, message, hint);
            }
        }
        let last =
            format!("{}-{}", group.get("name").map_or("", Parsed::text), group.count("replicas"));
        if let Some(name) = group.get("name").filter(|_| group.count("replicas") > 0)
            && last.parse::<MachineName>().is_err()
        {
            let message = format!("{last} would be the name of a machine, and is too long");
            note(name.origin, message, "give the pool a shorter name");
        }
        match (group.get("replicas"), group.get("class")) {
            (Some(replicas), None) => {
                let message = "there are replicas, and no class that they are made of".to_owned();
                note(replicas.origin, message, "set class beside replicas");
            }
            (None, Some(class)) => {
                let message = "there is a class, and no number of replicas of it".to_owned();
                note(class.origin, message, "set replicas beside class");
            }
            _ => {}
        }
    }
    let groups = item.get("controlPlane").into_iter().chain(item.items("pools"));
    let replicas: u64 = groups.map(|group| u64::from(group.count("replicas"))).sum();
    if replicas > MOST_REPLICAS {
        let message = format!("there are {replicas} replicas, and at most {MOST_REPLICAS} may be");
        note(item.origin, message, "make several clusters of them");
    }
    let first = item.get("controlPlane").and_then(|group| group.items("machines").first());
    let provided = item.get("controlPlane").is_some_and(|group| group.count("replicas") > 0);
    if item.get("endpoint").is_none()
        && first.map_or(provided, |first| first.get("address").is_none())
    {
        let message =
            "the first control plane has no address yet, so endpoint is needed".to_owned();
        let hint = "set endpoint to a name or address that will lead to the control planes";
        note(item.origin, message, hint);
    }
    problems
}

fn format_problem(origin: Location, message: String) -> Diagnostic<Location> {
    Rule::Format.problem(origin, message).with_hint("begin the file with `ichor: v1`")
}

/// Makes the spec of what the table has read. Every value is there and of its form by then.
fn spec(item: &Parsed) -> Option<ClusterSpec> {
    let network = item.get("network")?;
    let control_plane = item.get("controlPlane")?;
    let policy = item.get("policy")?;
    let talos: TalosVersion = item.parsed("talos")?;
    let control_plane = ControlPlane {
        machines: machines(control_plane, CONTROL_PLANE_PREFIX)?,
        patches: patches(control_plane)?,
        schedulable: control_plane.boolean("schedulable"),
    };
    let endpoint = match item.get("endpoint") {
        Some(given) => given.text().parse().ok()?,
        // A placeholder where the first control plane is missing or has no address: such a spec is refused by `sources` or by
        // the rules.
        None => {
            let first = control_plane.machines.first().and_then(Machine::address);
            Endpoint::of(first.unwrap_or(Address(std::net::Ipv4Addr::UNSPECIFIED.into())))
        }
    };
    let kubernetes = match item.get("kubernetes") {
        Some(given) => given.text().parse().ok()?,
        None => Release::patch_for(talos.contract()).kubernetes.parse().ok()?,
    };
    let contract = match item.parsed::<ContractText>("contract") {
        Some(ContractText(contract)) => contract,
        None => talos.contract(),
    };
    let given = |key: &str| item.get(key).map(|item| item.origin).filter(|origin| origin.line > 0);
    let releases = ReleaseOrigins {
        talos: given("talos").unwrap_or(item.origin),
        kubernetes: given("kubernetes").or_else(|| given("talos")).unwrap_or(item.origin),
    };
    Some(ClusterSpec {
        cluster: item.parsed("cluster")?,
        endpoint,
        talos,
        kubernetes,
        contract,
        image: item.get("image").map(|image| image.text().to_owned()),
        extensions: texts(item, "extensions"),
        network: ClusterNetwork {
            pods: parsed_list(network, "pods")?,
            services: parsed_list(network, "services")?,
            domain: network.get("domain")?.text().to_owned(),
            cni: network.parsed("cni")?,
            origin: network.origin,
        },
        provider: item.parsed("provider"),
        control_plane,
        pools: item.items("pools").iter().map(pool).collect::<Option<_>>()?,
        patches: patches(item)?,
        policy: Policy {
            workers_at_once: policy.count("workersAtOnce"),
            windows: policy.items("windows").iter().map(window).collect::<Option<_>>()?,
            install_within: policy.parsed("installWithin")?,
            heals_within: policy.parsed("healsWithin")?,
            origins: TimeOrigins {
                install_within: policy.get("installWithin")?.origin,
                heals_within: policy.get("healsWithin")?.origin,
            },
        },
        backup: match item.get("backup") {
            None => None,
            Some(backup) => Some(Backup {
                every: backup.parsed("every")?,
                keep: backup.count("keep"),
                to: backup.get("to")?.text().to_owned(),
                origin: backup.origin,
            }),
        },
        releases,
    })
}

fn pool(item: &Parsed) -> Option<Pool> {
    Some(Pool {
        name: item.parsed("name")?,
        machines: machines(item, item.get("name")?.text())?,
        patches: patches(item)?,
        origin: item.origin,
    })
}

/// Returns the machines of a control plane or a pool: those that are listed, then its replicas, named after it and
/// counted.
fn machines(item: &Parsed, prefix: &str) -> Option<Vec<Machine>> {
    let machine = |item: &Parsed| {
        Some(Machine {
            name: item.parsed("name")?,
            source: match item.parsed("class") {
                Some(class) => MachineSource::Class(class),
                None => MachineSource::Address(item.parsed("address")?),
            },
            fingerprints: parsed_list(item, "fingerprints")?,
            disk: item.get("disk")?.text().to_owned(),
            domain: item.parsed("domain"),
            patches: patches(item)?,
            origin: item.origin,
        })
    };
    let replica = |number: u32| {
        Some(Machine {
            name: format!("{prefix}-{number}").parse().ok()?,
            source: MachineSource::Class(item.parsed("class")?),
            fingerprints: Vec::new(),
            disk: DEFAULT_DISK.to_owned(),
            domain: None,
            patches: Vec::new(),
            origin: item.get("replicas")?.origin,
        })
    };
    let listed = item.items("machines").iter().map(machine);
    listed.chain((1..=item.count("replicas")).map(replica)).collect()
}

fn patches(item: &Parsed) -> Option<Vec<PatchSource>> {
    let patch =
        |item: &Parsed| Some(PatchSource { patch: item.text().parse().ok()?, origin: item.origin });
    item.items("patches").iter().map(patch).collect()
}

fn window(item: &Parsed) -> Option<Window> {
    let days = item.items("days").iter().map(|day| Day::parse(day.text()));
    Some(Window {
        days: days.collect::<Option<_>>()?,
        from: item.parsed("from")?,
        to: item.parsed("to")?,
    })
}

fn texts(item: &Parsed, key: &str) -> Vec<String> {
    item.items(key).iter().map(|item| item.text().to_owned()).collect()
}

fn parsed_list<T: TextFormat>(item: &Parsed, key: &str) -> Option<Vec<T>> {
    item.items(key).iter().map(|item| item.text().parse().ok()).collect()
}

/// The keys of the file.
pub(super) const FILE: &[Key] = &[
    Key {
        name: "ichor",
        ty: Type::Choice(&["v1"]),
        need: Need::Required,
        about: "The version of this format",
    },
    Key {
        name: "cluster",
        ty: Type::Text(&const { format_of::<ClusterName>() }),
        need: Need::Required,
        about: "The name of the cluster",
    },
    Key {
        name: "endpoint",
        ty: Type::Text(&const { format_of::<Endpoint>() }),
        need: Need::Derived("the address of the first control plane, port 6443"),
        about: "The address of the Kubernetes API",
    },
    Key {
        name: "talos",
        ty: Type::Text(&const { format_of::<TalosVersion>() }),
        need: Need::Default(Literal::Text(DEFAULT.talos)),
        about: "The release of Talos that the machines run",
    },
    Key {
        name: "kubernetes",
        ty: Type::Text(&const { format_of::<KubernetesVersion>() }),
        need: Need::Derived("the release that Talos comes with"),
        about: "The release of Kubernetes",
    },
    Key {
        name: "contract",
        ty: Type::Text(&const { format_of::<ContractText>() }),
        need: Need::Derived("the minor release of Talos"),
        about: "The Talos release whose layout and defaults the configuration follows",
    },
    Key {
        name: "image",
        ty: Type::Text(&NON_BLANK),
        need: Need::Derived("the installer of the release, with the extensions"),
        about: "The installer's image",
    },
    Key {
        name: "extensions",
        ty: Type::List(&Type::Text(&NON_BLANK)),
        need: Need::Default(Literal::Texts(&[])),
        about: "Extensions of the operating system, such as siderolabs/iscsi-tools",
    },
    Key {
        name: "network",
        ty: Type::Object(NETWORK),
        need: Need::Default(Literal::Object),
        about: "Networks inside the cluster",
    },
    Key {
        name: "provider",
        ty: Type::Text(&const { format_of::<ProviderName>() }),
        need: Need::Derived("none: every machine has an address"),
        about: "The provider that makes machines of a class",
    },
    Key {
        name: "controlPlane",
        ty: Type::Object(CONTROL_PLANE),
        need: Need::Required,
        about: "The machines that run etcd and Kubernetes itself",
    },
    Key {
        name: "pools",
        ty: Type::List(&Type::Object(POOL)),
        need: Need::Default(Literal::Texts(&[])),
        about: "Workers, in groups that are alike",
    },
    Key { name: "patches", ty: PATCHES, need: NO_PATCHES, about: "Patches for all machines" },
    Key {
        name: "policy",
        ty: Type::Object(POLICY),
        need: Need::Default(Literal::Object),
        about: "The policy for changes",
    },
    Key {
        name: "backup",
        ty: Type::Object(BACKUP),
        need: Need::Derived("no backups"),
        about: "Backups of etcd",
    },
];

const NETWORK: &[Key] = &[
    Key {
        name: "pods",
        ty: Type::List(&Type::Text(&const { format_of::<Network>() })),
        need: Need::Default(Literal::Texts(&["10.244.0.0/16"])),
        about: "Addresses of pods",
    },
    Key {
        name: "services",
        ty: Type::List(&Type::Text(&const { format_of::<Network>() })),
        need: Need::Default(Literal::Texts(&["10.96.0.0/12"])),
        about: "Addresses of services",
    },
    Key {
        name: "domain",
        ty: Type::Text(&NON_BLANK),
        need: Need::Default(Literal::Text("cluster.local")),
        about: "The domain of the cluster",
    },
    Key {
        name: "cni",
        ty: Type::Text(&const { format_of::<Cni>() }),
        need: Need::Default(Literal::Text("flannel")),
        about: "The network plug-in: flannel, none, or the URL of a manifest",
    },
];

const CONTROL_PLANE: &[Key] = &[
    Key {
        name: "machines",
        ty: Type::List(&Type::Object(MACHINE)),
        need: Need::RequiredWithout("replicas"),
        about: "The machines; the first one bootstraps etcd",
    },
    Key {
        name: "replicas",
        ty: Type::Integer { min: 1, max: 7 },
        need: Need::Derived("none but the listed machines"),
        about: "The number of machines that the provider makes, named cp-1, cp-2, ...",
    },
    CLASS,
    Key { name: "patches", ty: PATCHES, need: NO_PATCHES, about: "Patches for all control planes" },
    Key {
        name: "schedulable",
        ty: Type::Boolean,
        need: Need::Default(Literal::Boolean(false)),
        about: "Allows workloads on control planes",
    },
];

const POOL: &[Key] = &[
    Key {
        name: "name",
        ty: Type::Text(&const { format_of::<PoolName>() }),
        need: Need::Required,
        about: "The name of the pool",
    },
    Key {
        name: "machines",
        ty: Type::List(&Type::Object(MACHINE)),
        need: Need::Default(Literal::Texts(&[])),
        about: "The machines",
    },
    Key {
        name: "replicas",
        ty: Type::Integer { min: 0, max: 10_000 },
        need: Need::Derived("none but the listed machines"),
        about: "The number of machines that the provider makes, named after the pool: NAME-1, NAME-2, ...",
    },
    CLASS,
    Key {
        name: "patches",
        ty: PATCHES,
        need: NO_PATCHES,
        about: "Patches for all machines of the pool",
    },
];

const MACHINE: &[Key] = &[
    Key {
        name: "name",
        ty: Type::Text(&const { format_of::<MachineName>() }),
        need: Need::Required,
        about: "The name of the machine, which is also its host name",
    },
    Key {
        name: "address",
        ty: Type::Text(&const { format_of::<Address>() }),
        need: Need::RequiredWithout("class"),
        about: "The address of the machine",
    },
    CLASS,
    Key {
        name: "fingerprints",
        ty: Type::List(&Type::Text(&const { format_of::<Fingerprint>() })),
        need: Need::Default(Literal::Texts(&[])),
        about: "Fingerprints of the certificate that the machine may show in maintenance; any will do when there is none",
    },
    Key {
        name: "disk",
        ty: Type::Text(&NON_BLANK),
        need: Need::Default(Literal::Text(DEFAULT_DISK)),
        about: "The disk that Talos is installed to",
    },
    Key {
        name: "domain",
        ty: Type::Text(&const { format_of::<FailureDomain>() }),
        need: Need::Derived("none: it fails alone"),
        about: "The failure domain of the machine: a rack, a room, a zone",
    },
    Key { name: "patches", ty: PATCHES, need: NO_PATCHES, about: "Patches for this machine" },
];

const POLICY: &[Key] = &[
    Key {
        name: "workersAtOnce",
        ty: Type::Integer { min: 1, max: 100 },
        need: Need::Default(Literal::Integer(1)),
        about: "The number of workers of one failure domain that are changed at the same time",
    },
    Key {
        name: "windows",
        ty: Type::List(&Type::Object(WINDOW)),
        need: Need::Default(Literal::Texts(&[])),
        about: "The hours in which machines may be disturbed; always when there is none",
    },
    Key {
        name: "installWithin",
        ty: Type::Text(&const { format_of::<Span>() }),
        need: Need::Default(Literal::Text("20m")),
        about: "The time from the first configuration of a machine until it has to answer as one of the cluster",
    },
    Key {
        name: "healsWithin",
        ty: Type::Text(&const { format_of::<Span>() }),
        need: Need::Default(Literal::Text("5m")),
        about: "The time for which a component of a changed machine may be unhealthy before the change has failed",
    },
];

const WINDOW: &[Key] = &[
    Key {
        name: "days",
        ty: Type::List(&Type::Choice(NAMES_OF_DAYS)),
        need: Need::Default(Literal::Texts(&[])),
        about: "The days on which it begins; every day when there is none",
    },
    Key {
        name: "from",
        ty: Type::Text(&const { format_of::<TimeOfDay>() }),
        need: Need::Required,
        about: "The beginning, in UTC",
    },
    Key {
        name: "to",
        ty: Type::Text(&const { format_of::<TimeOfDay>() }),
        need: Need::Required,
        about: "The end, in UTC; on the next day when that is not later than the beginning",
    },
];

const BACKUP: &[Key] = &[
    Key {
        name: "every",
        ty: Type::Text(&const { format_of::<Span>() }),
        need: Need::Default(Literal::Text("6h")),
        about: "The interval between backups",
    },
    Key {
        name: "keep",
        ty: Type::Integer { min: 1, max: 10_000 },
        need: Need::Default(Literal::Integer(28)),
        about: "The number of backups that are kept",
    },
    Key {
        name: "to",
        ty: Type::Text(&NON_BLANK),
        need: Need::Default(Literal::Text("backups")),
        about: "The destination of backups: a directory, or a URL of an object store",
    },
];

const CLASS: Key = Key {
    name: "class",
    ty: Type::Text(&const { format_of::<ClassName>() }),
    need: Need::Derived("none: the machine has an address"),
    about: "The class of machines that the provider makes",
};

/// Twice as many nodes as Kubernetes supports in one cluster; a file of a few lines may not fill the memory.
const MOST_REPLICAS: u64 = 10_000;

/// As talosctl has it.
pub(crate) const DEFAULT_DISK: &str = "/dev/sda";

/// Replicas of the control plane are named as people name control planes.
const CONTROL_PLANE_PREFIX: &str = "cp";

const PATCHES: Type = Type::List(&Type::Text(&const { secret_format_of::<PatchEntry>() }));
const NO_PATCHES: Need = Need::Default(Literal::Texts(&[]));
const NON_BLANK: FormatCheck = format_of::<NonBlank>();

/// Any text without white space.
struct NonBlank;

impl TextFormat for NonBlank {
    const WHAT: &'static str = "a word";
    const RULE: &'static str = "text without spaces";
    const PATTERN: &'static str = r"^\S+$";
}

impl std::str::FromStr for NonBlank {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let fine =
            !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if fine { Ok(Self) } else { Err(InvalidText::new::<Self>(text)) }
    }
}

/// A contract, as the file has it.
struct ContractText(Contract);

impl TextFormat for ContractText {
    const WHAT: &'static str = "a contract";
    const RULE: &'static str = "a minor release of Talos, such as v1.13";
    const PATTERN: &'static str = r"^v?\d+\.\d+(\..*)?$";
}

impl std::str::FromStr for ContractText {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        text.parse().map(Self).map_err(|_| InvalidText::new::<Self>(text))
    }
}
