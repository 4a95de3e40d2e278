//! `ichor node apply-config` and `ichor node patch`: configuration for machines.
//!
//! All machines are looked at, and what they are to get is checked, before the first one gets anything. What is shown
//! of it is our own comparison: a machine's own words about configuration hold its secrets.

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

use super::etcd::{EtcdGuard, MemberEffect, with_overrides};
use super::follow::{Goal, Order};
use super::node_config::Live;
use super::power::send_reboot;
use super::{Deed, OnNode};
use crate::args::OutputFormat;
use crate::args::node::{
    ApplyConfigArgs, ApplyMode, ApplyOptionsArgs, NodeOverrideArgs, NodePatchArgs, RebootMode,
    WaitArgs,
};
use crate::commands::files::patch::{apply_all, read_patches};
use crate::commands::files::{diff as differences, validate};
use crate::nodes::Machines;
use crate::printer::Printer;
use crate::settings::{Input, Surroundings};
use crate::sops_files::Keys;
use crate::sources::SourceMap;
use crate::table::OfNode;
use crate::{Error, ExitStatus, audit};

/// Applies a file.
pub(super) async fn file(
    args: &ApplyConfigArgs,
    surroundings: &Surroundings,
    keys: &Keys,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::find(&args.connection, &args.maintenance, surroundings)?;
    let mut sources = SourceMap::with_keys(keys);
    let inputs: Vec<Input> = args.config_patch.iter().cloned().map(Input::patch).collect();
    let patches = read_patches(&inputs, &mut sources)?;
    let (text, source) = sources.read(&Input::file(&args.file))?;
    let text = Secret::new(text);
    let mut given = Vec::new();
    for node in machines.nodes() {
        let live = if args.maintenance.insecure {
            Live::in_maintenance(node).await?
        } else {
            Live::of(node).await?
        };
        given.push(Given::new(node, live, &text, source, &patches, &mut sources, printer)?);
    }
    let deed = deed("apply-config", &given, args.options, &args.overrides, surroundings);
    hand_over(given, deed, args.options, &args.overrides, args.maintenance.insecure, printer).await
}

/// Patches what machines have.
pub(super) async fn patch(
    args: &NodePatchArgs,
    surroundings: &Surroundings,
    keys: &Keys,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.connection, surroundings)?;
    let mut sources = SourceMap::with_keys(keys);
    let mut inputs: Vec<Input> = args.patches.iter().cloned().map(Input::patch).collect();
    inputs.extend(args.patch_file.as_ref().map(|path| Input::file(path)));
    let patches = read_patches(&inputs, &mut sources)?;
    let mut given = Vec::new();
    for node in machines.nodes() {
        let live = Live::of(node).await?;
        let Some(config) = &live.config else {
            let reason = CallError::NotFound("its configuration".to_owned());
            return Err(NodeError { node: node.name().to_owned(), reason }.into());
        };
        let text = config.text.clone();
        let source = sources.add(&format!("<configuration of {}>", node.name()));
        let one = Given::new(node, live, &text, source, &patches, &mut sources, printer)?;
        if one.changes.0.is_empty() && one.settled {
            printer.note(&format!("{}: nothing to change", node.name()));
        } else {
            given.push(one);
        }
    }
    if !args.options.dry_run && !given.is_empty() {
        show(&given, args.options.output.format, printer)?;
    }
    let deed = deed("patch", &given, args.options, &args.overrides, surroundings);
    hand_over(given, deed, args.options, &args.overrides, false, printer).await
}

/// What one machine is to get.
struct Given {
    node: Node,
    /// As it is sent.
    data: Secret<String>,
    config: Config,
    /// What it changes.
    changes: differences::Report,
    /// What is hidden where it is shown.
    confidential: Confidential,
    /// Whether applying it may reboot the machine.
    may_reboot: bool,
    /// Whether nothing is staged or tried.
    settled: bool,
}

impl Given {
    fn new(
        node: &Node,
        live: Live,
        text: &Secret<String>,
        source: SourceId,
        patches: &[(Patch, SourceId)],
        sources: &mut SourceMap,
        printer: &mut Printer,
    ) -> Result<Self, Error> {
        let dialect = live.dialect();
        let plain = Patched::new(text.expose().clone(), source);
        let patched = apply_all(plain, source, patches, dialect, sources)?;
        // Without patches this is the text as it was given, comments included.
        let data = patched.encode(dialect);
        let config = patched.into_config().map_err(|error| sources.locate(&error, source))?;
        let name = sources.name(source).to_owned();
        validate::in_any(&name, &config, &live.modes(), sources, printer)?;
        let before = match &live.config {
            Some(before) => {
                let source = sources.add(&format!("<configuration of {}>", node.name()));
                Config::parse(before.text.expose(), source)
                    .map_err(|error| sources.locate(&error, source))?
            }
            None => Config::new(Vec::new()).map_err(|error| sources.locate(&error, source))?,
        };
        let mut confidential = Confidential::default();
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
            may_reboot: live.may_reboot(),
            settled: live.config.is_none_or(|config| config.settled),
        })
    }
}

impl OnNode for Given {
    fn node(&self) -> &Node {
        &self.node
    }
}

/// What the audit log says about it: not what is given, but the digests of that.
fn deed<'a>(
    verb: &'a str,
    given: &[Given],
    how: ApplyOptionsArgs,
    overrides: &NodeOverrideArgs,
    surroundings: &'a Surroundings,
) -> Deed<'a> {
    let digest = |one: &Given| audit::digest(&Sha256::digest(one.data.expose().as_bytes()));
    let digests: BTreeSet<String> = given.iter().map(digest).collect();
    let digests: Vec<String> = digests.into_iter().collect();
    let detail = format!("{}, mode {}", digests.join(", "), how.mode.name());
    let detail = with_overrides(detail, overrides);
    Deed { verb, detail, sure: None, surroundings }
}

