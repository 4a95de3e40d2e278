//! `ichor.yaml`: its keys, and the spec that it is.

use domain::{
    Address, ClusterName, Day, Endpoint, FailureDomain, Fingerprint, Form, KubernetesVersion,
    MachineName, Malformed, NAMES_OF_DAYS, Network, PoolName, Span, TalosVersion, TimeOfDay,
    Window,
};
use talos_config::yaml::{self, Limits};
use talos_config::{Contract, Origin, Source};

use super::error::{Problem, Rule, SpecError};
use super::table::{self, Item, Key, Literal, Need, TextForm, Type, form, secret_form};
use super::{
    Backup, ClusterNetwork, ClusterSpec, Cni, ControlPlane, Machine, PatchEntry, PatchSource,
    Policy, Pool,
};

/// Reads the file, key by key. What holds between keys is checked by the caller.
pub(super) fn parse(text: &str, source: Source) -> Result<ClusterSpec, SpecError> {
    let documents = yaml::parse(text, source, Limits::default()).map_err(SpecError::Syntax)?;
    let [document] = documents.as_slice() else {
        let message = format!("one document is wanted, not {}", documents.len());
        let origin = documents.get(1).map(|second| second.origin).unwrap_or_default();
        return Err(format_problem(origin, message));
    };
    let item = table::read(&document.root, FILE).map_err(SpecError::Problems)?;
    spec(&item).ok_or_else(|| {
        format_problem(document.origin, "the file does not describe a cluster".to_owned())
    })
}

fn format_problem(origin: Origin, message: String) -> SpecError {
    let hint = Some("the file begins with `ichor: v1`".to_owned());
    SpecError::Problems(vec![Problem { rule: Rule::Format, origin, message, hint }])
}

/// Makes the spec of what the table has read. Every value is there and of its form by then.
fn spec(item: &Item) -> Option<ClusterSpec> {
    let network = item.get("network")?;
    let control_plane = item.get("controlPlane")?;
    let policy = item.get("policy")?;
    let talos: TalosVersion = item.parsed("talos")?;
    let control_plane = ControlPlane {
        machines: machines(control_plane)?,
        patches: patches(control_plane)?,
        schedulable: control_plane.boolean("schedulable"),
    };
    let endpoint = match item.get("endpoint") {
        Some(given) => given.text().parse().ok()?,
        // Without a control plane the spec is refused anyway, by a rule that says so.
        None => control_plane.machines.first().map_or_else(
            || Endpoint::of(Address(std::net::Ipv4Addr::UNSPECIFIED.into())),
            |first| Endpoint::of(first.address),
        ),
    };
    let kubernetes = match item.get("kubernetes") {
        Some(given) => given.text().parse().ok()?,
        None => talos.kubernetes().map_or(NEWEST_KUBERNETES, |row| row.default).parse().ok()?,
    };
    let contract = match item.parsed::<ContractForm>("contract") {
        Some(ContractForm(contract)) => contract,
        None => talos.contract(),
    };
    let given = |key: &str| item.get(key).map(|item| item.origin).filter(|origin| origin.line > 0);
    let releases = given("kubernetes").or_else(|| given("talos")).unwrap_or(item.origin);
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
        control_plane,
        pools: item.items("pools").iter().map(pool).collect::<Option<_>>()?,
        patches: patches(item)?,
        policy: Policy {
            workers_at_once: policy.count("workersAtOnce"),
            windows: policy.items("windows").iter().map(window).collect::<Option<_>>()?,
            install_within: policy.parsed("installWithin")?,
            origin: policy.get("installWithin")?.origin,
        },
        backup: match item.get("backup") {
            None => None,
            Some(backup) => Some(Backup {
                every: backup.parsed("every")?,
                keep: backup.count("keep"),
                to: backup.get("to")?.text().to_owned(),
            }),
        },
        releases,
    })
}

fn pool(item: &Item) -> Option<Pool> {
    Some(Pool {
        name: item.parsed("name")?,
        machines: machines(item)?,
        patches: patches(item)?,
        origin: item.origin,
    })
}

