//! A configuration for a machine: validated, compared, confirmed and applied.
//!
//! All configurations are validated before the first one is sent. What is shown is our own comparison: the replies of
//! machines about configuration contain its secrets.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use talos_api::proto::machine::apply_configuration_request::Mode;
use talos_api::proto::machine::{ApplyConfiguration, ApplyConfigurationRequest};
use talos_api::{CallError, Node, NodeError};
use talos_config::yaml::Dialect;
use talos_config::{Confidential, Config, Patch, Patched, REDACTED, Secret, SourceId, diff_hiding};

use super::action::{HasNode, NodeAction};
use super::error::NodeActionError;
use super::etcd::guard::{EtcdGuard, MemberEffect, with_overrides};
use super::follow::{Completion, Operation};
use super::node_config::{NodeConfig, StoredConfig};
use super::reboot::send_reboot;
use crate::args::OutputFormat;
use crate::args::node::{ApplyMode, ApplyOptionsArgs, NodeOverrideArgs, RebootMode, WaitArgs};
use crate::commands::files::patch::apply_all;
use crate::commands::files::{diff as differences, validate};
use crate::nodes::label;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::sources::SourceMap;
use crate::table::NodeRow;
use crate::{Error, ExitStatus, audit, directory};

/// A configuration that is given for a machine, before patches.
pub(super) struct GivenConfig {
    pub(super) text: Secret<String>,
    pub(super) source: SourceId,
    /// Values to redact beside those of encrypted files.
    pub(super) confidential: Confidential,
    /// Whether it is a change to the configuration that the machine has.
    is_change: bool,
}

impl GivenConfig {
    pub(super) fn new(text: Secret<String>, source: SourceId) -> Self {
        Self { text, source, confidential: Confidential::default(), is_change: false }
    }

    /// The configuration of the machine, changed or still to be patched.
    pub(super) fn change(text: Secret<String>, source: SourceId) -> Self {
        Self { is_change: true, ..Self::new(text, source) }
    }
}

/// What is known of who answers.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Standing {
    /// It has a configuration, and takes our credentials.
    Configured,
    /// It is in maintenance.
    Maintenance,
    /// It is in maintenance, and no one has named the key that it shows: it is sent nothing unasked.
    Stranger,
}

/// A configuration for one machine, validated and compared.
pub(super) struct PreparedConfig {
    node: Node,
    /// The bytes to send.
    data: Secret<String>,
    pub(super) config: Config,
    /// Differences to the current configuration.
    pub(super) changes: differences::Report,
    /// Values to redact.
    confidential: Confidential,
    /// Whether applying it may reboot the machine.
    may_reboot: bool,
    /// Whether no configuration is staged or on trial.
    pub(super) settled: bool,
    pub(super) standing: Standing,
    /// What was changed, where it is a change.
    changes_from: Option<StoredConfig>,
}

impl PreparedConfig {
    pub(super) fn new(
        node: &Node,
        node_config: NodeConfig,
        given: &GivenConfig,
        patches: &[(Patch, SourceId)],
        sources: &mut SourceMap,
        printer: &mut Printer,
    ) -> Result<Self, Error> {
        let GivenConfig { text, source, confidential, is_change } = given;
        let (source, mut confidential) = (*source, confidential.clone());
        let dialect = node_config.dialect();
        let plain = Patched::new(text.expose().clone(), source);
        // The machine reads what comes of the patches, not the patches: these mean the same for all releases.
        let patched = apply_all(plain, source, patches, Dialect::default(), sources)?;
        // Without patches this is the text as it was given, comments included.
        let data = patched.encode(dialect);
        let config = patched.into_config().map_err(|error| sources.locate(&error, source))?;
        let name = sources.name(source).to_owned();
        validate::in_any(&name, &config, &node_config.modes(), sources, printer)?;
        let before = match &node_config.config {
            Some(before) => {
                let source = sources.add(&format!("<configuration of {}>", node.name()));
                Config::parse(before.text.expose(), source)
                    .map_err(|error| sources.locate(&error, source))?
            }
            None => Config::new(Vec::new()).map_err(|error| sources.locate(&error, source))?,
        };
        if let Some(values) = sources.encrypted(source) {
            confidential.extend(values);
            confidential.add_config(&config);
        }
        for (patch, source) in patches {
            if let Some(values) = sources.encrypted(*source) {
                confidential.extend(values);
                confidential.add_patch(patch);
            }
        }
        Ok(Self {
            node: node.clone(),
            data,
            changes: differences::Report::new(diff_hiding(&before, &config, &confidential)),
            confidential,
            config,
            may_reboot: node_config.may_reboot(),
            standing: if node_config.in_maintenance {
                Standing::Maintenance
            } else {
                Standing::Configured
            },
            settled: node_config.config.as_ref().is_none_or(|config| config.settled),
            changes_from: node_config.config.filter(|_| *is_change),
        })
    }

