//! `ichor config`: the contexts of the talosconfig.
//!
//! Always holds: the file is replaced atomically and readable for its owner only, and no context is lost without
//! confirmation. A confirmation can be interrupted, and nothing is half done then.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::atomic_file::Access;
use engine::bounded_file;

use serde::Serialize;
use talos_api::proto::machine::GenerateClientConfigurationRequest;
use talos_config::pki::{Certificate, Key};
use talos_config::{Secret, SourceId, Talosconfig};

use crate::args::{ConfigArgs, ConfigCommand, ConnectionArgs};
use crate::files::{self, OutputFile};
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::{CandidatePaths, Input, UserEnvironment, known_roles};
use crate::sources::SourceMap;
use crate::table::Table;
use crate::timestamp::Timestamp;
use crate::{Error, ExitStatus, runtime, talosconfig};

/// Schemas of what is printed.
pub(in crate::commands) const CONTEXTS: SchemaOf = <Vec<ContextLine>>::json_schema;
pub(in crate::commands) const INFO: SchemaOf = Info::json_schema;

pub(super) fn run(
    args: &ConfigArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let ConfigArgs { command, connection } = args;
    match command {
        ConfigCommand::Contexts { output } => {
            let (talosconfig, _) = talosconfig::load(connection, environment)?;
            printer.value(&Contexts::new(&talosconfig), output.format)
        }
        ConfigCommand::Info { output } => {
            let (talosconfig, path) = talosconfig::load(connection, environment)?;
            let name = named(&talosconfig, connection, &path)?;
            printer.value(&Info::new(&talosconfig, name)?, output.format)
        }
        ConfigCommand::Context { name } => change(connection, environment, |talosconfig, path| {
            if talosconfig.set_current(name) {
                Ok(())
            } else {
                Err(talosconfig::no_context(name, path))
            }
        }),
        ConfigCommand::Endpoint { endpoints } => {
            change(connection, environment, |talosconfig, path| {
                let name = named(talosconfig, connection, path)?;
                talosconfig.set_endpoints(&name, &trimmed(endpoints));
                Ok(())
            })
        }
        ConfigCommand::Node { nodes } => change(connection, environment, |talosconfig, path| {
            let name = named(talosconfig, connection, path)?;
            talosconfig.set_nodes(&name, &trimmed(nodes));
            Ok(())
        }),
        ConfigCommand::Add { name, ca, crt, key, force } => {
            let credentials = Credentials::read(ca.as_deref(), crt.as_deref(), key.as_deref())?;
            let (mut talosconfig, path) = talosconfig_or_new(connection, environment)?;
            if !force && talosconfig.context(name).is_some() {
                return Err(Error::Usage {
                    message: format!("{} already has a context {name:?}", path.display()),
                    hint: "choose another name, or pass --force".to_owned(),
                });
            }
            let Credentials { authority, certificate, key } = credentials;
            talosconfig.add(name, &authority, &certificate, &key);
            save(&talosconfig, &path)
        }
        ConfigCommand::Remove { pattern, dry_run, yes } => {
            remove(pattern, *dry_run, *yes, connection, environment, printer)
        }
        ConfigCommand::Merge { from } => {
            let other =
                SourceMap::default().parse(&Input::File(from.clone()), Talosconfig::parse)?.0;
            let (mut talosconfig, path) = talosconfig_or_new(connection, environment)?;
            for (before, after) in talosconfig.merge(&other) {
                printer.note(&format!("renamed talosconfig context {before:?} -> {after:?}"));
            }
            save(&talosconfig, &path)
        }
        ConfigCommand::New { path, roles, crt_ttl, force } => {
            if !force && path.exists() {
                return Err(Error::Exists { path: path.clone(), hint: "--force overwrites it" });
            }
            runtime::run(async {
                let new = new(roles, *crt_ttl, connection, environment).await?;
                if path.as_os_str() == "-" {
                    return printer.verbatim(new.expose());
                }
                let file = OutputFile::secret(path.clone(), new.into_exposed());
                files::write_all(&[file], *force, printer)
            })
        }
    }
}

/// Changes the talosconfig that is there.
fn change(
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
    change: impl FnOnce(&mut Talosconfig, &Path) -> Result<(), Error>,
) -> Result<ExitStatus, Error> {
    let (mut talosconfig, path) = talosconfig::load(connection, environment)?;
    change(&mut talosconfig, &path)?;
    save(&talosconfig, &path)
}