fn machines(item: &Item) -> Option<Vec<Machine>> {
    let machine = |item: &Item| {
        Some(Machine {
            name: item.parsed("name")?,
            address: item.parsed("address")?,
            fingerprints: parsed_list(item, "fingerprints")?,
            disk: item.get("disk")?.text().to_owned(),
            domain: item.parsed("domain"),
            patches: patches(item)?,
            origin: item.origin,
        })
    };
    item.items("machines").iter().map(machine).collect()
}

fn patches(item: &Item) -> Option<Vec<PatchSource>> {
    let patch =
        |item: &Item| Some(PatchSource { patch: item.text().parse().ok()?, origin: item.origin });
    item.items("patches").iter().map(patch).collect()
}

fn window(item: &Item) -> Option<Window> {
    let days = item.items("days").iter().map(|day| Day::parse(day.text()));
    Some(Window {
        days: days.collect::<Option<_>>()?,
        from: item.parsed("from")?,
        to: item.parsed("to")?,
    })
}

fn texts(item: &Item, key: &str) -> Vec<String> {
    item.items(key).iter().map(|item| item.text().to_owned()).collect()
}

fn parsed_list<T: Form>(item: &Item, key: &str) -> Option<Vec<T>> {
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
        ty: Type::Text(&const { form::<ClusterName>() }),
        need: Need::Required,
        about: "The name of the cluster",
    },
    Key {
        name: "endpoint",
        ty: Type::Text(&const { form::<Endpoint>() }),
        need: Need::Follows("the address of the first control plane, port 6443"),
        about: "Where the Kubernetes API is reached",
    },
    Key {
        name: "talos",
        ty: Type::Text(&const { form::<TalosVersion>() }),
        // The release that the tests with real nodes run.
        need: Need::Default(Literal::Text("v1.13.9")),
        about: "The release of Talos that the machines run",
    },
    Key {
        name: "kubernetes",
        ty: Type::Text(&const { form::<KubernetesVersion>() }),
        need: Need::Follows("the release that Talos comes with"),
        about: "The release of Kubernetes",
    },
    Key {
        name: "contract",
        ty: Type::Text(&const { form::<ContractForm>() }),
        need: Need::Follows("the minor release of Talos"),
        about: "The Talos release whose layout and defaults the configuration follows",
    },
    Key {
        name: "image",
        ty: Type::Text(&WORD),
        need: Need::Follows("the installer of the release, with the extensions"),
        about: "The installer's image",
    },
    Key {
        name: "extensions",
        ty: Type::List(&Type::Text(&WORD)),
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
        about: "How changes are carried out",
    },
    Key {
        name: "backup",
        ty: Type::Object(BACKUP),
        need: Need::Follows("no backups"),
        about: "How etcd is backed up",
    },
];

const NETWORK: &[Key] = &[
    Key {
        name: "pods",
        ty: Type::List(&Type::Text(&const { form::<Network>() })),
        need: Need::Default(Literal::Texts(&["10.244.0.0/16"])),
        about: "Addresses of pods",
    },
    Key {
        name: "services",
        ty: Type::List(&Type::Text(&const { form::<Network>() })),
        need: Need::Default(Literal::Texts(&["10.96.0.0/12"])),
        about: "Addresses of services",
    },
    Key {
        name: "domain",
        ty: Type::Text(&WORD),
        need: Need::Default(Literal::Text("cluster.local")),
        about: "The domain of the cluster",
    },
    Key {
        name: "cni",
        ty: Type::Text(&const { form::<Cni>() }),
        need: Need::Default(Literal::Text("flannel")),
        about: "What connects pods: flannel, none, or the URL of a manifest",
    },
];

const CONTROL_PLANE: &[Key] = &[
    Key {
        name: "machines",
        ty: Type::List(&Type::Object(MACHINE)),
        need: Need::Required,
        about: "The machines; the first one begins the cluster",
    },
    Key { name: "patches", ty: PATCHES, need: NO_PATCHES, about: "Patches for all control planes" },
    Key {
        name: "schedulable",
        ty: Type::Boolean,
        need: Need::Default(Literal::Boolean(false)),
        about: "Whether workloads may run on control planes",
    },
];

const POOL: &[Key] = &[
    Key {
        name: "name",
        ty: Type::Text(&const { form::<PoolName>() }),
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
        name: "patches",
        ty: PATCHES,
        need: NO_PATCHES,
        about: "Patches for all machines of the pool",
    },
];

