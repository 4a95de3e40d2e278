//! `ichor node patch`: changes to the configuration that machines have.

use talos_api::{CallError, NodeError};

use crate::args::node::NodePatchArgs;
use crate::commands::files::patch::read_patches;
use crate::commands::node::node_config::NodeConfig;
use crate::commands::node::prepared_config::{
    GivenConfig, PreparedConfig, apply_each, node_action, show,
};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::{Input, UserEnvironment};
use crate::sops_files::SopsKeys;
use crate::sources::SourceMap;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &NodePatchArgs,
    environment: &UserEnvironment,
    keys: &SopsKeys,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let mut sources = SourceMap::with_keys(keys);
    let mut inputs: Vec<Input> = args.patches.iter().cloned().map(Input::patch).collect();
    inputs.extend(args.patch_file.as_ref().map(|path| Input::file(path)));
    let patches = read_patches(&inputs, &mut sources)?;
    let mut prepared = Vec::new();
    for node in nodes.as_slice() {
        let node_config = NodeConfig::of(node).await?;
        let Some(config) = &node_config.config else {
            let reason = CallError::NotFound("its configuration".to_owned());
            return Err(NodeError { node: node.name().to_owned(), reason }.into());
        };
        let source = sources.add(&format!("<configuration of {}>", node.name()));
        let given = GivenConfig::change(config.text.clone(), source);
        let one = PreparedConfig::new(node, node_config, &given, &patches, &mut sources, printer)?;
        if one.changes.0.is_empty() && one.settled {
            printer.note(&format!("{}: nothing to change", node.name()));
        } else {
            prepared.push(one);
        }
    }
    if !args.options.dry_run && !prepared.is_empty() {
        show(&prepared, args.options.output.format, printer)?;
    }
    let node_action = node_action("patch", &prepared, args.options, &args.overrides, environment);
    apply_each(prepared, node_action, args.options, &args.overrides, printer).await
}