    /// Refuses a change to a configuration that the machine does not have any more: it would undo what others did since.
    pub(super) async fn check_unchanged(&self, environment: &UserEnvironment) -> Result<(), Error> {
        if self.changes_from.is_none()
            || NodeConfig::of(&self.node).await?.config == self.changes_from
        {
            return Ok(());
        }
        let known = directory::known_machines(&environment.location).unwrap_or_default();
        Err(NodeActionError::ConfigChanged(label(self.node.name(), &known)).into())
    }
}

impl HasNode for PreparedConfig {
    fn node(&self) -> &Node {
        &self.node
    }
}

/// Describes the action for the audit log, with digests instead of configurations.
pub(super) fn node_action<'a>(
    verb: &'a str,
    prepared: &[PreparedConfig],
    how: ApplyOptionsArgs,
    overrides: &NodeOverrideArgs,
    environment: &'a UserEnvironment,
) -> NodeAction<'a> {
    let digest =
        |one: &PreparedConfig| audit::digest(&Sha256::digest(one.data.expose().as_bytes()));
    let digests: BTreeSet<String> = prepared.iter().map(digest).collect();
    let digests: Vec<String> = digests.into_iter().collect();
    let detail = format!("{}, mode {}", digests.join(", "), how.mode.name());
    let detail = with_overrides(detail, overrides);
    NodeAction { verb, detail, sure: None, environment }
}

/// Shows, asks and applies.
pub(super) async fn apply_each(
    prepared: Vec<PreparedConfig>,
    mut node_action: NodeAction<'_>,
    how: ApplyOptionsArgs,
    overrides: &NodeOverrideArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    if how.dry_run {
        return dry_run(&prepared, how, printer).await;
    }
    let (mut rebooting, mut asked) = (Vec::new(), Vec::new());
    for one in &prepared {
        let name = one.node.name().to_owned();
        let auto = how.mode == ApplyMode::Auto && one.may_reboot;
        if one.standing != Standing::Configured || how.mode != ApplyMode::Reboot && !auto {
            continue;
        }
        // A dry run would end a trial before the confirmation.
        if auto && !one.settled {
            asked.push(name);
        } else if how.mode == ApplyMode::Reboot || one.send(how, true).await?.reboots() {
            asked.push(name.clone());
            rebooting.push(name);
        }
    }
    if !asked.is_empty() {
        let certain = if rebooting == asked { "reboots" } else { "may reboot" };
        let action = format!("{}, which {certain} {}", node_action.verb, asked.join(", "));
        printer.confirm(&action, how.confirm.yes)?;
        // Once is enough.
        node_action.sure = None;
    }
    let guard = EtcdGuard::new(MemberEffect::Away, overrides, node_action.environment);
    let environment = node_action.environment;
    let act = async |one: &PreparedConfig, printer: &mut Printer| {
        one.check_unchanged(environment).await?;
        let is_among = |names: &[String]| names.iter().any(|name| name == one.node.name());
        let reboots = is_among(&rebooting);
        if is_among(&asked) {
            // What may reboot is not followed.
            guard.check(&one.node, reboots && how.wait, printer).await?;
        }
        one.apply(how, reboots, printer).await
    };
    node_action.run_on_each(&prepared, printer, act).await
}