fn save(talosconfig: &Talosconfig, path: &Path) -> Result<ExitStatus, Error> {
    files::update(path, talosconfig.encode().expose(), Access::Private)?;
    Ok(ExitStatus::Done)
}

/// Loads the selected talosconfig, or returns an empty one for its default path.
fn talosconfig_or_new(
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
) -> Result<(Talosconfig, PathBuf), Error> {
    let CandidatePaths { paths, lacks_home, .. } = &environment.talosconfigs;
    let places = match &connection.talosconfig {
        Some(path) => std::slice::from_ref(path),
        None => paths.as_slice(),
    };
    match places.first() {
        Some(first) if !places.iter().any(|path| path.exists()) => {
            // What is left of the places is a pod's own, which is not ours to make.
            if connection.talosconfig.is_none() && *lacks_home {
                return Err(talosconfig::no_home_of_talosconfig());
            }
            Ok((Talosconfig::default(), first.clone()))
        }
        _ => talosconfig::load(connection, environment),
    }
}

/// Returns the name of the selected context, which must exist.
fn named(
    talosconfig: &Talosconfig,
    connection: &ConnectionArgs,
    path: &Path,
) -> Result<String, Error> {
    let name = connection.context.as_deref().unwrap_or_else(|| talosconfig.current());
    match talosconfig.context(name) {
        Some(_) => Ok(name.to_owned()),
        None => Err(talosconfig::no_context(name, path)),
    }
}

fn trimmed(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| text.trim().to_owned()).collect()
}

/// Credentials of a context as PEM texts; missing ones are empty.
struct Credentials {
    authority: String,
    certificate: String,
    key: Secret<String>,
}

impl Credentials {
    /// Reads the files, and rejects those that are not certificates or keys.
    fn read(ca: Option<&Path>, crt: Option<&Path>, key: Option<&Path>) -> Result<Self, Error> {
        let read = |path: Option<&Path>| match path {
            Some(path) => bounded_file::read_to_string(path).map(Some).map_err(Error::Input),
            None => Ok(None),
        };
        let (authority, certificate, key) = (read(ca)?, read(crt)?, read(key)?.map(Secret::new));
        for text in authority.iter().chain(&certificate) {
            Certificate::parse(text)?;
        }
        if let Some(key) = &key {
            Key::parse(key.expose())?;
        }
        Ok(Self {
            authority: authority.unwrap_or_default(),
            certificate: certificate.unwrap_or_default(),
            key: key.unwrap_or_else(|| Secret::new(String::new())),
        })
    }
}

fn remove(
    pattern: &str,
    dry_run: bool,
    skip_confirmation: bool,
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let (mut talosconfig, path) = talosconfig::load(connection, environment)?;
    let matching = |name: &&str| matches(pattern, name);
    let mut names: Vec<String> = talosconfig.names().filter(matching).map(str::to_owned).collect();
    if names.is_empty() {
        return Err(talosconfig::no_context(pattern, &path));
    }
    if names.iter().any(|name| name == talosconfig.current()) {
        let current = talosconfig.current();
        printer.note(&format!(
            "{current:?} is the current context and is kept: `ichor config context` switches to another"
        ));
        names.retain(|name| name != current);
    }
    if names.is_empty() {
        return Ok(ExitStatus::Done);
    }
    let action = format!("remove context {}", names.join(", "));
    if dry_run {
        printer.note(&format!("would {action}"));
        return Ok(ExitStatus::Pending);
    }
    printer.confirm(&action, skip_confirmation)?;
    for name in &names {
        talosconfig.remove(name);
    }
    save(&talosconfig, &path)
}

/// Matches a name against a pattern in which `*` matches anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    name.ends_with(end)
}

