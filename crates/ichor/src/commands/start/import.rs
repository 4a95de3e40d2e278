//! `ichor import`: a native directory of one with a talconfig.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::bounded_file;
use plan::NativeExport;
use talos_config::yaml::Dialect;
use talos_config::{Coded, Diagnostic, Secret};

use super::init;
use crate::directory::{FILE, OpenedDirectory};
use crate::error::with_causes;
use crate::files::OutputFile;
use crate::printer::Printer;
use crate::settings::Import;
use crate::sops_files::{self, SopsKeys};
use crate::{Error, ExitStatus, files};

pub(super) async fn run(settings: &Import, printer: &mut Printer) -> Result<ExitStatus, Error> {
    init::refuse_cluster(&settings.target, &[])?;
    let directory = OpenedDirectory::open(&settings.location).await?;
    directory.tell_warnings(printer);
    let cluster = &directory.cluster;
    let mut wanted = BTreeMap::new();
    for (machine, _) in cluster.spec.machines() {
        let config = cluster.renderer().config(&machine.name).map_err(engine::Error::from)?;
        wanted.insert(machine.name.clone(), config);
    }
    let made = NativeExport::from_configs(
        &cluster.spec,
        &wanted,
        &cluster.secrets,
        &cluster.key,
        cluster.mode,
    );
    let mut native = made.map_err(|error| {
        Diagnostic::error(error.code(), with_causes(&error))
            .with_hint("keep the talconfig: every command works on it")
    })?;
    let keys = &settings.location.keys;
    // What was encrypted stays so.
    if directory.was_encrypted {
        native = native.with_paths(|path| path.replace(".yaml", ".sops.yaml"));
    }
    let mut outputs =
        vec![OutputFile::shared(settings.target.join(FILE), native.spec.write().into_exposed())];
    for (path, text) in native.patches {
        let path = settings.target.join(path);
        let text = if directory.was_encrypted {
            sops_files::encrypt(text.expose(), &path, keys)?
        } else {
            text.into_exposed()
        };
        // They have all that the spec has no key for, also what the user keeps to himself.
        outputs.push(OutputFile::secret(path, text));
    }
    let (path, text, was_encrypted) = secrets(&directory, &settings.target, keys)?;
    outputs.push(OutputFile::secret(path, text));
    if let Some(OutputFile { path, .. }) = outputs.iter().find(|file| file.path.exists()) {
        return Err(Error::Exists { path: path.clone(), hint: "choose another directory with -o" });
    }
    init::ignore(&settings.target, &[], (!was_encrypted).then_some("secrets.yaml"))?;
    files::write_tree(&outputs, false, printer)?;
    printer.note("the configuration of every machine is unchanged: `ichor diff` verifies it");
    Ok(ExitStatus::Done)
}

/// The file of the secrets: encrypted where they were, and where a creation rule says so.
fn secrets(
    directory: &OpenedDirectory,
    root: &Path,
    keys: &SopsKeys,
) -> Result<(PathBuf, String, bool), Error> {
    let text: Secret<String> = directory.cluster.secrets.encode(Dialect::default());
    let path = root.join("secrets.sops.yaml");
    // The name of the file does not say it.
    let read = directory.vault.file().map(|file| bounded_file::read_to_string(&file)).transpose();
    let was_encrypted = |text: &String| sops::is_encrypted(text, sops::Format::Yaml);
    if read.map_err(Error::Input)?.as_ref().is_some_and(was_encrypted) {
        let text = sops_files::encrypt(text.expose(), &path, keys)?;
        return Ok((path, text, true));
    }
    let (text, was_encrypted) = init::encrypt(text.into_exposed(), &path, keys)?;
    Ok((if was_encrypted { path } else { root.join("secrets.yaml") }, text, was_encrypted))
}
