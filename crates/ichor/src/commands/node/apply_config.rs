//! `ichor node apply-config`: a configuration from a file.

use talos_config::Secret;

use crate::args::node::ApplyConfigArgs;
use crate::commands::files::patch::read_patches;
use crate::commands::node::node_config::NodeConfig;
use crate::commands::node::prepared_config::{PreparedConfig, apply_each, node_action};
use crate::nodes::Nodes;
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
    let (text, source) = sources.read(&Input::file(&args.file))?;
    let text = Secret::new(text);
    let mut prepared = Vec::new();
    for node in nodes.as_slice() {
        let node_config = if args.maintenance.insecure {
            NodeConfig::in_maintenance(node).await?
        } else {
            NodeConfig::of(node).await?
        };
        prepared.push(PreparedConfig::new(
            node,
            node_config,
            &text,
            source,
            &patches,
            &mut sources,
            printer,
        )?);
    }
    let node_action =
        node_action("apply-config", &prepared, args.options, &args.overrides, environment);
    apply_each(
        prepared,
        node_action,
        args.options,
        &args.overrides,
        args.maintenance.insecure,
        printer,
    )
    .await
}