/// Shows what would change, and asks the machines whether they would accept it.
async fn dry_run(
    prepared: &[PreparedConfig],
    how: ApplyOptionsArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    show(prepared, how.output.format, printer)?;
    for one in prepared {
        let name = one.node.name();
        if one.standing == Standing::Stranger {
            printer.note(&format!(
                "{name}: in maintenance, with a key that no one has confirmed; the machine was not asked about this one"
            ));
            continue;
        }
        if !one.settled {
            // It would end a trial, which makes for good what was only tried.
            printer.note(&format!(
                "{name}: a configuration is staged or on trial; the machine was not asked about this one"
            ));
            continue;
        }
        // Talos 1.14 refuses the mode that we never send to it.
        let mode = if how.mode == ApplyMode::Reboot { ApplyMode::Auto } else { how.mode };
        let answer = one.send(ApplyOptionsArgs { mode, ..how }, true).await?;
        answer.warn(name, printer);
        let reboots = one.standing == Standing::Configured
            && (how.mode == ApplyMode::Reboot || answer.reboots());
        let with = if reboots { "with a reboot" } else { "without a reboot" };
        if !one.changes.0.is_empty() {
            printer.note(&format!("{name}: would be applied {with}"));
        }
    }
    let pending = prepared.iter().any(|one| !one.changes.0.is_empty());
    Ok(if pending { ExitStatus::Pending } else { ExitStatus::Done })
}

impl PreparedConfig {
    async fn apply(
        &self,
        how: ApplyOptionsArgs,
        reboots: bool,
        printer: &mut Printer,
    ) -> Result<(), Error> {
        let name = self.node.name();
        let operation = |action| Operation {
            action,
            goal: Completion::Back,
            wait: WaitArgs { wait: how.wait, timeout: REBOOTED_WITHIN },
        };
        if self.standing != Standing::Configured {
            self.send(how, false).await?.warn(name, printer);
            printer
                .note(&format!("{name}: accepted the configuration and leaves maintenance mode"));
            return Ok(());
        }
        // Since 1.14 a configuration and a reboot are two things.
        if how.mode == ApplyMode::Reboot && !self.may_reboot {
            let staged = ApplyOptionsArgs { mode: ApplyMode::Staged, ..how };
            self.send(staged, false).await?.warn(name, printer);
            let send = async |node: &Node| send_reboot(node, RebootMode::Default).await;
            return operation("reboot").send_and_wait(&self.node, printer, send).await;
        }
        if reboots {
            let mut warnings = None;
            let send = async |_: &Node| {
                warnings = Some(self.send(how, false).await?);
                // The events of this reboot have no actor.
                Ok(String::new())
            };
            let outcome =
                operation("apply the configuration").send_and_wait(&self.node, printer, send).await;
            if let Some(answer) = warnings {
                answer.warn(name, printer);
            }
            return outcome;
        }
        let answer = self.send(how, false).await?;
        answer.warn(name, printer);
        printer.note(&format!("{name}: {}", answer.text(how)));
        Ok(())
    }

    /// Sends it once.
    async fn send(&self, how: ApplyOptionsArgs, dry_run: bool) -> Result<ApplyReply, NodeError> {
        let mode = match how.mode {
            ApplyMode::Auto => Mode::Auto,
            ApplyMode::NoReboot => Mode::NoReboot,
            ApplyMode::Reboot if self.may_reboot => Mode::Reboot,
            ApplyMode::Reboot => Mode::Auto,
            ApplyMode::Staged => Mode::Staged,
            ApplyMode::Try => Mode::Try,
        };
        let timeout = (how.mode == ApplyMode::Try)
            .then(|| prost_types::Duration::try_from(how.timeout).unwrap_or_default());
        let request = ApplyConfigurationRequest {
            data: self.data.expose().clone().into_bytes(),
            mode: mode.into(),
            dry_run,
            try_mode_timeout: timeout,
        };
        let node = &self.node;
        let reply = node.call(node.machine().apply_configuration(request)).await;
        let reply = reply.map_err(|error| hide(error, &self.config, &self.confidential))?;
        Ok(ApplyReply(node.single_reply(reply.messages)?))
    }
}

