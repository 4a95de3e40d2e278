//! A directory with a talconfig: what it says, as a cluster that plans can be made for.

use std::path::{Path, PathBuf};

use plan::MachineName;
use talconfig::lint::{Diagnostic, Files};
use talconfig::{Cluster, Environment, Finding, Images, Secrets, Talconfig};
use talos_config::{Bundle, SourceId};

use super::{KnownMachine, LoadedCluster, no_secrets, spec_problems};
use crate::Error;
use crate::settings::ClusterLocation;
use crate::sources::SourceMap;
use crate::talhelper::{ENV_FILES, SECRET_FILES, SystemHost};

/// Reads everything that belongs to a talconfig. Only the layers of the `explained` machine are kept apart.
pub(super) fn read(
    file: &Path,
    location: &ClusterLocation,
    explained: Option<&MachineName>,
) -> Result<LoadedCluster, Error> {
    let host = SystemHost::of_directory(location);
    let (talconfig, environment) = load(file, location, &host)?;
    let vault = secrets_file(file)?;
    let mut sources = SourceMap::default();
    let source = sources.add(&file.display().to_string());
    let failed = |error: talconfig::Error| failed(&error, &sources, source, &host);
    let secrets = load_secrets(&vault, &environment, &host)?;
    // The id of a schematic follows from its text, so the factory is not needed.
    let images = Images::for_talconfig(&talconfig, true, &host, &environment);
    let cluster = Cluster::new(&talconfig, &secrets, &images, MODE).map_err(failed)?;
    let (spec, layers) = cluster.translate(source, explained).map_err(failed)?;
    talconfig::check_spec(&spec).map_err(failed)?;
    let ignored = ignored(file, &environment, &host).map_err(failed)?;
    let warnings = talconfig.warnings.iter().flat_map(lines).chain(ignored);
    let warnings = warnings.chain(host.lines()).map(|line| host.redact(&line)).collect();
    // The secrets themselves are kept as they were in any case.
    let was_encrypted = host.opened().iter().any(|opened| *opened != text(&vault));
    let (secrets, secrets_file) = (secrets.bundle, Some(vault));
    let registrations = images.registrations(&talconfig);
    let machines = machines_of(&talconfig);
    Ok(LoadedCluster {
        spec,
        layers,
        secrets,
        secrets_file,
        was_encrypted,
        warnings,
        machines,
        registrations,
    })
}

/// The name and the secrets of the cluster.
pub(super) fn secrets(file: &Path, location: &ClusterLocation) -> Result<(String, Bundle), Error> {
    let host = SystemHost::of_directory(location);
    let (talconfig, environment) = load(file, location, &host)?;
    let secrets = load_secrets(&secrets_file(file)?, &environment, &host)?;
    Ok((talconfig.cluster_name().to_owned(), secrets.bundle))
}

fn secrets_file(file: &Path) -> Result<PathBuf, Error> {
    last(file, &SECRET_FILES)
        .ok_or_else(|| no_secrets(folder(file), &["talsecret.sops.yaml", "talsecret.yaml"]))
}

fn load_secrets(
    vault: &Path,
    environment: &Environment,
    host: &SystemHost,
) -> Result<Secrets, Error> {
    Secrets::load(&text(vault), environment, host).map_err(|error| {
        let (file, message) = (text(vault), error.to_string());
        let place = if message.contains(&file) { String::new() } else { format!("{file}: ") };
        let hint = error.hint().map(|hint| host.redact(hint));
        let message = host.redact(&format!("{place}{message}"));
        Error::Spec { message, hint, code: error.code() }
    })
}

/// Returns the settings of a talconfig that have no effect, a line each.
fn ignored(
    file: &Path,
    environment: &Environment,
    host: &SystemHost,
) -> Result<Vec<String>, talconfig::Error> {
    let files = Files {
        cluster: text(file),
        secret_files: SECRET_FILES.iter().map(|name| text(&folder(file).join(name))).collect(),
        ..Files::default()
    };
    let diagnostics = talconfig::lint::check_ineffective(&files, environment, host)?.into_iter();
    Ok(diagnostics
        .map(|Diagnostic { location, message, hint, .. }| {
            format!("{location}: warning: {message} ({hint})")
        })
        .collect())
}

/// The machines that a talconfig names.
pub(super) fn known_machines(
    file: &Path,
    location: &ClusterLocation,
) -> Result<Vec<KnownMachine>, Error> {
    let host = SystemHost::of_directory(location);
    let (talconfig, _) = load(file, location, &host)?;
    Ok(machines_of(&talconfig))
}

fn machines_of(talconfig: &Talconfig) -> Vec<KnownMachine> {
    let machines = talconfig.nodes.iter().filter_map(|node| {
        let names = [Some(node.hostname().to_owned()), node.machine_name().map(String::from)];
        let addresses = Some(node.addresses()).filter(|addresses| !addresses.is_empty())?;
        Some(KnownMachine {
            names: names.into_iter().flatten().collect(),
            addresses,
            is_control_plane: node.is_control_plane(),
        })
    });
    machines.collect()
}

fn load(
    file: &Path,
    location: &ClusterLocation,
    host: &SystemHost,
) -> Result<(Talconfig, Environment), Error> {
    let mut environment = location.environment();
    let env_files = ENV_FILES.map(|name| text(&folder(file).join(name)));
    let opened = Talconfig::open(&text(file), &env_files, &mut environment, host);
    let talconfig = opened.map_err(|error| {
        // What silently went wrong before is the likely reason.
        let before = host.lines().into_iter();
        let before = before.map(|line| line.trim_start_matches("warning: ").to_owned());
        let hint = error.hint().map(str::to_owned).into_iter().chain(before);
        let hint = hint.collect::<Vec<_>>().join("; ");
        Error::Spec {
            message: host.redact(&message(&error, &SourceMap::default(), SourceId::default())),
            hint: Some(host.redact(&hint)).filter(|hint| !hint.is_empty()),
            code: error.code(),
        }
    })?;
    Ok((talconfig, environment))
}

/// The last file of several that is there: so talhelper chooses.
fn last(file: &Path, names: &[&str]) -> Option<PathBuf> {
    let mut files = names.iter().rev().map(|name| folder(file).join(name));
    files.find(|path| path.exists())
}

fn failed(
    error: &talconfig::Error,
    sources: &SourceMap,
    source: SourceId,
    host: &SystemHost,
) -> Error {
    Error::Spec {
        message: host.redact(&message(error, sources, source)),
        hint: error.hint().map(|hint| host.redact(hint)),
        code: error.code(),
    }
}

fn message(error: &talconfig::Error, sources: &SourceMap, source: SourceId) -> String {
    match error {
        talconfig::Error::Spec(error) => spec_problems(error, sources, source),
        talconfig::Error::Invalid(findings) => {
            let wrong = findings.iter().filter(|finding| !finding.is_warning).flat_map(lines);
            wrong.collect::<Vec<_>>().join("\n  ")
        }
        other => other.to_string().trim_end().to_owned(),
    }
}

/// Formats a finding, a line for each message: `talconfig.yaml:4: nodes[0].hostname: …`.
fn lines(finding: &Finding) -> impl Iterator<Item = String> {
    let Finding { field, location, messages, is_warning, .. } = finding;
    let location = location.as_ref().map_or_else(String::new, |location| format!("{location}: "));
    let mark = if *is_warning { "warning: " } else { "" };
    let line = move |message: &String| format!("{location}{mark}{field}: {}", message.trim_end());
    messages.iter().map(line)
}

fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("."))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Default mode of the machines of a talconfig.
const MODE: &str = "metal";
