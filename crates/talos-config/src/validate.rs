//! Validation of a configuration: the rules of talosctl's `validate`, in its order and its words, and some that are
//! ours.
//!
//! A rule looks at a [`Cursor`] of a document and notes what is wrong with it. Rules of Talos decide
//! whether a configuration is valid; ours are warnings that have a code, and never change the verdict.

mod certificates;
mod conflicts;
mod container;
mod cross_document;
mod cursor;
mod devices;
mod go_compat;
mod image;
mod kubernetes;
mod labels;
mod network;
mod oci;
mod own_checks;
pub mod rules;
mod storage;
mod system;
mod v1alpha1;

use crate::{Config, Diagnostic, Document, Level, Location, code_table};

use cursor::Cursor;

/// The platform of a configuration.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// On a machine that Talos is installed to.
    Metal,
    /// On a machine of a cloud, which boots an image that has Talos already.
    Cloud,
    /// In a container.
    Container,
    /// On a machine that only shows what it has.
    MetalAgent,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Metal, Self::Cloud, Self::Container, Self::MetalAgent];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metal => "metal",
            Self::Cloud => "cloud",
            Self::Container => "container",
            Self::MetalAgent => "metal-agent",
        }
    }

    /// Returns the mode of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// The findings of validation.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Validation {
    /// The findings that make the configuration invalid.
    pub errors: Vec<Finding>,
    /// The findings that do not, but should be looked at.
    pub warnings: Vec<Finding>,
}

/// One thing that is wrong or questionable, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The document that it is about; none for what is about several.
    pub document: Option<String>,
    /// The problem, in talosctl's words where the rule is Talos'. With `strict` a warning can be among the errors.
    pub problem: Diagnostic<Location>,
}

impl Finding {
    /// Returns an error in the words of Talos that no text has a location for.
    pub fn error(document: &str, message: &str) -> Self {
        Self { document: Some(document.to_owned()), problem: Diagnostic::error(INVALID, message) }
    }

    /// Returns whether the rule is one of Talos, and not one of ours.
    pub fn is_of_talos(&self) -> bool {
        [INVALID, WARNING].contains(&self.problem.code)
    }

    fn text(&self) -> String {
        let mark = if self.problem.level == Level::Warning { "warning: " } else { "" };
        format!("{mark}{}", self.problem.message)
    }

    /// Returns the message, with the document in front.
    pub fn message(&self) -> String {
        let message = self.problem.message.trim_end();
        match &self.document {
            Some(document) => format!("{document}: {message}"),
            None => message.to_owned(),
        }
    }
}

code_table! {
    pub(crate) CODES;
    INVALID = "config.invalid";
    WARNING = "config.warning";
}

impl Validation {
    /// The codes of rules, each with an entry in the reference of errors: Talos' rules share two, each of ours has its own.
    pub const CODES: [&'static [&'static str]; 2] = [CODES, own_checks::CODES];

    /// Returns the errors as talosctl prints them: a list of documents, with the errors of each below it.
    pub fn text(&self) -> String {
        let mut errors = self.errors.as_slice();
        let mut items = Vec::new();
        while let Some(first) = errors.first() {
            let Some(document) = &first.document else {
                items.push(first.text());
                errors = &errors[1..];
                continue;
            };
            let same = errors.iter().take_while(|error| error.document == first.document).count();
            let messages: Vec<String> = errors[..same].iter().map(Finding::text).collect();
            let inner = if document == V1ALPHA1 { list(&messages) } else { messages.join("\n") };
            items.push(format!("{document}: {inner}"));
            errors = &errors[same..];
        }
        list(&items)
    }
}

/// Returns a list of errors as Go's multierror writes it.
fn list(errors: &[String]) -> String {
    let head = match errors.len() {
        1 => "1 error occurred:".to_owned(),
        count => format!("{count} errors occurred:"),
    };
    format!("{head}\n\t* {}\n\n", errors.join("\n\t* "))
}

const V1ALPHA1: &str = "v1alpha1.Config";