/// A talosconfig that a machine makes, with the endpoints that we have.
async fn new(
    roles: &[String],
    lifetime: Duration,
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
) -> Result<Secret<String>, Error> {
    let roles = known_roles(roles.to_vec())?;
    let nodes = Nodes::from_context(connection, environment)?;
    let [node] = nodes.as_slice() else {
        return Err(Error::Usage {
            message: "a talosconfig is requested from a single machine".to_owned(),
            hint: "pass one control plane with -n".to_owned(),
        });
    };
    let request = GenerateClientConfigurationRequest {
        roles,
        crt_ttl: prost_types::Duration::try_from(lifetime).ok(),
    };
    let reply = node.call(node.machine().generate_client_configuration(request)).await?;
    let text =
        String::from_utf8_lossy(&node.single_reply(reply.messages)?.talosconfig).into_owned();
    let source = SourceId(1);
    let mut made = Talosconfig::parse(&text, source)
        .map_err(|error| SourceMap::default().locate(&error, source))?;
    let endpoints = match connection.endpoints.as_slice() {
        [] => talosconfig::context(connection, environment)?.endpoints,
        endpoints => endpoints.to_vec(),
    };
    let name = made.current().to_owned();
    made.set_endpoints(&name, &endpoints);
    Ok(made.encode())
}

#[derive(Serialize)]
#[serde(transparent)]
struct Contexts(Vec<ContextLine>);

#[derive(Serialize)]
struct ContextLine {
    name: String,
    current: bool,
    endpoints: Vec<String>,
    nodes: Vec<String>,
}

schema!(ContextLine, plain { name, current, endpoints, nodes });

impl Contexts {
    fn new(talosconfig: &Talosconfig) -> Self {
        let lines = talosconfig.names().filter_map(|name| {
            let context = talosconfig.context(name)?;
            Some(ContextLine {
                name: name.to_owned(),
                current: name == talosconfig.current(),
                endpoints: context.endpoints,
                nodes: context.nodes,
            })
        });
        Self(lines.collect())
    }
}

impl fmt::Display for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["CURRENT", "NAME", "ENDPOINTS", "NODES"];
        let mut table = Table::new(head.map(str::to_owned).to_vec());
        for ContextLine { name, current, endpoints, nodes } in &self.0 {
            let nodes = match nodes.get(..SHOWN_NODES) {
                Some(first) if nodes.len() > SHOWN_NODES => format!("{}...", first.join(",")),
                _ => nodes.join(","),
            };
            let current = if *current { "*" } else { "" };
            table.push(vec![current.to_owned(), name.clone(), endpoints.join(","), nodes]);
        }
        table.fmt(f)
    }
}

/// One context, with the names that talosctl gives its parts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    context: String,
    nodes: Vec<String>,
    endpoints: Vec<String>,
    roles: Vec<String>,
    #[serde(rename = "certTTL")]
    cert_ttl: String,
    cert_not_after: String,
}

schema!(Info, camel { context, nodes, endpoints, roles, cert_ttl as "certTTL", cert_not_after });

impl Info {
    fn new(talosconfig: &Talosconfig, name: String) -> Result<Self, Error> {
        let context = talosconfig.context(&name);
        let (endpoints, nodes, certificate) = match context {
            Some(context) => (context.endpoints, context.nodes, context.certificate),
            None => Default::default(),
        };
        let certificate = match certificate.as_str() {
            "" => None,
            text => Some(Certificate::parse(text)?),
        };
        let owners = certificate.iter().flat_map(|one| one.subject().organizations);
        let mut roles: Vec<String> = owners.filter(|name| name.starts_with("os:")).collect();
        roles.sort();
        let end = certificate.and_then(|one| one.not_after()).map(Timestamp::from_seconds);
        Ok(Self {
            context: name,
            nodes,
            endpoints,
            roles,
            cert_ttl: end.map(Timestamp::relative).unwrap_or_default(),
            cert_not_after: end.map(Timestamp::date).unwrap_or_default(),
        })
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { context, nodes, endpoints, roles, cert_ttl, cert_not_after } = self;
        let list = |texts: &[String]| match texts {
            [] => "not defined".to_owned(),
            texts => texts.join(", "),
        };
        writeln!(f, "Current context:     {context}")?;
        writeln!(f, "Nodes:               {}", list(nodes))?;
        write!(f, "Endpoints:           {}", list(endpoints))?;
        if !roles.is_empty() {
            write!(f, "\nRoles:               {}", roles.join(", "))?;
        }
        if !cert_ttl.is_empty() {
            write!(f, "\nCertificate expires: {cert_ttl} ({cert_not_after})")?;
        }
        Ok(())
    }
}

/// More are left out of the table.
const SHOWN_NODES: usize = 3;

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, expected) in [
            ("home", "home", true),
            ("home", "homes", false),
            ("*", "", true),
            ("home*", "home-1", true),
            ("*-1", "home-1", true),
            ("h*e*1", "home-1", true),
            ("h*x*1", "home-1", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
