//! The talosconfig of a command, and the selected context.

use std::path::{Path, PathBuf};

use talos_config::pki::Certificate;
use talos_config::{Coded, Context, Diagnostic, Talosconfig};

use crate::Error;
use crate::args::ConnectionArgs;
use crate::diagnostics::{SECRETS_MISSING, TALOSCONFIG_FOREIGN};
use crate::directory;
use crate::settings::{CandidatePaths, Input, UserEnvironment};
use crate::sources::SourceMap;

/// Returns the selected context.
pub(crate) fn context(
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
) -> Result<Context, Error> {
    if let Some(context) = directory_context(connection, environment)? {
        return Ok(context);
    }
    let (talosconfig, path) = load(connection, environment)?;
    let name = connection.context.as_deref().unwrap_or_else(|| talosconfig.current());
    talosconfig.context(name).ok_or_else(|| no_context(name, &path))
}

/// Signs short-lived credentials with the secrets of the cluster's directory. `None` where a talosconfig or a context is
/// named, where the directory has a talosconfig, and outside of such a directory. A talosconfig at its usual place may be
/// another cluster's: it serves only where the directory has no secrets.
fn directory_context(
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
) -> Result<Option<Context>, Error> {
    let paths = &environment.talosconfigs.paths;
    if is_named(connection, environment) || directory::talosconfig().is_some() {
        return Ok(None);
    }
    match directory::signed_context(&environment.location) {
        Err(error) if error.code() == SECRETS_MISSING && paths.iter().any(|path| path.exists()) => {
            Ok(None)
        }
        context => Ok(context?.map(|mut context| {
            if !environment.takes_all {
                context.nodes.clear();
            }
            context
        })),
    }
}

/// Returns whether a talosconfig or one of its contexts is named, by an argument or a variable.
fn is_named(connection: &ConnectionArgs, environment: &UserEnvironment) -> bool {
    connection.talosconfig.is_some()
        || connection.context.is_some()
        || environment.talosconfigs.are_named
}

/// Refuses named credentials of another cluster for machines that are named as the cluster's directory names them.
pub(crate) fn check_authority(
    context: &Context,
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
) -> Result<(), Error> {
    if !is_named(connection, environment) {
        return Ok(());
    }
    // Secrets that cannot be read say nothing about the talosconfig.
    let Ok(Some(own)) = directory::signed_context(&environment.location) else { return Ok(()) };
    let authorities: Vec<Certificate> = Certificate::all(&own.ca).collect();
    // While authorities are exchanged there are several.
    if Certificate::all(&context.ca).any(|authority| authorities.contains(&authority)) {
        return Ok(());
    }
    let message =
        "the talosconfig is another cluster's: its CA is not the one of the cluster's directory";
    let hint = "leave out --talosconfig, --context and TALOSCONFIG here, or pass addresses with -n";
    Err(Diagnostic::error(TALOSCONFIG_FOREIGN, message).with_hint(hint).into())
}

/// A talosconfig has no such context.
pub(crate) fn no_context(name: &str, path: &Path) -> Error {
    Error::Usage {
        message: if name.is_empty() {
            format!("{} has no current context", path.display())
        } else {
            format!("{} has no context {name:?}", path.display())
        },
        hint: "`ichor config contexts` lists the contexts".to_owned(),
    }
}

/// Loads the selected talosconfig, and returns its path too.
pub(crate) fn load(
    connection: &ConnectionArgs,
    environment: &UserEnvironment,
) -> Result<(Talosconfig, PathBuf), Error> {
    let CandidatePaths { paths, lacks_home, .. } = &environment.talosconfigs;
    let there = || paths.iter().find(|path| path.exists());
    let path = connection.talosconfig.as_ref().or_else(there).ok_or_else(|| {
        if *lacks_home {
            return no_home_of_talosconfig();
        }
        let places: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        Error::Usage {
            message: format!("no talosconfig in {}", places.join(" or ")),
            hint: "change to the cluster directory, or pass a talosconfig with --talosconfig"
                .to_owned(),
        }
    })?;
    let (talosconfig, _) =
        SourceMap::default().parse(&Input::File(path.clone()), Talosconfig::parse)?;
    Ok((talosconfig, path.clone()))
}

/// The error of a talosconfig that is nowhere else, and whose usual place is not known.
pub(crate) fn no_home_of_talosconfig() -> Error {
    Error::NoHome {
        what: "the talosconfig",
        hint: "set HOME, or pass a file with --talosconfig or TALOSCONFIG",
    }
}