impl Config {
    /// Looks for what is wrong. `strict` makes errors of the warnings about the oldest document.
    pub fn validate(&self, mode: Mode, strict: bool) -> Validation {
        let mut validation = Validation::default();
        let legacy = self.documents().iter().find(|document| document.is_v1alpha1());
        if let Some(document) = legacy {
            let mut findings = Findings::new(Some(V1ALPHA1.to_owned()));
            v1alpha1::check(Cursor::root(document), mode, &mut findings);
            if strict {
                findings.warnings_are_errors();
            }
            findings.move_to(&mut validation);
        }
        for document in self.documents().iter().filter(|document| !document.is_v1alpha1()) {
            let id = if document.kind.named {
                format!("{}/{}", document.kind.name, document.name())
            } else {
                document.kind.name.to_owned()
            };
            let mut findings = Findings::new(Some(id));
            let known = check_document(document, &mut findings);
            debug_assert!(
                known || UNCHECKED.contains(&document.kind.name),
                "{}",
                document.kind.name
            );
            findings.move_to(&mut validation);
        }
        let mut findings = Findings::new(None);
        if let Some(legacy) = legacy {
            conflicts::check(self, Cursor::root(legacy), &mut findings);
        }
        cross_document::check(self, mode, &mut findings);
        own_checks::check(self, &mut findings);
        findings.move_to(&mut validation);
        validation
    }
}

/// Applies the rules of a document's kind; false when there are none.
fn check_document(document: &Document, findings: &mut Findings) -> bool {
    let (kind, cursor) = (document.kind.name, Cursor::root(document));
    network::check(kind, cursor, findings)
        || storage::check(kind, cursor, findings)
        || kubernetes::check(kind, cursor, findings)
        || system::check(kind, cursor, findings)
}

/// Kinds that Talos has no rules for.
const UNCHECKED: &[&str] = &[
    "ImageCacheConfig",
    "KubeAuditPolicyConfig",
    "KubeAuthenticationConfig",
    "KubeCoreDNSConfig",
    "KubeCredentialProviderConfig",
    "KubeSpanEndpointsConfig",
    "NetworkDefaultActionConfig",
    "PCIDriverRebindConfig",
    "SecurityProfileConfig",
    "TrustedRootsConfig",
    "UdevRulesConfig",
];

/// The findings in one document.
struct Findings {
    document: Option<String>,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
}

impl Findings {
    fn new(document: Option<String>) -> Self {
        Self { document, errors: Vec::new(), warnings: Vec::new() }
    }

    fn error(&mut self, cursor: Cursor<'_>, message: impl Into<String>) {
        let finding = self.finding(cursor, Diagnostic::error(INVALID, message));
        self.errors.push(finding);
    }

    fn warn(&mut self, cursor: Cursor<'_>, message: impl Into<String>) {
        self.note(cursor, WARNING, message);
    }

    /// A rule of ours.
    fn note(&mut self, cursor: Cursor<'_>, code: &'static str, message: impl Into<String>) {
        let finding = self.finding(cursor, Diagnostic::warning(code, message));
        self.warnings.push(finding);
    }

    /// Notes an error when a text is not set.
    fn require(&mut self, cursor: Cursor<'_>, message: &str) {
        if cursor.text().is_empty() {
            self.error(cursor, message);
        }
    }

    fn not_negative(&mut self, duration: Cursor<'_>, message: impl Into<String>) {
        if duration.duration() < 0 {
            self.error(duration, message);
        }
    }

    fn finding(&self, cursor: Cursor<'_>, problem: Diagnostic<Location>) -> Finding {
        let location = Some(cursor.origin()).filter(|at| at.line > 0);
        Finding { document: self.document.clone(), problem: problem.at(location) }
    }

    fn warnings_are_errors(&mut self) {
        self.errors.append(&mut self.warnings);
    }

    fn move_to(self, validation: &mut Validation) {
        validation.errors.extend(self.errors);
        validation.warnings.extend(self.warnings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;

    #[test]
    fn every_kind_has_rules_or_is_known_to_have_none() {
        for kind in kinds::ALL.iter().filter(|kind| **kind != kinds::V1ALPHA1) {
            let text = format!("apiVersion: v1alpha1\nkind: {}\n", kind.name);
            let Ok(config) = Config::parse(&text, crate::SourceId(1)) else { continue };
            let validation = config.validate(Mode::Metal, false);
            let mut findings = Findings::new(None);
            let known = check_document(&config.documents()[0], &mut findings);
            assert_ne!(known, UNCHECKED.contains(&kind.name), "{}", kind.name);
            assert!(known || findings.errors.is_empty(), "{}", validation.text());
        }
    }
}
