//! `ichor node upgrade`: another image on machines, one after the other.

use std::time::Duration;

use talos_api::proto::machine::lifecycle_service_install_progress::Response;
use talos_api::proto::machine::upgrade_request;
use talos_api::proto::machine::{
    InstallArtifactsSource, LifecycleServiceUpgradeRequest, UpgradeRequest,
};
use talos_api::{Feature, Node};
use talos_config::TalosVersion;
use tokio::time::timeout;

use super::action::{HasNode, NodeAction};
use super::error::NodeActionError;
use super::etcd::guard::{EtcdGuard, MemberEffect, with_overrides};
use super::follow::{Completion, Operation};
use super::image;
use super::reboot::send_reboot;
use crate::args::inspect::ImageNamespace;
use crate::args::node::{RebootMode, UpgradeArgs};
use crate::directory::{self, OpenedDirectory};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &UpgradeArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let upgrades = match &args.image {
        Some(image) => {
            let all = nodes.as_slice().iter();
            all.map(|node| Upgrading { node: node.clone(), image: image.clone() }).collect()
        }
        None => by_directory(args, &nodes, environment, printer).await?,
    };
    if args.dry_run {
        for Upgrading { node, image } in &upgrades {
            printer.display(&format_args!("{}: would get {image}", node.name()))?;
        }
        return Ok(ExitStatus::Done);
    }
    // All are looked at before the first one is touched.
    for Upgrading { node, .. } in &upgrades {
        suits(args, node.name(), &node.release().await?)?;
    }
    let mut images: Vec<&str> = upgrades.iter().map(|upgrade| upgrade.image.as_str()).collect();
    images.sort_unstable();
    images.dedup();
    let detail = with_overrides(format!("to {}", images.join(", ")), &args.overrides);
    let node_action = NodeAction { verb: "upgrade", detail, sure: Some(args.confirm), environment };
    let away = EtcdGuard::new(MemberEffect::Away, &args.overrides, environment);
    let leaves = EtcdGuard::new(MemberEffect::Leaves, &args.overrides, environment);
    let act = async |upgrade: &Upgrading, printer: &mut Printer| {
        let node = &upgrade.node;
        let release = node.release().await?;
        let waited = if is_legacy(args, &release) {
            let guard = if keeps_data(args, &release) { &away } else { &leaves };
            guard.check(node, args.wait.wait, printer).await?;
            upgrade_legacy(args, upgrade, printer).await?;
            args.wait.wait
        } else {
            // An early refusal: the image takes minutes.
            if !args.no_reboot {
                away.check(node, true, printer).await?;
            }
            let limit = args.wait.timeout;
            let Ok(installed) = timeout(limit, install(upgrade, printer)).await else {
                let (node, action) = (node.name().to_owned(), "upgrade");
                return Err(Error::from(NodeActionError::NotDone { node, action, timeout: limit }));
            };
            installed?;
            if args.no_reboot {
                printer.note(&format!("{}: takes effect with the next reboot", node.name()));
                return Ok(());
            }
            away.check(node, args.wait.wait, printer).await?;
            let operation = Operation { action: "reboot", goal: Completion::Back, wait: args.wait };
            let send = async |node: &Node| send_reboot(node, args.reboot_mode).await;
            operation.send_and_wait(node, printer, send).await?;
            args.wait.wait
        };
        if waited { runs(upgrade).await } else { Ok(()) }
    };
    node_action.run_on_each(&upgrades, printer, act).await
}

/// A machine, and the image that it gets.
struct Upgrading {
    node: Node,
    image: String,
}

impl HasNode for Upgrading {
    fn node(&self) -> &Node {
        &self.node
    }
}

