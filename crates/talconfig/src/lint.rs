//! What silently goes wrong with the files of a cluster, told before it does.
//!
//! In: the names of the files and a [`World`] that reads them. Out: remarks in the order of their places. Each
//! rule is one function; what it is called and how bad it is stands in one table.
//!
//! Always holds: nothing is changed, and a remark repeats keys, names of files and names of variables, never a
//! value, which may be a secret.

mod directory;
mod files;
mod keys;
mod machines;
mod patches;

use std::fmt;

use plan::ClusterSpec;

use crate::environment::Environment;
use crate::error::Error;
use crate::load::Talconfig;
use crate::world::World;

use directory::Directory;

/// Something that should be looked at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Remark {
    /// Where it is.
    pub place: Place,
    /// How bad it is.
    pub level: Level,
    /// Which rule says so.
    pub code: &'static str,
    /// The key of the talconfig that is refused, such as `nodes[0].hostname`, and the name of what it breaks.
    pub field: Option<(String, &'static str)>,
    /// What is the matter.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// What is written has no effect, or nothing can be made of it.
    Error,
    /// It works, and is probably not what was meant.
    Warning,
}

/// A place in a file.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, counted from one; zero where it is about the file as a whole.
    pub line: u32,
    /// The column, counted from one.
    pub column: u32,
}

/// The files of a cluster, by the names under which they are read and shown.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The file that describes the cluster.
    pub cluster: String,
    /// Where variables may be set.
    pub env_files: Vec<String>,
    /// Where secrets may be.
    pub secret_files: Vec<String>,
    /// What there is below the folder for patches.
    pub patches: Vec<String>,
}

/// Looks at a directory with a talconfig.
pub fn lint_talconfig(
    files: &Files,
    environment: &Environment,
    world: &dyn World,
) -> Result<Vec<Remark>, Error> {
    let mut environment = environment.clone();
    let loaded =
        Talconfig::open(&files.cluster, &files.env_files, &mut environment, world).map(drop);
    if let Err(error @ Error::Unreadable(_)) = loaded {
        return Err(error);
    }
    let directory = Directory::of_talconfig(files, &environment, world)?;
    let mut remarks = follow(&directory, |_| true);
    // A rule of ours has named the line of an env file that is wrong.
    let told = remarks.iter().any(|remark| remark.code == ENV_FILE);
    match loaded {
        Err(Error::EnvFile(_)) if told => {}
        Err(error) => remarks.extend(directory.refusal(&error)),
        Ok(()) => {}
    }
    Ok(in_order(remarks))
}

/// Looks only for what a talconfig says and nobody hears.
pub fn lint_ignored(
    files: &Files,
    environment: &Environment,
    world: &dyn World,
) -> Result<Vec<Remark>, Error> {
    let directory = Directory::of_talconfig(files, environment, world)?;
    Ok(in_order(follow(&directory, |rule| IGNORED.contains(&rule.code))))
}

/// Looks at a directory with a native file, as far as a rule makes sense there.
pub fn lint_native(
    files: &Files,
    spec: &ClusterSpec,
    environment: &Environment,
    world: &dyn World,
) -> Vec<Remark> {
    in_order(follow(&Directory::of_spec(files, spec, environment, world), |_| true))
}

/// Every code, each with an entry in the reference of errors.
pub fn lint_codes() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.code)
}

fn follow(directory: &Directory<'_>, is_asked: impl Fn(&Rule) -> bool) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for rule in RULES.iter().filter(|rule| is_asked(rule)) {
        let mut found = Vec::new();
        (rule.look)(directory, &mut found);
        remarks.extend(found.into_iter().map(|Found { place, message, hint }| Remark {
            place,
            level: rule.level,
            code: rule.code,
            field: None,
            message,
            hint,
        }));
    }
    remarks
}

/// What stands in one place is told once, however many machines share it.
fn in_order(mut remarks: Vec<Remark>) -> Vec<Remark> {
    remarks.sort_by(|left, right| {
        (&left.place, left.code, &left.message).cmp(&(&right.place, right.code, &right.message))
    });
    remarks.dedup_by(|next, first| next.place == first.place && next.code == first.code);
    remarks
}

/// A rule: what it is called, how bad it is, and what looks for it.
struct Rule {
    code: &'static str,
    level: Level,
    look: fn(&Directory<'_>, &mut Vec<Found>),
}

/// What a rule found.
struct Found {
    place: Place,
    message: String,
    hint: String,
}

impl Found {
    fn new(place: Place, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { place, message: message.into(), hint: hint.into() }
    }
}

impl Level {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

const ENV_FILE: &str = "lint.env-file";

/// Rules about what has no effect at all.
const IGNORED: [&str; 3] = ["lint.unknown-key", "lint.second-document", "lint.several-secrets"];

const RULES: &[Rule] = &[
    Rule { code: "lint.unknown-key", level: Level::Error, look: keys::unknown },
    Rule { code: "lint.respelt", level: Level::Error, look: keys::respelt },
    Rule { code: "lint.second-document", level: Level::Error, look: keys::second_document },
    Rule { code: "lint.no-secrets", level: Level::Error, look: files::no_secrets },
    Rule { code: "lint.several-secrets", level: Level::Warning, look: files::several_secrets },
    Rule { code: ENV_FILE, level: Level::Error, look: files::env_file },
    Rule { code: "lint.unused-variable", level: Level::Warning, look: files::unused_variable },
    Rule { code: "lint.missing-file", level: Level::Error, look: files::missing },
    Rule { code: "lint.unused-patch", level: Level::Warning, look: files::unused_patch },
    Rule { code: "lint.patch", level: Level::Error, look: patches::broken },
    Rule { code: "lint.empty-patch", level: Level::Warning, look: patches::empty },
    Rule { code: "lint.json-patch", level: Level::Error, look: patches::operations },
    Rule { code: "lint.bare-file", level: Level::Warning, look: patches::bare_file },
    Rule { code: "lint.patch-twice", level: Level::Warning, look: patches::twice },
    Rule { code: "lint.overruled", level: Level::Warning, look: patches::overruled },
    Rule { code: "lint.default-label", level: Level::Warning, look: machines::default_label },
    Rule { code: "lint.default-action", level: Level::Warning, look: machines::default_action },
    Rule { code: "lint.lost-key", level: Level::Error, look: machines::lost_key },
    Rule { code: "lint.same-machine", level: Level::Error, look: machines::same_machine },
    Rule { code: "lint.group-wins", level: Level::Warning, look: machines::group_wins },
    Rule { code: "lint.group-replaced", level: Level::Warning, look: machines::group_replaced },
    Rule { code: "lint.no-override", level: Level::Warning, look: machines::no_override },
];
