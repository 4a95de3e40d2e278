//! `ichor node apply-config`: a configuration from a file, or the one that the cluster's directory has for the machine.
//!
//! Always holds: a machine in maintenance is called without credentials only with the key that was shown, or that is named.

use std::time::Duration;

use plan::MachineName;
use talos_api::proto::definitions::enums::RuntimeMachineStage as Stage;
use talos_api::proto::definitions::runtime::MachineStatusSpec;
use talos_api::{CallError, Client, Fingerprint, Node, NodeError};
use talos_config::{Coded, Config, Secret, SourceId, Value};

use crate::args::node::{ApplyConfigArgs, NodeOverrideArgs, NodeRule};
use crate::commands::files::patch::read_patches;
use crate::commands::node::error::NodeActionError;
use crate::commands::node::node_config::NodeConfig;
use crate::commands::node::prepared_config::{
    GivenConfig, PreparedConfig, apply_each, node_action,
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
    let (mut prepared, mut strangers) = (Vec::new(), Vec::new());
    for node in nodes.as_slice() {
        let (given, pinned) = origin.config(node.name(), &known, &mut sources)?;
        let (node, node_config) = if args.maintenance.insecure {
            (node.clone(), NodeConfig::in_maintenance(node).await?)
        } else {
            let (node, node_config, shown) = find(node, &pinned).await?;
            strangers.extend(shown.map(|shown| {
                let machine = label(node.name(), &known);
                format!("{machine} in maintenance, whose key has the fingerprint {shown}")
            }));
            (node, node_config)
        };
        let one = PreparedConfig::new(&node, node_config, &given, &patches, &mut sources, printer)?;
        check_machine(&one.config, node.name(), &known, &args.overrides, printer)?;
        prepared.push(one);
    }
    for stranger in &strangers {
        printer.note(stranger);
    }
    if !args.options.dry_run {
        if !strangers.is_empty() {
            let action = format!(
                "apply-config, without knowing the machine, to {}",
                strangers.join(" and ")
            );
            printer.confirm(&action, args.options.confirm.yes)?;
        }
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

    /// Returns the configuration for a machine, and the keys that it may have in maintenance.
    fn config(
        &self,
        name: &str,
        known: &[KnownMachine],
        sources: &mut SourceMap,
    ) -> Result<(GivenConfig, Vec<Fingerprint>), Error> {
        let directory = match self {
            Self::File { text, source } => {
                return Ok((GivenConfig::new(text.clone(), *source), Vec::new()));
            }
            Self::Directory(directory) => directory,
        };
        let names: Vec<&str> =
            known.iter().filter_map(|machine| machine.names.first()).map(String::as_str).collect();
        let machine = known.iter().find(|machine| machine.is(name));
        let machine =
            machine.and_then(|machine| machine.names.first()?.parse::<MachineName>().ok());
        let found = machine.as_ref().and_then(|name| directory.cluster.spec.machine(name));
        let Some((machine, _)) = found else {
            return Err(Error::Usage {
                message: format!("{name} is not a machine of the cluster's directory"),
                hint: format!("pass its configuration with -f, or one of {}", names.join(", ")),
            });
        };
        let mut renderer = directory.cluster.renderer();
        let config = renderer.config(&machine.name).map_err(engine::Error::from)?;
        let source = sources.add(&format!("<configuration of {}>", machine.name));
        let given = GivenConfig {
            text: renderer.text(&machine.name, &config),
            source,
            confidential: directory.cluster.layers.confidential(&machine.name),
        };
        let pinned = machine.fingerprints.iter();
        let pinned = pinned.filter_map(|fingerprint| Fingerprint::parse(fingerprint.as_str()));
        Ok((given, pinned.collect()))
    }
}

/// Looks at a machine with credentials and, where it does not take them, as one in maintenance. Returns the fingerprint of
/// a key that no one has named.
async fn find(
    node: &Node,
    pinned: &[Fingerprint],
) -> Result<(Node, NodeConfig, Option<Fingerprint>), Error> {
    let error = match NodeConfig::of(node).await {
        Ok(node_config) => return Ok((node.clone(), node_config, None)),
        Err(error) => error,
    };
    // An endpoint that cannot pass a call on says only that it did not reach the machine.
    let may_be_new = matches!(
        error.reason,
        CallError::Untrusted(_) | CallError::Unreachable(_) | CallError::TimedOut(_)
    );
    let stranger = if may_be_new { in_maintenance(node).await } else { None };
    let Some((stranger, fingerprint)) = stranger else { return Err(error.into()) };
    if !pinned.is_empty() && !pinned.contains(&fingerprint) {
        let reason = CallError::OtherFingerprint;
        return Err(NodeError { node: node.name().to_owned(), reason }.into());
    }
    let node_config = NodeConfig::in_maintenance(&stranger).await?;
    Ok((stranger, node_config, Some(fingerprint).filter(|_| pinned.is_empty())))
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
    name: &str,
    known: &[KnownMachine],
    overrides: &NodeOverrideArgs,
    printer: &mut Printer,
) -> Result<(), Error> {
    let Some(target) = known.iter().find(|machine| machine.is(name)) else { return Ok(()) };
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
    let failure = NodeActionError::OtherMachine { machine: label(name, known), why };
    if !overrides.rules.contains(&NodeRule::ConfigMachine) {
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