/// Reply of a machine to a configuration. Its details are never shown: they hold secrets.
struct ApplyReply(ApplyConfiguration);

impl ApplyReply {
    fn reboots(&self) -> bool {
        self.0.mode() == Mode::Reboot
    }

    fn warn(&self, name: &str, printer: &mut Printer) {
        for warning in &self.0.warnings {
            printer.note(&format!("{name}: warning: {warning}"));
        }
    }

    fn text(&self, how: ApplyOptionsArgs) -> String {
        match self.0.mode() {
            Mode::Reboot => "applied; the machine reboots".to_owned(),
            Mode::Auto | Mode::NoReboot => "applied without a reboot".to_owned(),
            Mode::Staged => "staged: takes effect with the next reboot".to_owned(),
            Mode::Try => format!(
                "applied for {} s; to keep it, apply it in another mode until then",
                how.timeout.as_secs()
            ),
        }
    }
}

/// Redacts the secrets of a configuration in a machine's error: it quotes what it does not understand.
fn hide(error: NodeError, config: &Config, confidential: &Confidential) -> NodeError {
    let shown = config.covered(Dialect::V1_14, confidential);
    let whole = config.encode(Dialect::V1_14);
    let shown: BTreeSet<&str> = shown.lines().map(str::trim).collect();
    let secrets: Vec<&str> = whole
        .expose()
        .lines()
        .map(str::trim)
        .filter(|line| !shown.contains(line))
        .map(|line| line.split_once(": ").map_or(line, |(_, value)| value))
        .map(|value| value.trim_start_matches("- ").trim_matches(['"', '\'']))
        .filter(|value| value.len() >= SHORTEST_SECRET)
        .collect();
    let hidden = |message: String| {
        secrets.iter().fold(message, |message, secret| message.replace(secret, REDACTED))
    };
    let reason = match error.reason {
        CallError::Invalid(message) => CallError::Invalid(hidden(message)),
        CallError::Refused(message) => CallError::Refused(hidden(message)),
        CallError::Other { code, message } => CallError::Other { code, message: hidden(message) },
        other => other,
    };
    NodeError { reason, ..error }
}

pub(super) fn show(
    prepared: &[PreparedConfig],
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<(), Error> {
    let changes = Changes(prepared);
    let something = prepared.iter().any(|one| !one.changes.0.is_empty());
    if something || output != OutputFormat::Table {
        printer.value(&changes, output)?;
    }
    Ok(())
}

/// Changes of all machines.
struct Changes<'a>(&'a [PreparedConfig]);

/// A paragraph for each machine.
impl fmt::Display for Changes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed = self.0.iter().filter(|one| !one.changes.0.is_empty());
        for (number, one) in changed.enumerate() {
            let gap = if number > 0 { "\n" } else { "" };
            write!(f, "{gap}NODE {}\n{}", one.node.name(), one.changes)?;
        }
        Ok(())
    }
}

impl Serialize for Changes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().flat_map(|one| {
            let node = one.node.name().to_owned();
            one.changes.0.iter().map(move |what| NodeRow { node: node.clone(), what })
        }))
    }
}

/// The timeout of talosctl.
const REBOOTED_WITHIN: Duration = Duration::from_mins(30);
/// In bytes: what is shorter would be found in ordinary words.
const SHORTEST_SECRET: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_repeats_a_secret_is_not_repeated() {
        let text = "machine:\n  token: abcdef.0123456789abcdef\n  type: worker\n";
        let config = Config::parse(text, SourceId(1)).unwrap();
        let said = "unknown keys found during decoding:\nmachine:\n  token: abcdef.0123456789abcdef\n  type: worker";
        let error = NodeError { node: "a".to_owned(), reason: CallError::Invalid(said.to_owned()) };
        let told = hide(error, &config, &Confidential::default()).to_string();
        assert!(told.contains("type: worker") && !told.contains("0123456789"), "{told}");
    }
}
