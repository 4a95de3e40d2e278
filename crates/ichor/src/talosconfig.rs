//! The talosconfig of a command: where it is, and the context that is meant.

use std::path::{Path, PathBuf};

use talos_config::{Context, Talosconfig};

use crate::Error;
use crate::args::ConnectionArgs;
use crate::directory::{self, NO_SECRETS};
use crate::settings::{CandidatePaths, Input, UserEnvironment};
use crate::sources::SourceMap;

/// The context that is meant.
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
    let CandidatePaths { paths, are_named, lacks_home: _ } = &environment.talosconfigs;
    let is_named = connection.talosconfig.is_some() || connection.context.is_some();
    if is_named || *are_named || directory::talosconfig().is_some() {
        return Ok(None);
    }
    match directory::signed_context(&environment.location) {
        Err(error) if error.code() == NO_SECRETS && paths.iter().any(|path| path.exists()) => {
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

/// A talosconfig has no such context.
pub(crate) fn no_context(name: &str, path: &Path) -> Error {
    Error::Usage {
        message: if name.is_empty() {
            format!("{} has no current context", path.display())
        } else {
            format!("{} has no context {name:?}", path.display())
        },
        hint: "`ichor config contexts` shows those that there are".to_owned(),
    }
}

/// The talosconfig that is meant, and where it is.
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
            message: format!("there is no talosconfig in {}", places.join(" or ")),
            hint: "change to the cluster's directory, or name a talosconfig with --talosconfig"
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
        hint: "set HOME; --talosconfig or TALOSCONFIG names a file elsewhere",
    }
}
