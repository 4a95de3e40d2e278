//! Errors of configuration, each with its location.

use std::borrow::Cow;

use crate::yaml::SyntaxError;
use crate::{Coded, Diagnostic, Location, codes};

/// The refusal of configuration or of a patch. Nothing is changed by then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The text is not YAML.
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    /// A document is not what its kind asks for.
    #[error("{}", list(.0))]
    Document(Vec<Diagnostic<Location>>),
    /// Documents that cannot stand in one configuration.
    #[error("{message}")]
    Conflict {
        /// The documents.
        message: String,
        /// The location of the second one.
        origin: Location,
    },
    /// The text has no document.
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
        /// True if there is no operation at all, as in a patch of nothing but comments.
        empty: bool,
    },
    /// A patch that does not fit what it is applied to.
    #[error("{0}")]
    Patch(String),
}

impl Coded for Error {
    codes! {
        Self::Syntax(_) => "config.syntax", Permanent;
        Self::Document(_) => DOCUMENT, Permanent;
        Self::Conflict { .. } => "config.conflict", Permanent;
        Self::Empty => "config.empty", Permanent;
        Self::Input(_) => "generate.input", Permanent;
        Self::PatchSyntax(_) => "patch.syntax", Permanent;
        Self::SeveralDocuments { .. } | Self::Patch(_) => "patch.refused", Permanent;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Document(problems) => {
                return problems.iter().find_map(|problem| problem.hint.as_deref()).map(Cow::from);
            }
            Self::SeveralDocuments { empty: true } => "the patch is empty",
            Self::SeveralDocuments { empty: false } => {
                "write it as a strategic merge patch: partial documents"
            }
            Self::Syntax(error) => error.hint()?,
            Self::Empty => {
                "machine configuration begins with `machine:`, `cluster:` or `apiVersion:`"
            }
            Self::Conflict { .. } | Self::Input(_) | Self::PatchSyntax(_) | Self::Patch(_) => {
                return None;
            }
        };
        Some(Cow::Borrowed(hint))
    }
}

impl Error {
    /// Returns the first place that the error speaks of.
    pub fn origin(&self) -> Option<Location> {
        match self {
            Self::Syntax(error) => Some(error.origin),
            Self::Document(problems) => problems.first().and_then(|problem| problem.location),
            Self::Conflict { origin, .. } => Some(*origin),
            Self::Empty
            | Self::Input(_)
            | Self::PatchSyntax(_)
            | Self::SeveralDocuments { .. }
            | Self::Patch(_) => None,
        }
    }

    pub(crate) fn document(origin: Location, message: impl Into<String>) -> Self {
        Self::Document(vec![problem(origin, message)])
    }
}

/// Returns a problem of a document. A location without a line is none.
pub(crate) fn problem(origin: Location, message: impl Into<String>) -> Diagnostic<Location> {
    Diagnostic::error(DOCUMENT, message).at(Some(origin).filter(|at| at.line > 0))
}

const DOCUMENT: &str = "config.document";

fn list(problems: &[Diagnostic<Location>]) -> String {
    match problems {
        [problem] => problem.message.clone(),
        _ => {
            let lines = problems.iter().map(|problem| {
                format!("\n  {}: {}", problem.location.unwrap_or_default(), problem.message)
            });
            format!("{} problems{}", problems.len(), lines.collect::<String>())
        }
    }
}
