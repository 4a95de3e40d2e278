//! Mistakes in the files of a cluster that have no visible effect until it is too late.
//!
//! In: the names of the files and a [`Host`] that reads them. Out: diagnostics in the order of
//! their locations. Each rule is one function; its code and its level are in one table.
//!
//! Always holds: nothing is changed, and a diagnostic repeats keys, names of files and names of
//! variables, never a value, which may be a secret.

mod directory;
mod files;
mod keys;
mod machines;
mod patches;

use plan::ClusterSpec;
use talos_config::{Diagnostic, FileLocation, Level};

use crate::door::environment::Environment;
use crate::door::load::Talconfig;
use crate::door::translate::check_cluster;
use crate::error::Error;
use crate::host::Host;

use directory::Directory;

/// The files of a cluster, by the names under which they are read and shown.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The file that describes the cluster.
    pub cluster: String,
    /// Files that may set variables.
    pub env_files: Vec<String>,
    /// Files that may hold the secrets.
    pub secret_files: Vec<String>,
    /// The files below the directory of patches.
    pub patches: Vec<String>,
}

/// Looks at a directory with a talconfig.
pub fn check_talconfig(
    files: &Files,
    environment: &Environment,
    host: &dyn Host,
) -> Result<Vec<Diagnostic>, Error> {
    let mut environment = environment.clone();
    let loaded = Talconfig::open(&files.cluster, &files.env_files, &mut environment, host);
    if let Err(error @ Error::Unreadable(_)) = loaded {
        return Err(error);
    }
    let directory = Directory::from_talconfig(files, &environment, host)?;
    let mut diagnostics = run_rules(&directory, |_| true);
    // A rule of ours has named the line of an env file that is wrong.
    let told = diagnostics.iter().any(|diagnostic| diagnostic.code == ENV_FILE);
    match loaded {
        Err(Error::EnvFile(_)) if told => {}
        Err(error) => diagnostics.extend(directory.refusal(&error)),
        Ok(talconfig) => {
            if let Err(error) = check_cluster(&talconfig) {
                let same = diagnostics.iter().any(|found| found.code == "lint.same-machine");
                let problems = directory.spec_problems(&error).into_iter();
                diagnostics
                    .extend(problems.filter(|problem| !same || !TWICE.contains(&problem.code)));
            }
        }
    }
    Ok(in_order(diagnostics))
}

/// Checks a talconfig directory only for settings without any effect.
pub fn check_ineffective(
    files: &Files,
    environment: &Environment,
    host: &dyn Host,
) -> Result<Vec<Diagnostic>, Error> {
    let directory = Directory::from_talconfig(files, environment, host)?;
    Ok(in_order(run_rules(&directory, |rule| INEFFECTIVE.contains(&rule.code))))
}

/// Looks at a directory with a native file, as far as a rule makes sense there.
pub fn check_native(
    files: &Files,
    spec: &ClusterSpec,
    environment: &Environment,
    host: &dyn Host,
) -> Vec<Diagnostic> {
    in_order(run_rules(&Directory::from_spec(files, spec, environment, host), |_| true))
}

/// Returns every code, each with an entry in the reference of errors.
pub fn codes() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.code)
}

fn run_rules(directory: &Directory<'_>, selected: impl Fn(&Rule) -> bool) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for rule in RULES.iter().filter(|rule| selected(rule)) {
        let mut found = Vec::new();
        (rule.check)(directory, &mut found);
        diagnostics.extend(found.into_iter().map(|Violation { location, message, hint }| {
            let (location, hint) = (Some(location), Some(hint));
            Diagnostic { location, level: rule.level, code: rule.code, message, hint }
        }));
    }
    diagnostics
}

/// Sorts diagnostics by their locations.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by(|left, right| {
        (&left.location, left.code, &left.message).cmp(&(
            &right.location,
            right.code,
            &right.message,
        ))
    });
    diagnostics.dedup();
    diagnostics
}

/// A rule: its code, its level and its function.
struct Rule {
    code: &'static str,
    level: Level,
    check: fn(&Directory<'_>, &mut Vec<Violation>),
}

/// The finding of one rule.
struct Violation {
    location: FileLocation,
    message: String,
    hint: String,
}

impl Violation {
    fn new(location: FileLocation, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { location, message: message.into(), hint: hint.into() }
    }
}

const ENV_FILE: &str = "lint.env-file";

/// What plans say about two machines of one name or address, where a rule of ours says it with the line.
const TWICE: [&str; 2] = ["spec.duplicate-name", "spec.duplicate-address"];

/// Rules about what has no effect at all.
const INEFFECTIVE: [&str; 3] = ["lint.unknown-key", "lint.second-document", "lint.several-secrets"];

const RULES: &[Rule] = &[
    Rule { code: "lint.unknown-key", level: Level::Error, check: keys::unknown },
    Rule { code: "lint.respelt", level: Level::Error, check: keys::respelt },
    Rule { code: "lint.second-document", level: Level::Error, check: keys::second_document },
    Rule { code: "lint.no-secrets", level: Level::Error, check: files::no_secrets },
    Rule { code: "lint.several-secrets", level: Level::Warning, check: files::several_secrets },
    Rule { code: "lint.open-secrets", level: Level::Warning, check: files::open_secrets },
    Rule { code: "lint.not-encrypted", level: Level::Error, check: files::not_encrypted },
    Rule { code: ENV_FILE, level: Level::Error, check: files::env_file },
    Rule { code: "lint.unused-variable", level: Level::Warning, check: files::unused_variable },
    Rule { code: "lint.missing-file", level: Level::Error, check: files::missing },
    Rule { code: "lint.unused-patch", level: Level::Warning, check: files::unused_patch },
    Rule { code: "lint.patch", level: Level::Error, check: patches::broken },
    Rule { code: "lint.empty-patch", level: Level::Warning, check: patches::empty },
    Rule { code: "lint.json-patch", level: Level::Error, check: patches::operations },
    Rule { code: "lint.bare-file", level: Level::Warning, check: patches::bare_file },
    Rule { code: "lint.patch-twice", level: Level::Warning, check: patches::twice },
    Rule { code: "lint.overruled", level: Level::Warning, check: patches::overruled },
    Rule { code: "lint.default-label", level: Level::Warning, check: machines::default_label },
    Rule { code: "lint.default-action", level: Level::Warning, check: machines::default_action },
    Rule { code: "lint.lost-key", level: Level::Error, check: machines::lost_key },
    Rule { code: "lint.same-machine", level: Level::Error, check: machines::same_machine },
    Rule {
        code: "lint.even-control-planes",
        level: Level::Warning,
        check: machines::even_control_planes,
    },
    Rule { code: "lint.group-wins", level: Level::Warning, check: machines::group_wins },
    Rule { code: "lint.group-replaced", level: Level::Warning, check: machines::group_replaced },
    Rule { code: "lint.no-override", level: Level::Warning, check: machines::no_override },
];
