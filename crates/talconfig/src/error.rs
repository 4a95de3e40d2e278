//! Errors of a talconfig and of the files it refers to.
//!
//! The text of an error begins with talhelper's words, since scripts look for it; further help is
//! in the hint.

use std::borrow::Cow;

use talos_config::{Coded, Diagnostic, ErrorKind, FileLocation, Location, codes};

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
    /// The talconfig cannot be used for one of the other reasons: in our own words, with locations.
    #[error(transparent)]
    Located(LocatedError),
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

impl Coded for Error {
    codes! {
        from Self::Located, Self::Spec;
        Self::Unreadable(_) => "talconfig.unreadable", Permanent;
        Self::EnvFile(_) => "talconfig.env-file", Permanent;
        Self::Substitution(_) => "talconfig.variable", Permanent;
        Self::Structure(_) => "talconfig.structure", Permanent;
        Self::WrongType(_) => "talconfig.shape", Permanent;
        Self::Reference(_) => "talconfig.reference", Permanent;
        Self::Invalid(_) => Self::INVALID, Permanent;
        Self::Secrets(_) => "talconfig.secrets", Permanent;
        Self::Template(_) => "talconfig.template", Permanent;
        Self::Patch(_) => Self::PATCH, Permanent;
        Self::Machine(_) => "talconfig.machine", Permanent;
        Self::Factory(_) => "talconfig.factory", Permanent;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
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
            | Self::Factory(detail) => detail.hint.as_deref().map(Cow::from),
            Self::Located(error) => error.hint(),
            Self::Invalid(_) => None,
            Self::Spec(error) => error.hint(),
        }
    }
}

impl Error {
    /// The code of each finding of [`Error::Invalid`].
    pub const INVALID: &'static str = "talconfig.invalid";
    pub(crate) const PATCH: &'static str = "talconfig.patch";

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

/// Problems of a file, with locations.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", located(problems))]
pub struct LocatedError {
    code: &'static str,
    /// At least one problem.
    pub problems: Vec<Diagnostic>,
}

impl LocatedError {
    pub(crate) fn new(file: &str, code: &'static str, problems: Vec<Diagnostic<Location>>) -> Self {
        let located = |problem: Diagnostic<Location>| {
            let Location { line, column, .. } = problem.location.unwrap_or_default();
            let location = FileLocation { file: file.to_owned(), line, column };
            Diagnostic { code, ..problem.in_file(|_| None) }.at(location)
        };
        Self { code, problems: problems.into_iter().map(located).collect() }
    }
}

/// Its codes are those of the reasons.
impl Coded for LocatedError {
    const CODES: &'static [&'static str] = &[];

    fn code(&self) -> &'static str {
        self.code
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Permanent
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        self.problems.iter().find_map(|problem| problem.hint.as_deref()).map(Cow::from)
    }
}

/// Formats problems, a line each: `talconfig.yaml:4:9: nodes[0].hostname: …`.
fn located(problems: &[Diagnostic]) -> String {
    let lines = problems.iter().map(|problem| match &problem.location {
        Some(location) => format!("{location}: {}", problem.message),
        None => problem.message.clone(),
    });
    lines.collect::<Vec<_>>().join("\n  ")
}

/// Returns a problem of a talconfig, whose code follows from what is refused.
pub(crate) fn problem(
    origin: Location,
    message: String,
    hint: Option<String>,
) -> Diagnostic<Location> {
    Diagnostic { hint, ..Diagnostic::error(Error::INVALID, message).at(origin) }
}

/// Why a text is refused: in talhelper's words, which count lines of an intermediate text, and as problems with their
/// locations in the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) said: ErrorDetail,
    pub(crate) problems: Vec<Diagnostic<Location>>,
}

impl Refusal {
    /// Creates a refusal with one problem.
    pub(crate) fn new(said: ErrorDetail, origin: Location, message: String) -> Self {
        let hint = said.hint.clone();
        Self { said, problems: vec![problem(origin, message, hint)] }
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
