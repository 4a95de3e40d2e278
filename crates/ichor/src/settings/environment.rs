//! The environment of the user: the one place that reads it.

use std::ffi::OsString;
use std::path::PathBuf;

use talconfig::Environment;

use crate::directory;
use crate::sops_files::SopsKeys;

/// The environment of the user. Variables may hold keys, so it has no `Debug`.
#[derive(Clone)]
pub(crate) struct UserEnvironment {
    /// The named cluster directory, or the one around the working directory.
    pub(crate) location: ClusterLocation,
    /// Candidates for the talosconfig.
    pub(crate) talosconfigs: CandidatePaths,
    /// A command without -n is for all machines of the cluster's directory. Never so for one that acts on machines.
    pub(crate) takes_all: bool,
    /// The kubeconfigs that kubectl would use.
    pub(crate) kubeconfigs: CandidatePaths,
    /// Folder of the audit log outside of cluster directories; `None` if the environment does not define it.
    pub(crate) state: Option<PathBuf>,
    /// User name for the audit log.
    pub(crate) user: String,
    /// The command that opens a file for editing.
    pub(crate) editor: OsString,
    /// Folder of files that end with the session, and are never on a disk; `None` if there is none.
    pub(crate) runtime: Option<PathBuf>,
}

impl UserEnvironment {
    pub(super) fn resolve() -> Self {
        Self::of(ClusterLocation::resolve(None))
    }

    /// For a command that acts on machines: without a name it is for none of the directory's.
    pub(crate) fn for_actions(&self) -> Self {
        Self { takes_all: false, ..self.clone() }
    }

    pub(super) fn of(location: ClusterLocation) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        // What is below a home that is not set would be below the working directory.
        let home = variable("HOME").map(PathBuf::from);
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let lacks_home = home.is_none();
        let talosconfigs = match variable("TALOSCONFIG") {
            Some(path) => CandidatePaths::named([path.into()]),
            None => {
                let found = directory::talosconfig().into_iter();
                let usual = found.chain(below_home(".talos/config"));
                CandidatePaths {
                    paths: usual.chain([PathBuf::from(SERVICE_ACCOUNT)]).collect(),
                    are_named: false,
                    lacks_home,
                }
            }
        };
        let kubeconfigs = match variable("KUBECONFIG") {
            Some(paths) => CandidatePaths::named(std::env::split_paths(&paths)),
            None => CandidatePaths {
                paths: below_home(".kube/config").into_iter().collect(),
                are_named: false,
                lacks_home,
            },
        };
        let state = variable("XDG_STATE_HOME").map(PathBuf::from);
        let state = state.or_else(|| below_home(".local/state"));
        let named = ["SUDO_USER", "USER", "LOGNAME"].into_iter().find_map(variable);
        let user = named.map_or_else(number_of_user, |name| name.to_string_lossy().into_owned());
        let state = state.map(|folder| folder.join("ichor"));
        let editor = ["TALOS_EDITOR", "EDITOR"].into_iter().find_map(variable);
        let editor = editor.unwrap_or_else(|| "vi".into());
        let runtime = variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir());
        Self { location, talosconfigs, takes_all: true, kubeconfigs, state, user, editor, runtime }
    }
}

/// Places of a file, in the order in which they are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidatePaths {
    pub(crate) paths: Vec<PathBuf>,
    /// A variable of the environment names them, so that no other place is meant.
    pub(crate) are_named: bool,
    /// The usual place is not among them: it is below the home directory, and HOME is not set.
    pub(crate) lacks_home: bool,
}

impl CandidatePaths {
    fn named(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { paths: paths.into_iter().collect(), are_named: true, lacks_home: false }
    }
}

/// Where a cluster is described.
#[derive(Clone, Default)]
pub(crate) struct ClusterLocation {
    /// The directory; the nearest one upward when it is not named.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) keys: SopsKeys,
    /// All variables: a talconfig may refer to any of them.
    pub(crate) variables: Vec<(String, String)>,
}

impl ClusterLocation {
    pub(super) fn resolve(directory: Option<PathBuf>) -> Self {
        let keys = keys().in_repository_of(directory.as_deref());
        Self { directory, keys, variables: variables() }
    }

    /// The value of a variable.
    pub(crate) fn variable(&self) -> impl Fn(&str) -> Option<OsString> {
        |name| {
            let found = self.variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| OsString::from(value))
        }
    }

    /// The variables, for a talconfig.
    pub(crate) fn environment(&self) -> Environment {
        self.variables.iter().cloned().collect()
    }
}

/// The place of what can be asked for again; none where the environment names no place. The working directory is not
/// one: its author would choose what is known.
pub(crate) fn cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || path("HOME").map(|home| home.join(".cache"));
    path("XDG_CACHE_HOME").or_else(home).map(|folder| folder.join("ichor"))
}

/// The certificates that are trusted instead of those of the operating system.
pub(crate) fn trusted(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    variable("SSL_CERT_FILE").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the width of lines that the user wants, in characters.
pub(crate) fn columns() -> Option<usize> {
    variable("COLUMNS")?.to_str()?.parse().ok().filter(|columns| *columns > 0)
}

/// Returns the filter of log lines.
pub(crate) fn log_filter() -> Option<String> {
    variable("ICHOR_LOG").map(|filter| filter.to_string_lossy().into_owned())
}

/// Reads the keys of encrypted files from the environment, and from the repository of the working directory.
pub(super) fn keys() -> SopsKeys {
    SopsKeys::resolve(variable).in_repository_of(None)
}

/// All variables that are text: a talconfig may refer to any of them.
pub(super) fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

#[expect(clippy::disallowed_methods, reason = "here is where the environment is read")]
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Returns a name for the current user id.
fn number_of_user() -> String {
    use std::os::unix::fs::MetadataExt;
    let number = fs_err::metadata("/proc/self").map(|metadata| metadata.uid());
    number.map_or_else(|_| "somebody".to_owned(), |number| format!("user {number}"))
}

/// Talosconfig that Talos mounts into pods.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/talos.dev/config";
