//! What can be wrong with a description of a cluster.

use std::fmt;

use talos_config::Location;
use talos_config::yaml::SyntaxError;

use crate::ErrorKind;

/// Why a description was refused. Nothing has been done by then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SpecError {
    /// The text is not YAML.
    #[error("the file is not YAML")]
    Syntax(#[source] SyntaxError),
    /// It is YAML, but not a description that can be meant. There is at least one problem.
    #[error("{}", list(.0))]
    Problems(Vec<Problem>),
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// Which rule it breaks.
    pub rule: Rule,
    /// The place in the text.
    pub origin: Location,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
}

/// What a description must keep to.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    /// There is one document, and it is ours.
    Format,
    /// Every key is known.
    UnknownKey,
    /// No key stands twice.
    DuplicateKey,
    /// What has no default is given.
    MissingKey,
    /// Every value is what its key asks for.
    Value,
    /// No two machines, and no two pools, have one name.
    DuplicateName,
    /// No two machines have one address.
    DuplicateAddress,
    /// Pods, services and machines have addresses of their own.
    OverlappingNetworks,
    /// The first machine of a cluster is a control plane.
    NoControlPlane,
    /// Talos and Kubernetes are releases that we manage and that go together.
    Version,
    /// A machine has an address, or a class and a provider that makes it.
    MachineSource,
    /// A time that is given is long enough for something to happen in it.
    TooShort,
}

impl Rule {
    const ALL: [Self; 12] = [
        Self::Format,
        Self::UnknownKey,
        Self::DuplicateKey,
        Self::MissingKey,
        Self::Value,
        Self::DuplicateName,
        Self::DuplicateAddress,
        Self::OverlappingNetworks,
        Self::NoControlPlane,
        Self::Version,
        Self::MachineSource,
        Self::TooShort,
    ];

    /// Its name, which is the code of the error.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Format => "spec.format",
            Self::UnknownKey => "spec.unknown-key",
            Self::DuplicateKey => "spec.duplicate-key",
            Self::MissingKey => "spec.missing-key",
            Self::Value => "spec.value",
            Self::DuplicateName => "spec.duplicate-name",
            Self::DuplicateAddress => "spec.duplicate-address",
            Self::OverlappingNetworks => "spec.overlapping-networks",
            Self::NoControlPlane => "spec.no-control-plane",
            Self::Version => "spec.version",
            Self::MachineSource => "spec.machine-source",
            Self::TooShort => "spec.too-short",
        }
    }
}

impl SpecError {
    /// Every code, each with an entry in the reference of errors.
    pub fn codes() -> impl Iterator<Item = &'static str> {
        ["spec.syntax"].into_iter().chain(Rule::ALL.map(Rule::name))
    }

    /// The name of this kind of error; of several problems, the first one's.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax(_) => "spec.syntax",
            Self::Problems(problems) => {
                problems.first().map_or(Rule::Format, |problem| problem.rule).name()
            }
        }
    }

    /// What can be done about it: the file must be changed.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Permanent
    }

    /// The first place that the error speaks of.
    pub fn origin(&self) -> Option<Location> {
        match self {
            Self::Syntax(error) => Some(error.origin),
            Self::Problems(problems) => problems.first().map(|problem| problem.origin),
        }
    }

    /// What would be right, where there is one problem that can be told.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Problems(problems) if problems.len() == 1 => problems[0].hint.as_deref(),
            Self::Syntax(_) | Self::Problems(_) => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

fn list(problems: &[Problem]) -> String {
    if let [problem] = problems {
        return problem.message.clone();
    }
    let line = |problem: &Problem| {
        let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
        format!("\n  {}: {}{hint}", problem.origin, problem.message)
    };
    format!("{} problems{}", problems.len(), problems.iter().map(line).collect::<String>())
}
