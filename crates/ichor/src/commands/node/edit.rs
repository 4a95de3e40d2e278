//! `ichor node edit`: the configuration of a machine in an editor, with the checks of `ichor node patch`.
//!
//! Always holds: the file that is edited is its owner's alone and is gone afterwards; nothing is sent that was not shown.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use talos_api::{CallError, NodeError};
use talos_config::Secret;

use crate::args::node::NodeEditArgs;
use crate::commands::node::node_config::NodeConfig;
use crate::commands::node::prepared_config::{
    GivenConfig, PreparedConfig, apply_each, node_action, show,
};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::sources::SourceMap;
use crate::{Error, ExitStatus};

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
    let prepared = loop {
        draft = edit(&draft, name, &environment.editor)?;
        if draft.expose().trim().is_empty() || draft == before {
            printer.note(&format!("{name}: nothing to change"));
            return Ok(ExitStatus::Done);
        }
        let mut sources = SourceMap::default();
        let source = sources.add(&format!("<edited configuration of {name}>"));
        let given = GivenConfig::new(draft.clone(), source);
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
fn edit(text: &Secret<String>, name: &str, editor: &OsStr) -> Result<Secret<String>, Error> {
    // Of its owner alone, as the file is: editors write copies beside it.
    let folder = tempfile::Builder::new()
        .prefix("ichor-edit-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()?;
    let path = folder.path().join("machineconfig.yaml");
    let head = format!("# Configuration of {name}. It is applied after confirmation.\n");
    fs_err::write(&path, format!("{head}{}", text.expose()))?;
    // An editor may have arguments of its own, as in `code --wait`.
    let mut script = editor.to_owned();
    script.push(" \"$1\"");
    let status = Command::new("sh").arg("-c").arg(script).arg("sh").arg(&path).status();
    if !status.map_err(Error::Input)?.success() {
        return Err(Error::Usage {
            message: format!("the editor {} failed; nothing was changed", editor.display()),
            hint: "set EDITOR to an editor that waits until the file is closed".to_owned(),
        });
    }
    let edited = fs_err::read_to_string(&path).map_err(Error::Input)?;
    Ok(Secret::new(edited.strip_prefix(&head).unwrap_or(&edited).to_owned()))
}