/// Shows, asks and applies.
async fn hand_over(
    given: Vec<Given>,
    deed: Deed<'_>,
    how: ApplyOptionsArgs,
    overrides: &NodeOverrideArgs,
    insecure: bool,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    if how.dry_run {
        return dry_run(&given, how, insecure, printer).await;
    }
    let (mut rebooting, mut asked) = (Vec::new(), Vec::new());
    for one in &given {
        let name = one.node.name().to_owned();
        let auto = how.mode == ApplyMode::Auto && one.may_reboot;
        if insecure || how.mode != ApplyMode::Reboot && !auto {
            continue;
        }
        // Asking the machine would end a trial, before anybody has said yes.
        if auto && !one.settled {
            asked.push(name);
        } else if how.mode == ApplyMode::Reboot || one.send(how, true).await?.reboots() {
            asked.push(name.clone());
            rebooting.push(name);
        }
    }
    if !asked.is_empty() {
        let certain = if rebooting == asked { "reboots" } else { "may reboot" };
        let action = format!("{}, which {certain} {}", deed.verb, asked.join(", "));
        printer.confirm(&action, how.confirm)?;
    }
    let guard = EtcdGuard::new(MemberEffect::Away, overrides, deed.surroundings);
    let act = async |one: &Given, printer: &mut Printer| {
        let is_among = |names: &[String]| names.iter().any(|name| name == one.node.name());
        let reboots = is_among(&rebooting);
        if is_among(&asked) {
            // What may reboot is not followed.
            guard.check(&one.node, reboots && how.wait, printer).await?;
        }
        one.apply(how, insecure, reboots, printer).await
    };
    deed.to_each(&given, printer, act).await
}

/// Says what would change, and lets the machines say whether they would take it.
async fn dry_run(
    given: &[Given],
    how: ApplyOptionsArgs,
    insecure: bool,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    show(given, how.output.format, printer)?;
    for one in given {
        let name = one.node.name();
        if !one.settled {
            // It would end a trial, which makes for good what was only tried.
            printer.note(&format!(
                "{name}: a configuration is staged or tried; the machine was not asked about this one"
            ));
            continue;
        }
        // Talos 1.14 refuses the mode that we never send to it.
        let mode = if how.mode == ApplyMode::Reboot { ApplyMode::Auto } else { how.mode };
        let answer = one.send(ApplyOptionsArgs { mode, ..how }, true).await?;
        answer.warn(name, printer);
        let reboots = !insecure && (how.mode == ApplyMode::Reboot || answer.reboots());
        let with = if reboots { "with a reboot" } else { "without a reboot" };
        if !one.changes.0.is_empty() {
            printer.note(&format!("{name}: would be applied {with}"));
        }
    }
    let pending = given.iter().any(|one| !one.changes.0.is_empty());
    Ok(if pending { ExitStatus::Pending } else { ExitStatus::Done })
}

impl Given {
    async fn apply(
        &self,
        how: ApplyOptionsArgs,
        insecure: bool,
        reboots: bool,
        printer: &mut Printer,
    ) -> Result<(), Error> {
        let name = self.node.name();
        let order = |action| Order {
            action,
            goal: Goal::Back,
            wait: WaitArgs { wait: how.wait, timeout: REBOOTED_WITHIN },
        };
        if insecure {
            self.send(how, false).await?.warn(name, printer);
            printer.note(&format!("{name}: took the configuration and leaves maintenance"));
            return Ok(());
        }
        // Since 1.14 a configuration and a reboot are two things.
        if how.mode == ApplyMode::Reboot && !self.may_reboot {
            let staged = ApplyOptionsArgs { mode: ApplyMode::Staged, ..how };
            self.send(staged, false).await?.warn(name, printer);
            let send = async |node: &Node| send_reboot(node, RebootMode::Default).await;
            return order("reboot").give(&self.node, printer, send).await;
        }
        if reboots {
            let mut warnings = None;
            let send = async |_: &Node| {
                warnings = Some(self.send(how, false).await?);
                // The machine does this in nobody's name.
                Ok(String::new())
            };
            let outcome = order("apply the configuration").give(&self.node, printer, send).await;
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
    async fn send(&self, how: ApplyOptionsArgs, dry_run: bool) -> Result<Answer, NodeError> {
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
        Ok(Answer(node.single_reply(reply.messages)?))
    }
}

/// What a machine said about a configuration. Its details are never shown: they hold secrets.
struct Answer(ApplyConfiguration);

impl Answer {
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
                "applied for {} s; it stays if it is applied in another mode until then",
                how.timeout.as_secs()
            ),
        }
    }
}

/// Takes the secrets of a configuration out of what a machine says about it: it repeats what it does not understand.
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

fn show(given: &[Given], output: OutputFormat, printer: &mut Printer) -> Result<(), Error> {
    let changes = Changes(given);
    let something = given.iter().any(|one| !one.changes.0.is_empty());
    if something || output != OutputFormat::Table {
        printer.value(&changes, output)?;
    }
    Ok(())
}

/// What changes on which machine.
struct Changes<'a>(&'a [Given]);

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
            one.changes.0.iter().map(move |what| OfNode { node: node.clone(), what })
        }))
    }
}

/// As long as talosctl waits for anything.
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
