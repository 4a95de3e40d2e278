//! Errors in the description of a cluster.

use std::borrow::Cow;

use talos_config::yaml::SyntaxError;
use talos_config::{Coded, Diagnostic, Location};

use crate::ErrorKind;

/// The refusal of a description. Nothing has been done by then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SpecError {
    /// The text is not YAML.
    #[error("the file is not YAML")]
    Syntax(#[source] SyntaxError),
    /// It is YAML, but not a description that can be meant. There is at least one problem.
    #[error("{}", list(.0))]
    Problems(Vec<Diagnostic<Location>>),
}

/// One row for each rule.
macro_rules! rules {
    ($($(#[$doc:meta])+ $rule:ident: $code:literal;)+) => {
        /// The rules of a description.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum SpecRule {
            $($(#[$doc])+ $rule,)+
        }

        impl SpecRule {
            /// Returns its name, which is the code of the error.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $code,)+
                }
            }
        }

        impl Coded for SpecError {
            const CODES: &'static [&'static str] = &[SYNTAX, $($code),+];

            /// Of several problems, the first one's.
            fn code(&self) -> &'static str {
                match self {
                    Self::Syntax(_) => SYNTAX,
                    Self::Problems(problems) => {
                        problems.first().map_or(SpecRule::Format.name(), |problem| problem.code)
                    }
                }
            }

            fn kind(&self) -> ErrorKind {
                ErrorKind::Permanent
            }

            /// The remedy, where there is one problem that has one.
            fn hint(&self) -> Option<Cow<'_, str>> {
                match self {
                    Self::Problems(problems) if problems.len() == 1 => {
                        problems[0].hint.as_deref().map(Cow::from)
                    }
                    Self::Syntax(error) => error.hint().map(Cow::from),
                    Self::Problems(_) => None,
                }
            }
        }
    };
}

rules! {
    /// There is one document, and it is ours.
    Format: "spec.format";
    /// Every key is known.
    UnknownKey: "spec.unknown-key";
    /// No key stands twice.
    DuplicateKey: "spec.duplicate-key";
    /// Every key without a default is given.
    MissingKey: "spec.missing-key";
    /// Every value is what its key asks for.
    Value: "spec.value";
    /// No two machines, and no two pools, have one name.
    DuplicateName: "spec.duplicate-name";
    /// No two machines have one address.
    DuplicateAddress: "spec.duplicate-address";
    /// Pods, services and machines have addresses of their own.
    OverlappingNetworks: "spec.overlapping-networks";
    /// The first machine of a cluster is a control plane.
    NoControlPlane: "spec.no-control-plane";
    /// Talos and Kubernetes are releases that we manage and that go together.
    Version: "spec.version";
    /// A machine has an address, or a class and a provider that makes it.
    MachineSource: "spec.machine-source";
    /// A time that is given is long enough for something to happen in it.
    TooShort: "spec.too-short";
    /// A key has an effect in this release: a warning.
    NotYet: "spec.not-yet";
}

const SYNTAX: &str = "spec.syntax";

impl SpecRule {
    /// Returns a problem. Without a line, the location is the text as a whole.
    pub fn problem(self, location: Location, message: impl Into<String>) -> Diagnostic<Location> {
        Diagnostic::error(self.name(), message).at(Some(location).filter(|at| at.line > 0))
    }
}

impl SpecError {
    /// Returns every problem, of which a text that is not YAML has one.
    pub fn diagnostics(&self) -> Vec<Diagnostic<Location>> {
        match self {
            Self::Syntax(error) => {
                let message = format!("{self}: {error}");
                let hint = error.hint().map(str::to_owned);
                vec![Diagnostic { hint, ..Diagnostic::error(SYNTAX, message).at(error.origin) }]
            }
            Self::Problems(problems) => problems.clone(),
        }
    }

    /// Returns the first place that the error speaks of.
    pub fn origin(&self) -> Option<Location> {
        match self {
            Self::Syntax(error) => Some(error.origin),
            Self::Problems(problems) => problems.first().and_then(|problem| problem.location),
        }
    }
}

fn list(problems: &[Diagnostic<Location>]) -> String {
    if let [problem] = problems {
        return problem.message.clone();
    }
    let line = |problem: &Diagnostic<Location>| {
        let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
        format!("\n  {}: {}{hint}", problem.location.unwrap_or_default(), problem.message)
    };
    format!("{} problems{}", problems.len(), problems.iter().map(line).collect::<String>())
}
