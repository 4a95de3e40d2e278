//! `ichor node apply-config`: a configuration from a file, or the one that the cluster's directory has for the machine.
//!
//! Always holds: a machine in maintenance is sent nothing before a person has confirmed or named its key, and nothing without an
//! override where the journal has it as ours.

use std::time::Duration;

use plan::Machine;
use talos_api::proto::definitions::enums::RuntimeMachineStage as Stage;
use talos_api::proto::definitions::runtime::MachineStatusSpec;
use talos_api::{CallError, Client, Fingerprint, Node, NodeError};
use talos_config::{Coded, Config, Secret, SourceId, TalosVersion, Value};

use crate::args::node::{ApplyConfigArgs, NodeOverrideArgs, NodeRule};
use crate::commands::files::patch::read_patches;
use crate::commands::node::error::NodeActionError;
use crate::commands::node::node_config::NodeConfig;
use crate::commands::node::prepared_config::{
    GivenConfig, PreparedConfig, Standing, apply_each, node_action,
};
use crate::diagnostics::DIRECTORY_MISSING;
use crate::directory::{self, KnownMachine, OpenedDirectory};
use crate::nodes::{Nodes, label};
use crate::printer::Printer;
use crate::settings::{Input, UserEnvironment};
use crate::sops_files::SopsKeys;
use crate::sources::SourceMap;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &ApplyConfigArgs,
    environment: &UserEnvironment,
    keys: &SopsKeys,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::connect_or_maintenance(&args.connection, &args.maintenance, environment)?;
    let mut sources = SourceMap::with_keys(keys);
    let inputs: Vec<Input> = args.config_patch.iter().cloned().map(Input::patch).collect();
    let patches = read_patches(&inputs, &mut sources)?;
    let origin = match &args.file {
        Some(file) => {
            let (text, source) = sources.read(&Input::file(file))?;
            Origin::File { text: Secret::new(text), source }
        }
        None => Origin::directory(environment).await?,
    };
    // Of a directory that cannot be read nothing is known about the file's machine.
    let known = directory::known_machines(&environment.location).unwrap_or_default();
    let recorded = directory::recorded(&environment.location).await?;
    let (mut prepared, mut strangers) = (Vec::new(), Vec::new());
    for node in nodes.as_slice() {
        let target = known.iter().find(|machine| machine.is(node.name()));
        let wanted = origin.wanted(node.name(), &known)?;
        let pinned = target.map_or(&[][..], |target| &target.fingerprints);
        let Found { node, config, stranger } = find(node, pinned, args).await?;
        let label = label(node.name(), &known);
        if config.in_maintenance {
            let name = target.and_then(KnownMachine::machine_name);
            if let Some(name) = name.filter(|name| recorded.contains(name)) {
                let overridden = args.overrides.has_for(NodeRule::IdentityMaintenance, &name);
                let failure = NodeActionError::InMaintenanceAgain { machine: label.clone(), name };
                refuse(failure, overridden, printer)?;
            }
        }
        let (given, too_new) = wanted.config(config.release.as_ref(), &mut sources)?;
        let mut one = PreparedConfig::new(&node, config, &given, &patches, &mut sources, printer)?;
        if let Some(why) = too_new.filter(|_| !one.changes.0.is_empty()) {
            return Err(NodeActionError::TooNew { machine: label, why }.into());
        }
        if let Some(target) = target {
            check_machine(&one.config, target, &known, &args.overrides, printer)?;
        }
        if let Some(fingerprint) = stranger {
            printer.note(&format!(
                "{label} in maintenance, whose key has the fingerprint {fingerprint}"
            ));
            one.standing = Standing::Stranger;
            strangers.push((label, fingerprint));
        }
        prepared.push(one);
    }
    if !args.options.dry_run {
        confirm(strangers, args.options.confirm.yes, printer)?;
        if let Origin::Directory(directory) = &origin {
            for warning in directory.register().await {
                printer.note(&warning.to_string());
            }
        }
    }
    let node_action =
        node_action("apply-config", &prepared, args.options, &args.overrides, environment);
    apply_each(prepared, node_action, args.options, &args.overrides, printer).await
}

