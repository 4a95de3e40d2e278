//! `ichor gen config`: the machine configuration of a cluster.

use std::path::PathBuf;

use talos_config::yaml::Dialect;
use talos_config::{Bundle, Generate, Patch, Patched, Role, SourceId};

use super::{read_bundle, with_hint, write};
use crate::args::files::generate::OutputType;
use crate::commands::files::patch::{apply_all, read_patches};
use crate::printer::Printer;
use crate::settings::GenConfig;
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, entropy};

pub(in crate::commands) fn run(
    settings: &GenConfig,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    if settings.wants_comments {
        printer.note("there are no comments to write; `ichor explain` tells what a field means");
    }
    let mut sources = SourceMap::with_keys(&settings.keys);
    let common = read_patches(&settings.patches, &mut sources)?;
    let control_plane = read_patches(&settings.control_plane_patches, &mut sources)?;
    let worker = read_patches(&settings.worker_patches, &mut sources)?;
    let bundle = match &settings.secrets {
        Some(input) => read_bundle(input, &mut sources)?,
        None => entropy::with_secret_source(|makers| Bundle::generate(settings.contract, makers))?,
    };
    let generate = Generate {
        cluster: &settings.cluster,
        endpoint: &settings.endpoint,
        kubernetes: &settings.kubernetes,
        contract: settings.contract,
        secrets: &bundle,
        options: settings.options.clone(),
    };
    let patched = |role: Role, own: &[(Patch, SourceId)]| -> Result<String, Error> {
        let config = generate.config(role).map_err(|error| sources.locate(&error, SourceId(0)))?;
        let dialect = Dialect::default();
        let state = apply_all(Patched::from(config), SourceId(0), &common, dialect, &sources)?;
        let state = apply_all(state, SourceId(0), own, dialect, &sources)?;
        let last = own.last().or(common.last()).map_or(SourceId(0), |(_, source)| *source);
        let config = state.into_config().map_err(|error| sources.locate(&error, last))?;
        Ok(config.encode(dialect).into_exposed())
    };
    // Both are made, so that a patch that does not fit is told whatever is written.
    let configs = (patched(Role::ControlPlane, &control_plane)?, patched(Role::Worker, &worker)?);
    let mut outputs = Vec::new();
    for kind in &settings.outputs {
        outputs.push(match kind {
            OutputType::Controlplane => (PathBuf::from("controlplane.yaml"), configs.0.clone()),
            OutputType::Worker => (PathBuf::from("worker.yaml"), configs.1.clone()),
            OutputType::Talosconfig => {
                let roles = ["os:admin".to_owned()];
                let talosconfig = entropy::with_secret_source(|makers| {
                    bundle.talosconfig(&settings.cluster, &roles, CLIENT_LIFETIME, makers)
                })?;
                (PathBuf::from("talosconfig"), talosconfig?.encode().into_exposed())
            }
        });
    }
    let written = write(outputs, &settings.target, printer);
    if settings.secrets.is_some() {
        return written;
    }
    let written = written.map_err(|error| with_hint(error, NEW_SECRETS))?;
    printer.note(
        "with new secrets; `ichor gen secrets --from-controlplane-config FILE` takes them out again",
    );
    Ok(written)
}

const NEW_SECRETS: &str = "new secrets would be made, and machines with the old ones could not join: give the old \
                           ones with --with-secrets, or --force";

/// One year, in seconds.
const CLIENT_LIFETIME: i64 = 8_760 * 3_600;
