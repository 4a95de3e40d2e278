//! `ichor node edit`: the configuration of a machine in an editor, with the checks of `ichor node patch`.
//!
//! Always holds: the file that is edited is its owner's alone, and is gone afterwards unless what was written could not be
//! applied; nothing is sent that was not shown, or that was not made from what the machine has.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use engine::atomic_file::Access;
use talos_api::{CallError, Node, NodeError};
use talos_config::Secret;
use tempfile::TempDir;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::node::NodeEditArgs;
use crate::commands::node::node_config::NodeConfig;
use crate::commands::node::prepared_config::{
    GivenConfig, PreparedConfig, apply_each, node_action, show,
};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, files};

pub(super) async fn run(
    args: &NodeEditArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let node = nodes.single("an edit")?;
    let name = node.name();
    let node_config = NodeConfig::of(node).await?;
    let Some(before) = node_config.config.as_ref().map(|config| config.text.clone()) else {
        let reason = CallError::NotFound("its configuration".to_owned());
        return Err(NodeError { node: name.to_owned(), reason }.into());
    };
    let mut draft = before.clone();
    let outcome = apply(args, node, &node_config, &mut draft, environment, printer).await;
    let is_lost = match &outcome {
        Ok(ExitStatus::Done | ExitStatus::Pending) | Err(Error::Declined(_)) => false,
        Ok(_) | Err(_) => draft != before,
    };
    if is_lost {
        let folder = private_folder(environment)?.keep();
        let path = folder.join(FILE);
        files::update(&path, draft.expose(), Access::Private)?;
        printer.note(&format!(
            "{name}: your draft, which holds secrets, is kept in {}",
            path.display()
        ));
    }
    outcome
}

/// Has a draft edited until it is valid, and applies it.
async fn apply(
    args: &NodeEditArgs,
    node: &Node,
    node_config: &NodeConfig,
    draft: &mut Secret<String>,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let name = node.name();
    let before = draft.clone();
    // A terminal that goes away must not end this before the file is gone.
    let mut hangup = signal(SignalKind::hangup())?;
    let prepared = loop {
        *draft = edit(draft, name, environment, &mut hangup).await?;
        if draft.expose().trim().is_empty() || *draft == before {
            printer.note(&format!("{name}: nothing to change"));
            return Ok(ExitStatus::Done);
        }
        let mut sources = SourceMap::default();
        let source = sources.add(&format!("<edited configuration of {name}>"));
        let given = GivenConfig::change(draft.clone(), source);
        let node_config = node_config.clone();
        match PreparedConfig::new(node, node_config, &given, &[], &mut sources, printer) {
            Ok(prepared) => break prepared,
            Err(error) => {
                if !std::io::IsTerminal::is_terminal(&std::io::stdin()) {
                    return Err(error);
                }
                printer.error(&error);
                if printer.ask("edit it again")? != Some(true) {
                    return Err(Error::Declined(format!("edit {name}")));
                }
            }
        }
    };
    if prepared.changes.0.is_empty() && prepared.settled {
        printer.note(&format!("{name}: nothing to change"));
        return Ok(ExitStatus::Done);
    }
    prepared.check_unchanged(environment).await?;
    let prepared = vec![prepared];
    if !args.options.dry_run {
        show(&prepared, args.options.output.format, printer)?;
    }
    let mut node_action =
        node_action("edit", &prepared, args.options, &args.overrides, environment);
    node_action.sure = Some(args.options.confirm);
    apply_each(prepared, node_action, args.options, &args.overrides, printer).await
}

/// Opens a text in the editor, and returns what was saved.
async fn edit(
    text: &Secret<String>,
    name: &str,
    environment: &UserEnvironment,
    hangup: &mut Signal,
) -> Result<Secret<String>, Error> {
    let folder = private_folder(environment)?;
    let path = folder.path().join(FILE);
    let head = format!("# Configuration of {name}. It is applied after confirmation.\n");
    files::update(&path, &format!("{head}{}", text.expose()), Access::Private)?;
    // An editor may have arguments of its own, as in `code --wait`.
    let editor = &environment.editor;
    let mut script = editor.clone();
    script.push(" \"$1\"");
    let status = Command::new("sh").arg("-c").arg(script).arg("sh").arg(&path).status();
    // It may have saved what was half written.
    if tokio::time::timeout(SIGNAL_ARRIVES_WITHIN, hangup.recv()).await.is_ok() {
        return Err(Error::Interrupted);
    }
    if !status.map_err(Error::Input)?.success() {
        return Err(Error::Usage {
            message: format!("the editor {} failed; nothing was changed", editor.display()),
            hint: "set EDITOR to an editor that waits until the file is closed".to_owned(),
        });
    }
    let edited = fs_err::read_to_string(&path).map_err(Error::Input)?;
    Ok(Secret::new(edited.strip_prefix(&head).unwrap_or(&edited).to_owned()))
}

/// A folder of its owner alone, as the file in it is: editors write copies beside it.
fn private_folder(environment: &UserEnvironment) -> Result<TempDir, Error> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("ichor-edit-").permissions(Permissions::from_mode(0o700));
    Ok(match &environment.runtime {
        Some(runtime) => builder.tempdir_in(runtime)?,
        None => builder.tempdir()?,
    })
}

const FILE: &str = "machineconfig.yaml";
/// A signal that came while the editor was open is noticed when the runtime looks for it.
const SIGNAL_ARRIVES_WITHIN: Duration = Duration::from_millis(20);
