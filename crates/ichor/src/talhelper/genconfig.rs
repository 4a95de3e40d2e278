//! `talhelper genconfig` and `talhelper genschema`

use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use engine::atomic_file::{Access, AtomicFile};
use talconfig::{Cluster, Host, Images, Secrets, json_schema};
use talos_config::{Bundle, Contract};

use super::args::Genconfig;
use super::system_host::{file_error, folder};
use super::{Session, TalhelperError, diff, gitignore};
use crate::entropy;

pub(super) fn run(session: &mut Session<'_>, args: &Genconfig) -> Result<(), TalhelperError> {
    let talconfig = session.load(&args.config_file, &args.env_files, true)?;
    let host = session.host;
    let mut secret_file = None;
    for file in &args.secret_files {
        match host.stat(file) {
            Ok(()) => {
                secret_file = Some(file);
                host.debug(&|| format!("secret file is set to {file}"));
            }
            Err(error) if error.is_missing() => {}
            Err(error) => {
                return Err(TalhelperError::new(format!(
                    "failed to stat secret file {file}: {error} "
                )));
            }
        }
    }
    host.debug(&|| "start generating config file".to_owned());
    let failed =
        |error: &talconfig::Error| TalhelperError::of("failed to generate talos config: ", error);
    let secrets = match secret_file {
        Some(file) => {
            Secrets::load(file, &session.environment, host).map_err(|error| failed(&error))?
        }
        None => {
            session.printer.text(
                &"\u{1b}[33mWARNING\u{1b}[0m: secrets file is not found, new secrets will be generated everytime \
                  you run this command",
            )?;
            let contract = talconfig.talos().parse().unwrap_or(Contract::CURRENT);
            let made = entropy::with_secret_source(|makers| Bundle::generate(contract, makers))?;
            Secrets::new(made)
        }
    };
    let environment = session.environment.clone();
    let images = Images::for_talconfig(&talconfig, args.offline, host, &environment);
    let cluster =
        Cluster::new(&talconfig, &secrets, &images, &args.mode).map_err(|error| failed(&error))?;
    let mut made = Vec::new();
    for node in &talconfig.nodes {
        let name = talconfig.file_name(node).map_err(|error| failed(&error))?;
        let path = format!("{}/{name}", args.out_dir);
        host.debug(&|| format!("generating {path} for node {}", node.hostname()));
        let machine = cluster.machine(node).map_err(|error| failed(&error))?;
        if args.dry_run {
            for warning in &machine.warnings {
                session.say(warning)?;
            }
            show_changes(session, &path, machine.text.expose())?;
        } else {
            made.push((name, path, node.hostname(), machine));
        }
    }
    if args.dry_run {
        return Ok(());
    }
    // Nothing is written before all is made: half a cluster is worse than none.
    for (_, path, hostname, machine) in &made {
        for warning in &machine.warnings {
            session.say(warning)?;
        }
        host.debug(&|| format!("dumping machineconfig file for {hostname} to {path}"));
        dump(path, machine.text.expose(), Access::Private).map_err(|reason| {
            TalhelperError::new(format!("failed to generate talos config: {reason}"))
        })?;
        session.say(&format!("generated config for {hostname} in {path}"))?;
    }
    client_config(session, args, &talconfig, &secrets)?;
    if !args.no_gitignore {
        let mut names: Vec<String> = made.into_iter().map(|(name, ..)| name).collect();
        names.push("talosconfig".to_owned());
        let path = format!("{}/.gitignore", args.out_dir);
        gitignore::add(&path, &names).map_err(|error| {
            TalhelperError::new(format!("failed to generate gitignore file: {error}"))
        })?;
        session.say(&format!("generated .gitignore file in {path}"))?;
    }
    Ok(())
}

/// Shows what would change in a file.
fn show_changes(session: &mut Session<'_>, path: &str, after: &str) -> Result<(), TalhelperError> {
    session.host.debug(&|| "showing diff from previous run".to_owned());
    let absolute = session.host.absolute(path);
    let before = if session.host.stat(&absolute).is_ok() {
        let opened = talconfig::read_decrypted(&absolute, &session.environment, session.host);
        opened.map_err(|detail| TalhelperError::Fatal {
            message: format!("failed to generate talos config: {detail}"),
            hint: detail.hint,
        })?
    } else {
        String::new()
    };
    let shown = diff::unified(&absolute, &before, after);
    if shown.is_empty() {
        session.say(&format!("no changes found on {path}"))
    } else {
        session.say(&shown)
    }
}

/// Writes the client's side.
fn client_config(
    session: &mut Session<'_>,
    args: &Genconfig,
    talconfig: &talconfig::Talconfig,
    secrets: &Secrets,
) -> Result<(), TalhelperError> {
    let host = session.host;
    let addresses = |control_planes_only: bool| -> Vec<String> {
        let nodes = talconfig.nodes.iter();
        let nodes = nodes.filter(|node| !control_planes_only || node.is_control_plane());
        nodes.flat_map(talconfig::Node::addresses).collect()
    };
    let endpoints = addresses(true);
    host.debug(&|| format!("endpoints in talosconfig are set to [{}]", endpoints.join(" ")));
    host.debug(&|| format!("generating admin certificate with TTL of {}", args.lifetime_text));
    let roles = ["os:admin".to_owned()];
    let made = entropy::with_secret_source(|makers| {
        secrets.bundle.talosconfig(talconfig.cluster_name(), &roles, args.lifetime, makers)
    })?;
    let failed =
        |reason: String| TalhelperError::new(format!("failed to generate talos config: {reason}"));
    let mut config = made.map_err(|error| failed(error.to_string()))?;
    let nodes = if args.disable_nodes_section {
        Vec::new()
    } else {
        host.debug(&|| "appending all nodes to nodes in talosconfig".to_owned());
        addresses(false)
    };
    config.set_targets(&endpoints, &nodes);
    let path = format!("{}/talosconfig", args.out_dir);
    host.debug(&|| format!("dumping talosconfig file to {path}"));
    dump(&path, config.encode().expose(), Access::Private).map_err(failed)?;
    session.say(&format!("generated client config in {path}"))
}

/// Writes a file atomically; an existing file keeps its mode.
fn dump(path: &str, text: &str, access: Access) -> Result<(), String> {
    let folder = folder(path);
    if !folder.exists() {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| file_error("mkdir", &folder.to_string_lossy(), &error).to_string())?;
    }
    let write = || -> io::Result<()> {
        // What may not be written to is not replaced either, and a link is followed.
        let (place, before) = match fs_err::OpenOptions::new().write(true).open(path) {
            Ok(file) => (fs_err::canonicalize(path)?, Some(file.metadata()?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (PathBuf::from(path), None),
            Err(error) => return Err(error),
        };
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            return fs_err::write(&place, text);
        }
        let mut file = AtomicFile::create(&place, access)?;
        file.write_all(text.as_bytes())?;
        if let Some(before) = before {
            file.set_permissions(before.permissions())?;
        }
        file.commit()?;
        Ok(())
    };
    write().map_err(|error| file_error("open", path, &error).to_string())
}

/// Writes the JSON schema of a talconfig.
pub(super) fn schema(file: &str) -> Result<(), TalhelperError> {
    let text = serde_json::to_string_pretty(&json_schema()).unwrap_or_default();
    dump(file, &text, Access::Shared).map_err(TalhelperError::new)
}
