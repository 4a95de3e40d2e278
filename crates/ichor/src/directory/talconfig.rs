//! A directory with a talconfig: what it says, as a cluster that plans can be made for.

use std::path::{Path, PathBuf};

use plan::MachineName;
use talconfig::lint::Files;
use talconfig::{Cluster, Environment, Finding, Images, Secrets, Talconfig};
use talos_config::{Bundle, Contract, Diagnostic, FileLocation, Level, SourceId};

use super::{KnownMachine, LoadedCluster, no_secrets, spec_problems};
use crate::Error;
use crate::diagnostics::{self, Diagnostics, TALCONFIG_WARNING};
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
    let warnings = talconfig.warnings.iter().flat_map(diagnostics_of).chain(ignored);
    let warnings = warnings.chain(host.lines().into_iter().map(|line| warning(&line)));
    let warnings = warnings.map(|warning| warning.map_text(|text| host.redact(text))).collect();
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
        let location = Some(FileLocation::file(file.as_str())).filter(|_| !message.contains(&file));
        diagnostics::coded(&error, message).at(location).map_text(|text| host.redact(text)).into()
    })
}

/// Returns the settings of a talconfig that have no effect.
fn ignored(
    file: &Path,
    environment: &Environment,
    host: &SystemHost,
) -> Result<Vec<Diagnostic>, talconfig::Error> {
    let files = Files {
        cluster: text(file),
        secret_files: SECRET_FILES.iter().map(|name| text(&folder(file).join(name))).collect(),
        ..Files::default()
    };
    let found = talconfig::lint::check_ineffective(&files, environment, host)?.into_iter();
    Ok(found.map(|found| Diagnostic { level: Level::Warning, ..found }).collect())
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

/// The contract of the release that a talconfig names.
pub(super) fn contract(file: &Path, location: &ClusterLocation) -> Result<Contract, Error> {
    let host = SystemHost::of_directory(location);
    let (talconfig, _) = load(file, location, &host)?;
    Ok(talconfig.talos().parse().unwrap_or(Contract::CURRENT))
}

fn machines_of(talconfig: &Talconfig) -> Vec<KnownMachine> {
    let machines = talconfig.nodes.iter().filter_map(|node| {
        let names = [Some(node.hostname().to_owned()), node.machine_name().map(String::from)];
        let addresses = Some(node.addresses()).filter(|addresses| !addresses.is_empty())?;
        Some(KnownMachine {
            names: names.into_iter().flatten().collect(),
            addresses,
            is_control_plane: node.is_control_plane(),
            fingerprints: Vec::new(),
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
        let before = before.collect::<Vec<_>>().join("; ");
        let mut wrong = wrong(&error, &SourceMap::default(), SourceId::default());
        if let Some(last) = wrong.last_mut().filter(|_| !before.is_empty()) {
            last.hint = Some(match &last.hint {
                Some(hint) => format!("{hint}; {before}"),
                None => before,
            });
        }
        redacted(wrong, host)
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
    redacted(wrong(error, sources, source), host).into()
}

fn redacted(wrong: Vec<Diagnostic>, host: &SystemHost) -> Diagnostics {
    let wrong = wrong.into_iter().map(|wrong| wrong.map_text(|text| host.redact(text)));
    Diagnostics::new(wrong.collect())
}

/// Returns everything that an error says.
fn wrong(error: &talconfig::Error, sources: &SourceMap, source: SourceId) -> Vec<Diagnostic> {
    match error {
        talconfig::Error::Spec(error) => spec_problems(error, sources, source),
        talconfig::Error::Located(error) => error.problems.clone(),
        talconfig::Error::Invalid(findings) => {
            let wrong = findings.iter().filter(|finding| !finding.is_warning);
            wrong.flat_map(diagnostics_of).collect()
        }
        other => vec![diagnostics::coded(other, other.to_string().trim_end())],
    }
}

/// Returns what a finding says, a diagnostic for each message.
fn diagnostics_of(finding: &Finding) -> impl Iterator<Item = Diagnostic> {
    finding.problems().map(|problem| {
        let message = format!("{}: {problem}", finding.field);
        let found = if finding.is_warning {
            Diagnostic::warning(TALCONFIG_WARNING, message)
        } else {
            Diagnostic::error(talconfig::Error::INVALID, message)
        };
        let hint = finding.hint().map(str::to_owned);
        Diagnostic { hint, ..found.at(finding.location.clone()) }
    })
}

/// Returns a warning of the host, as a diagnostic.
fn warning(line: &str) -> Diagnostic {
    Diagnostic::warning(TALCONFIG_WARNING, line.trim_start_matches("warning: "))
}

fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("."))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Default mode of the machines of a talconfig.
const MODE: &str = "metal";
