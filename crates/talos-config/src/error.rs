//! What can be wrong with configuration, said with its place.

use crate::Location;
use crate::yaml::SyntaxError;

/// Why configuration or a patch was refused. Nothing is changed by then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The text is not YAML.
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    /// A document is not what its kind asks for.
    #[error("{}", list(.0))]
    Document(Vec<Problem>),
    /// Documents that cannot stand in one configuration.
    #[error("{message}")]
    Conflict {
        /// Which ones.
        message: String,
        /// Where the second one is.
        origin: Location,
    },
    /// There is no document at all.
    #[error("config not found")]
    Empty,
    /// A patch that is neither documents nor a list of operations.
    #[error("{0}")]
    PatchSyntax(String),
    /// Something that configuration was to be generated from.
    #[error("{0}")]
    Input(String),
    /// Operations on a configuration of several documents.
    #[error("JSON6902 patches are not supported for multi-document machine configuration")]
    SeveralDocuments {
        /// Whether there is no operation at all, as in a patch of nothing but comments.
        empty: bool,
    },
    /// A patch that does not fit what it is applied to.
    #[error("{0}")]
    Patch(String),
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The place in the text.
    pub origin: Location,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
}

impl Error {
    /// Every code, each with an entry in the reference of errors.
    pub const CODES: &[&str] = &[
        "config.syntax",
        "config.document",
        "config.conflict",
        "config.empty",
        "generate.input",
        "patch.syntax",
        "patch.refused",
    ];

    /// The name of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax(_) => "config.syntax",
            Self::Document(_) => "config.document",
            Self::Conflict { .. } => "config.conflict",
            Self::Empty => "config.empty",
            Self::Input(_) => "generate.input",
            Self::PatchSyntax(_) => "patch.syntax",
            Self::SeveralDocuments { .. } | Self::Patch(_) => "patch.refused",
        }
    }

    /// The first place that the error speaks of.
    pub fn origin(&self) -> Option<Location> {
        match self {
            Self::Syntax(error) => Some(error.origin),
            Self::Document(problems) => problems.first().map(|problem| problem.origin),
            Self::Conflict { origin, .. } => Some(*origin),
            Self::Empty
            | Self::Input(_)
            | Self::PatchSyntax(_)
            | Self::SeveralDocuments { .. }
            | Self::Patch(_) => None,
        }
    }

    /// What would be right, where that can be told.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Document(problems) => problems.iter().find_map(|problem| problem.hint.as_deref()),
            Self::SeveralDocuments { empty: true } => Some("the patch is empty"),
            Self::SeveralDocuments { empty: false } => {
                Some("write it as a strategic merge patch: partial documents")
            }
            Self::Syntax(error) if error.problem.contains("cannot start any token") => {
                Some("indent with spaces, and quote text that begins with @, % or a back-tick")
            }
            Self::Empty => {
                Some("machine configuration begins with `machine:`, `cluster:` or `apiVersion:`")
            }
            _ => None,
        }
    }

    pub(crate) fn document(origin: Location, message: impl Into<String>) -> Self {
        Self::Document(vec![Problem { origin, message: message.into(), hint: None }])
    }
}

fn list(problems: &[Problem]) -> String {
    match problems {
        [problem] => problem.message.clone(),
        _ => {
            let lines = problems
                .iter()
                .map(|problem| format!("\n  {}: {}", problem.origin, problem.message));
            format!("{} problems{}", problems.len(), lines.collect::<String>())
        }
    }
}