/// Returns every machine with the image from its cluster directory, and registers the schematics of the images.
async fn by_directory(
    args: &UpgradeArgs,
    nodes: &Nodes,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<Vec<Upgrading>, Error> {
    let directory = OpenedDirectory::open(&environment.location).await?;
    directory.tell_warnings(printer);
    let installers = directory.installers()?;
    let known = directory::known_machines(&environment.location)?;
    let upgrade = |node: &Node| {
        let machine = known.iter().find(|machine| machine.is(node.name()));
        let mut names = machine.into_iter().flat_map(|machine| &machine.names);
        let image = names.find_map(|name| installers.get(name)).ok_or_else(|| Error::Usage {
            message: format!("no image is known for {}", node.name()),
            hint: "pass --image IMAGE, or the cluster directory with -C".to_owned(),
        })?;
        Ok(Upgrading { node: node.clone(), image: image.clone() })
    };
    let upgrades = nodes.as_slice().iter().map(upgrade).collect::<Result<_, Error>>()?;
    if !args.dry_run {
        for warning in directory.register().await {
            printer.note(&warning.to_string());
        }
    }
    Ok(upgrades)
}

fn is_legacy(args: &UpgradeArgs, release: &TalosVersion) -> bool {
    args.legacy || !Feature::LifecycleService.is_in(release)
}

/// Returns whether the data of etcd stays: unasked since 1.8; before, the member leaves first.
fn keeps_data(args: &UpgradeArgs, release: &TalosVersion) -> bool {
    args.preserve || release.contract().since(8)
}

/// Refuses what the release has no words for, before anything is done.
fn suits(args: &UpgradeArgs, node: &str, release: &TalosVersion) -> Result<(), Error> {
    let refuse = |flag: &str, hint: &str| {
        Err(Error::Usage {
            message: format!("{node}: {flag} is not supported with Talos {release}"),
            hint: hint.to_owned(),
        })
    };
    if is_legacy(args, release) {
        if args.no_reboot {
            return refuse("--no-reboot", "Talos 1.13 and later install without a reboot");
        }
        if args.reboot_mode == RebootMode::Force {
            return refuse("--reboot-mode force", "a legacy upgrade stops everything itself");
        }
        return Ok(());
    }
    let flags = [(args.stage, "--stage"), (args.preserve, "--preserve"), (args.force, "--force")];
    match flags.into_iter().find(|(is_set, _)| *is_set) {
        Some((_, flag)) => refuse(
            flag,
            "data is always preserved and the image is installed immediately; --legacy uses the upgrade call before 1.13",
        ),
        None => Ok(()),
    }
}

/// Pulls the image and lets its installer run, as machines do it since 1.13. Nothing of that runs yet.
async fn install(upgrade: &Upgrading, printer: &mut Printer) -> Result<(), Error> {
    let Upgrading { node, image } = upgrade;
    image::pull(node, image, ImageNamespace::System, printer).await?;
    printer.note(&format!("{}: pulled the image", node.name()));
    let request = LifecycleServiceUpgradeRequest {
        containerd: Some(image::containerd(ImageNamespace::System)),
        // The name by which it was pulled: the machine looks it up by that.
        source: Some(InstallArtifactsSource { image_name: image.clone() }),
    };
    let patient = node.with_deadline(node.deadline().max(SILENT_WITHIN));
    let open = |node: Node| async move { node.lifecycle().upgrade(request).await };
    let mut stream = patient.open(open).await?;
    let mut line = String::new();
    let mut code = None;
    while let Some(message) = stream.next().await? {
        match message.progress.and_then(|progress| progress.response) {
            Some(Response::Message(text)) => {
                for piece in text.split_inclusive('\n') {
                    line.push_str(piece);
                    if line.ends_with('\n') || line.len() > LONGEST_LINE {
                        printer.note(&format!("{}: {}", node.name(), line.trim_end()));
                        line.clear();
                    }
                }
            }
            Some(Response::ExitCode(exit)) => code = Some(exit),
            None => {}
        }
    }
    if !line.is_empty() {
        printer.note(&format!("{}: {line}", node.name()));
    }
    let outcome = match code {
        Some(0) => return Ok(()),
        Some(code) => format!("ended with {code}{}", meaning(code)),
        None => "did not report its exit code".to_owned(),
    };
    Err(NodeActionError::Installer { node: node.name().to_owned(), outcome }.into())
}

/// Describes the exit codes of the installer.
fn meaning(code: i32) -> &'static str {
    match code {
        2 => " (invalid arguments)",
        3 => " (not supported)",
        4 => " (preflight check failed: is the upgrade path allowed?)",
        5 => " (a dependency failed)",
        6 => " (I/O error)",
        7 => " (installation failed)",
        _ => "",
    }
}

/// Leaves all of it to the machine.
async fn upgrade_legacy(
    args: &UpgradeArgs,
    upgrade: &Upgrading,
    printer: &mut Printer,
) -> Result<(), Error> {
    let mode = match args.reboot_mode {
        RebootMode::Powercycle => upgrade_request::RebootMode::Powercycle,
        RebootMode::Default | RebootMode::Force => upgrade_request::RebootMode::Default,
    };
    let request = UpgradeRequest {
        image: upgrade.image.clone(),
        preserve: args.preserve,
        stage: args.stage,
        force: args.force,
        reboot_mode: mode.into(),
    };
    let operation = Operation { action: "upgrade", goal: Completion::Back, wait: args.wait };
    let send = async |node: &Node| {
        // It answers only once it has pulled the image.
        let node = node.with_deadline(args.wait.timeout);
        let reply = node.call(node.machine().upgrade(request)).await?;
        Ok(node.single_reply(reply.messages)?.actor_id)
    };
    operation.send_and_wait(&upgrade.node, printer, send).await
}

/// Fails when the machine runs another release than the image has: a machine goes back to what it ran before when an
/// image does not come up, and is ready then, too.
async fn runs(Upgrading { node, image }: &Upgrading) -> Result<(), Error> {
    let Some(wanted) = release_of(image) else { return Ok(()) };
    let runs = node.release().await?;
    if runs.is_same_release(&wanted) {
        return Ok(());
    }
    let (wanted, runs) = (wanted.to_string(), runs.to_string());
    Err(NodeActionError::RolledBack { node: node.name().to_owned(), wanted, runs }.into())
}

/// The release that the tag of an image names, where it names one.
fn release_of(image: &str) -> Option<TalosVersion> {
    let plain = image.split('@').next().unwrap_or_default();
    let (_, tag) = plain.rsplit_once(':')?;
    tag.parse().ok()
}

/// Unpacking and writing an image is silent for long.
const SILENT_WITHIN: Duration = Duration::from_mins(10);
/// In bytes: an installer that never ends its line is shown all the same.
const LONGEST_LINE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_read_from_the_tag() {
        let release = |image| release_of(image).map(|release| release.to_string());
        assert_eq!(release("factory.talos.dev/metal-installer/ab:v1.14.1").unwrap(), "v1.14.1");
        assert_eq!(release("10.0.0.1:5000/installer:v1.13.0-rc.1").unwrap(), "v1.13.0-rc.1");
        assert_eq!(release("ghcr.io/x/installer:v1.13.2@sha256:00").unwrap(), "v1.13.2");
        for image in ["installer", "10.0.0.1:5000/installer", "a:latest", "a@sha256:00", "a:v1.13"]
        {
            assert_eq!(release(image), None, "{image}");
        }
    }
}