/// Asks whether the keys of machines are the right ones. That is not what `--yes` says: whoever has taken the address of a
/// machine would get the secrets of the cluster.
fn confirm(
    strangers: Vec<(String, Fingerprint)>,
    yes: bool,
    printer: &mut Printer,
) -> Result<(), Error> {
    let labels: Vec<&str> = strangers.iter().map(|(label, _)| label.as_str()).collect();
    let action = format!("apply-config, without knowing the machine, to {}", labels.join(" and "));
    let Some((machine, fingerprint)) = strangers.into_iter().next() else { return Ok(()) };
    match if yes { None } else { printer.ask(&action)? } {
        Some(true) => Ok(()),
        Some(false) => Err(Error::Declined(action)),
        None => Err(NodeActionError::Stranger { machine, fingerprint }.into()),
    }
}

/// The configurations to apply.
enum Origin {
    /// One for all machines.
    File { text: Secret<String>, source: SourceId },
    /// One for each machine.
    Directory(Box<OpenedDirectory>),
}

impl Origin {
    async fn directory(environment: &UserEnvironment) -> Result<Self, Error> {
        match OpenedDirectory::open(&environment.location).await {
            Err(error) if error.code() == DIRECTORY_MISSING => Err(Error::Usage {
                message: "no configuration given, and this is not a cluster directory".to_owned(),
                hint: "pass a configuration with -f, or change to the cluster's directory"
                    .to_owned(),
            }),
            opened => Ok(Self::Directory(Box::new(opened?))),
        }
    }

    /// Returns what a machine is to get.
    fn wanted(&self, name: &str, known: &[KnownMachine]) -> Result<Wanted<'_>, Error> {
        let directory = match self {
            Self::File { text, source } => return Ok(Wanted::File { text, source: *source }),
            Self::Directory(directory) => directory,
        };
        let Some(machine) = directory.machine(name) else {
            let names: Vec<&str> = known
                .iter()
                .filter_map(|machine| machine.names.first())
                .map(String::as_str)
                .collect();
            return Err(Error::Usage {
                message: format!("{name} is not a machine of the cluster's directory"),
                hint: format!("pass its configuration with -f, or one of {}", names.join(", ")),
            });
        };
        Ok(Wanted::Rendered { directory, machine })
    }
}

/// The configuration to apply to one machine.
enum Wanted<'a> {
    File { text: &'a Secret<String>, source: SourceId },
    Rendered { directory: &'a OpenedDirectory, machine: &'a Machine },
}

impl Wanted<'_> {
    /// Returns the configuration for the release that the machine runs, and the reason why it must not be given it before
    /// its upgrade.
    fn config(
        self,
        runs: Option<&TalosVersion>,
        sources: &mut SourceMap,
    ) -> Result<(GivenConfig, Option<String>), Error> {
        let (directory, name) = match self {
            Self::File { text, source } => {
                return Ok((GivenConfig::new(text.clone(), source), None));
            }
            Self::Rendered { directory, machine } => (directory, &machine.name),
        };
        let mut renderer = directory.cluster.renderer();
        let rendered = renderer.config_before_upgrade(name, runs).map_err(engine::Error::from)?;
        let (config, too_new) = rendered;
        let source = sources.add(&format!("<configuration of {name}>"));
        let mut given = GivenConfig::new(renderer.text(name, &config), source);
        given.confidential = directory.cluster.layers.confidential(name);
        Ok((given, too_new))
    }
}

/// A machine, as it was found.
struct Found {
    node: Node,
    config: NodeConfig,
    /// The fingerprint of the key that it shows in maintenance, if no one has named it.
    stranger: Option<Fingerprint>,
}