const MACHINE: &[Key] = &[
    Key {
        name: "name",
        ty: Type::Text(&const { form::<MachineName>() }),
        need: Need::Required,
        about: "The name of the machine, which is also its host name",
    },
    Key {
        name: "address",
        ty: Type::Text(&const { form::<Address>() }),
        need: Need::Required,
        about: "Where the machine is reached",
    },
    Key {
        name: "fingerprints",
        ty: Type::List(&Type::Text(&const { form::<Fingerprint>() })),
        need: Need::Default(Literal::Texts(&[])),
        about: "Fingerprints of the certificate that the machine may show in maintenance; any will do when there is none",
    },
    Key {
        name: "disk",
        ty: Type::Text(&WORD),
        // As talosctl has it.
        need: Need::Default(Literal::Text("/dev/sda")),
        about: "The disk that Talos is installed to",
    },
    Key {
        name: "domain",
        ty: Type::Text(&const { form::<FailureDomain>() }),
        need: Need::Follows("none: it fails alone"),
        about: "What the machine fails together with: a rack, a room, a zone",
    },
    Key { name: "patches", ty: PATCHES, need: NO_PATCHES, about: "Patches for this machine" },
];

const POLICY: &[Key] = &[
    Key {
        name: "workersAtOnce",
        ty: Type::Integer { min: 1, max: 100 },
        need: Need::Default(Literal::Integer(1)),
        about: "How many workers of one failure domain are changed at the same time",
    },
    Key {
        name: "windows",
        ty: Type::List(&Type::Object(WINDOW)),
        need: Need::Default(Literal::Texts(&[])),
        about: "When machines may be disturbed; always when there is none",
    },
    Key {
        name: "installWithin",
        ty: Type::Text(&const { form::<Span>() }),
        need: Need::Default(Literal::Text("20m")),
        about: "How long a machine may take from its first configuration until it answers as one of the cluster",
    },
];

const WINDOW: &[Key] = &[
    Key {
        name: "days",
        ty: Type::List(&Type::Choice(NAMES_OF_DAYS)),
        need: Need::Default(Literal::Texts(&[])),
        about: "On which days it begins; every day when there is none",
    },
    Key {
        name: "from",
        ty: Type::Text(&const { form::<TimeOfDay>() }),
        need: Need::Required,
        about: "When it begins, in UTC",
    },
    Key {
        name: "to",
        ty: Type::Text(&const { form::<TimeOfDay>() }),
        need: Need::Required,
        about: "When it ends, in UTC; on the next day when that is not later",
    },
];

const BACKUP: &[Key] = &[
    Key {
        name: "every",
        ty: Type::Text(&const { form::<Span>() }),
        need: Need::Default(Literal::Text("6h")),
        about: "How often a backup is made",
    },
    Key {
        name: "keep",
        ty: Type::Integer { min: 1, max: 10_000 },
        need: Need::Default(Literal::Integer(28)),
        about: "How many backups are kept",
    },
    Key {
        name: "to",
        ty: Type::Text(&WORD),
        need: Need::Default(Literal::Text("backups")),
        about: "Where backups go: a directory, or a URL of an object store",
    },
];

const PATCHES: Type = Type::List(&Type::Text(&const { secret_form::<PatchEntry>() }));
const NO_PATCHES: Need = Need::Default(Literal::Texts(&[]));
const WORD: TextForm = form::<Word>();

/// What is taken for a release of Talos that is refused anyway.
const NEWEST_KUBERNETES: &str = "v1.37.0";

/// Any text without white space.
struct Word;

impl Form for Word {
    const WHAT: &'static str = "a word";
    const RULE: &'static str = "text without spaces";
    const PATTERN: &'static str = r"^\S+$";
}

impl std::str::FromStr for Word {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let fine =
            !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if fine { Ok(Self) } else { Err(Malformed::new::<Self>(text)) }
    }
}

/// A contract, as the file has it.
struct ContractForm(Contract);

impl Form for ContractForm {
    const WHAT: &'static str = "a contract";
    const RULE: &'static str = "a minor release of Talos, such as v1.13";
    const PATTERN: &'static str = r"^v?\d+\.\d+(\..*)?$";
}

impl std::str::FromStr for ContractForm {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        text.parse().map(Self).map_err(|_| Malformed::new::<Self>(text))
    }
}
