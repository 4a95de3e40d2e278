//! Errors of a talconfig and of the files it refers to.
//!
//! The text of an error begins with talhelper's words, since scripts look for it; further help is
//! in the hint.

use talos_config::{Location, Problem};

use crate::door::check::Finding;
use crate::host::FileError;

/// A reason why there is no machine configuration.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The talconfig cannot be read.
    #[error("failed to read config file: {0}")]
    Unreadable(ErrorDetail),
    /// An env file cannot be read or decrypted.
    #[error("failed to load env file: {0}")]
    EnvFile(ErrorDetail),
    /// A variable has no value, or the text is not YAML.
    #[error("failed to substitute env: {0}")]
    Substitution(ErrorDetail),
    /// The text is not YAML any more once variables are substituted.
    #[error("failed to evaluate relative paths: {0}")]
    Structure(ErrorDetail),
    /// A key has a value of another type than it should.
    #[error("failed to unmarshal config file: {0}")]
    WrongType(ErrorDetail),
    /// A file that the talconfig refers to cannot be used.
    #[error("{0}")]
    Reference(ErrorDetail),
    /// The talconfig cannot be used for one of the reasons above: in our own words, with locations.
    #[error("{}", located(file, problems))]
    Located {
        /// The talconfig.
        file: String,
        /// The code of the reason.
        code: &'static str,
        /// At least one problem.
        problems: Vec<Problem>,
    },
    /// The talconfig is invalid.
    #[error("please fix issues with your config file")]
    Invalid(Vec<Finding>),
    /// The secrets cannot be used.
    #[error("{0}")]
    Secrets(ErrorDetail),
    /// A template cannot be rendered.
    #[error("{0}")]
    Template(ErrorDetail),
    /// A patch cannot be read or applied.
    #[error("{0}")]
    Patch(ErrorDetail),
    /// The machine configuration that results cannot work.
    #[error("{0}")]
    Machine(ErrorDetail),
    /// The image factory did not give an id.
    #[error("{0}")]
    Factory(ErrorDetail),
    /// The spec that results is not one that plans can be made for.
    #[error(transparent)]
    Spec(plan::SpecError),
}

impl Error {
    /// Every code, each with an entry in the reference of errors.
    pub const CODES: &[&str] = &[
        "talconfig.env-file",
        "talconfig.factory",
        "talconfig.invalid",
        "talconfig.machine",
        "talconfig.patch",
        "talconfig.reference",
        "talconfig.secrets",
        "talconfig.shape",
        "talconfig.structure",
        "talconfig.template",
        "talconfig.unreadable",
        "talconfig.variable",
    ];

    /// Returns the stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "talconfig.unreadable",
            Self::EnvFile(_) => "talconfig.env-file",
            Self::Substitution(_) => "talconfig.variable",
            Self::Structure(_) => "talconfig.structure",
            Self::WrongType(_) => "talconfig.shape",
            Self::Reference(_) => "talconfig.reference",
            Self::Located { code, .. } => code,
            Self::Invalid(_) => "talconfig.invalid",
            Self::Secrets(_) => "talconfig.secrets",
            Self::Template(_) => "talconfig.template",
            Self::Patch(_) => "talconfig.patch",
            Self::Machine(_) => "talconfig.machine",
            Self::Factory(_) => "talconfig.factory",
            Self::Spec(error) => error.code(),
        }
    }

    /// Returns a suggestion, if there is one.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Unreadable(detail)
            | Self::EnvFile(detail)
            | Self::Substitution(detail)
            | Self::Structure(detail)
            | Self::WrongType(detail)
            | Self::Reference(detail)
            | Self::Secrets(detail)
            | Self::Template(detail)
            | Self::Patch(detail)
            | Self::Machine(detail)
            | Self::Factory(detail) => detail.hint.as_deref(),
            Self::Located { problems, .. } => {
                problems.iter().find_map(|problem| problem.hint.as_deref())
            }
            Self::Invalid(_) => None,
            Self::Spec(error) => error.hint(),
        }
    }

    /// Adds the location in a talconfig to the message.
    pub(crate) fn within(self, place: &str) -> Self {
        match self {
            Self::Template(detail) => Self::Template(detail.within(place)),
            Self::Patch(detail) => Self::Patch(detail.within(place)),
            Self::Machine(detail) => Self::Machine(detail.within(place)),
            other => other,
        }
    }
}

/// Formats problems, a line each: `talconfig.yaml:4:9: nodes[0].hostname: …`.
fn located(file: &str, problems: &[Problem]) -> String {
    let lines = problems.iter().map(|Problem { origin, message, .. }| match origin.line {
        0 => format!("{file}: {message}"),
        line => format!("{file}:{line}:{}: {message}", origin.column),
    });
    lines.collect::<Vec<_>>().join("\n  ")
}

/// Why a text is refused: in talhelper's words, which count lines of an intermediate text, and as problems with their
/// locations in the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) said: ErrorDetail,
    pub(crate) problems: Vec<Problem>,
}

impl Refusal {
    /// Creates a refusal with one problem.
    pub(crate) fn new(said: ErrorDetail, origin: Location, message: String) -> Self {
        let hint = said.hint.clone();
        Self { said, problems: vec![Problem { origin, message, hint }] }
    }
}

impl From<Refusal> for ErrorDetail {
    fn from(refusal: Refusal) -> Self {
        refusal.said
    }
}

/// A message with a suggestion.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ErrorDetail {
    /// The problem.
    pub message: String,
    /// A suggestion.
    pub hint: Option<String>,
}

impl ErrorDetail {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the file in the hint, if the message does not.
    pub(crate) fn in_file(mut self, file: &str) -> Self {
        self.hint = Some(match self.hint {
            Some(hint) => format!("{file}: {hint}"),
            None => format!("this is about {file}"),
        });
        self
    }

    /// Puts the attempted operation before the message.
    pub(crate) fn within(mut self, attempt: &str) -> Self {
        self.message = format!("{attempt}{}", self.message);
        self
    }
}

impl From<FileError> for ErrorDetail {
    fn from(error: FileError) -> Self {
        let detail = Self::new(error.to_string());
        if error.is_missing() {
            return detail.hint("a path after @ is relative to the directory of the talconfig");
        }
        detail
    }
}

impl From<String> for ErrorDetail {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for ErrorDetail {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}