/// Looks at a machine with credentials and, where it does not take them, as one in maintenance.
async fn find(node: &Node, pinned: &[Fingerprint], args: &ApplyConfigArgs) -> Result<Found, Error> {
    if args.maintenance.insecure {
        let node = if args.maintenance.cert_fingerprint.is_empty() && !pinned.is_empty() {
            let client = Client::maintenance(node.name(), pinned.to_vec())?;
            client.direct(node.name(), node.deadline())
        } else {
            node.clone()
        };
        let config = NodeConfig::in_maintenance(&node).await?;
        return Ok(Found { node, config, stranger: None });
    }
    let error = match NodeConfig::of(node).await {
        Ok(config) => return Ok(Found { node: node.clone(), config, stranger: None }),
        Err(error) => error,
    };
    // An endpoint that cannot pass a call on says only that it did not reach the machine, which may be off. Who answers at its
    // address then is told by a key that is pinned, and by nothing else.
    let may_be_new = match error.reason {
        CallError::Untrusted(_) => true,
        CallError::Unreachable(_) | CallError::TimedOut(_) => !pinned.is_empty(),
        _ => false,
    };
    let stranger = if may_be_new { in_maintenance(node).await } else { None };
    let Some((stranger, fingerprint)) = stranger else { return Err(error.into()) };
    if !pinned.is_empty() && !pinned.contains(&fingerprint) {
        let reason = CallError::OtherFingerprint;
        return Err(NodeError { node: node.name().to_owned(), reason }.into());
    }
    let config = NodeConfig::in_maintenance(&stranger).await?;
    let fingerprint = Some(fingerprint).filter(|_| pinned.is_empty());
    Ok(Found { node: stranger, config, stranger: fingerprint })
}

/// Connects to a machine at its own address, with the key that it shows; `None` where it is not in maintenance.
async fn in_maintenance(node: &Node) -> Option<(Node, Fingerprint)> {
    let shown = Client::certificates_of(node.name());
    let shown = tokio::time::timeout(ANSWERS_WITHIN, shown).await.ok()?.ok()?;
    let fingerprint = Fingerprint::of_certificate(shown.first()?)?;
    let client = Client::maintenance(node.name(), vec![fingerprint.clone()]).ok()?;
    let stranger = client.direct(node.name(), node.deadline());
    let status = stranger.with_deadline(ANSWERS_WITHIN).get::<MachineStatusSpec>("machine").await;
    let stage = status.ok()??.stage();
    (stage == Stage::MachineStageMaintenance).then_some((stranger, fingerprint))
}

/// Refuses a configuration with the name of another machine of the directory, or for the other role, unless that rule is
/// overridden.
fn check_machine(
    config: &Config,
    target: &KnownMachine,
    known: &[KnownMachine],
    overrides: &NodeOverrideArgs,
    printer: &mut Printer,
) -> Result<(), Error> {
    let hostname = hostname(config).filter(|hostname| !target.is(hostname));
    let other = hostname.filter(|hostname| known.iter().any(|machine| machine.is(hostname)));
    let why = if let Some(other) = other {
        format!("its hostname is {other}")
    } else if config.is_worker() == target.is_control_plane {
        let role = if config.is_worker() { "a worker" } else { "a control plane" };
        format!("it makes the machine {role}")
    } else {
        return Ok(());
    };
    let machine = target.names.first().map_or_else(String::new, |name| label(name, known));
    let failure = NodeActionError::OtherMachine { machine, why };
    refuse(failure, overrides.has(NodeRule::ConfigMachine), printer)
}

/// Fails, unless the rule is overridden.
fn refuse(failure: NodeActionError, overridden: bool, printer: &mut Printer) -> Result<(), Error> {
    if !overridden {
        return Err(failure.into());
    }
    printer.note(&format!("overridden: {failure}"));
    Ok(())
}

fn hostname(config: &Config) -> Option<&str> {
    let body = |kind: &str| config.document(kind, "").map(|document| &document.body);
    let own = body("HostnameConfig").and_then(|body| body.get("hostname"));
    let network = body("v1alpha1")?.get("machine").and_then(|machine| machine.get("network"));
    own.or_else(|| network?.get("hostname")).and_then(Value::as_text)
}

/// A machine that is up answers at once.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
