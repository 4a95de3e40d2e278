//! A refusal by the safety rules, as text and as data: every finding with machine, reason and hint.

use std::borrow::Cow;
use std::fmt;

use plan::{ClusterSpec, ErrorKind, Finding, MachineName, Refusal, Rule};
use serde::Serialize;
use talos_config::Coded;

use crate::json_schema::schema;

/// Findings because of which no plan is made or carried out; at least one.
#[derive(Debug, Serialize, thiserror::Error)]
pub struct RefusalReport {
    #[serde(skip)]
    code: &'static str,
    #[serde(skip)]
    effect: &'static str,
    #[serde(skip)]
    kind: ErrorKind,
    #[serde(skip)]
    hint: String,
    refused: Vec<BrokenRule>,
}

schema!(RefusalReport, plain { refused } skip { code, effect, kind, hint });

/// A rule that is broken.
#[derive(Debug, Serialize)]
struct BrokenRule {
    rule: &'static str,
    machine: Option<String>,
    address: Option<String>,
    step: Option<u32>,
    message: String,
    hint: String,
    #[serde(rename = "overridable")]
    can_be_overridden: bool,
}

schema!(BrokenRule, plain {
    rule, machine, address, step, message, hint, can_be_overridden as "overridable",
});

impl RefusalReport {
    /// `effect` says what became of the command.
    pub(crate) fn new(refusal: &Refusal, spec: &ClusterSpec, effect: &'static str) -> Self {
        let refused = refusal.findings.iter().map(|finding| BrokenRule::new(finding, spec));
        let refused: Vec<BrokenRule> = refused.collect();
        let mut hints: Vec<&str> = Vec::new();
        for BrokenRule { hint, .. } in &refused {
            if !hints.contains(&hint.as_str()) {
                hints.push(hint);
            }
        }
        let hint = hints.join("\nhint: ");
        Self { code: refusal.code(), effect, kind: refusal.kind(), hint, refused }
    }

    /// Returns the effect of the refusal on the command.
    pub(crate) fn effect(&self) -> &'static str {
        self.effect
    }

    /// The rule and the text of each finding.
    pub(crate) fn findings(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.refused.iter().map(|rule| (rule.rule, rule.to_string()))
    }
}

/// Its codes are the names of the rules.
impl Coded for RefusalReport {
    const CODES: &'static [&'static str] = &[];

    fn code(&self) -> &'static str {
        self.code
    }

    fn kind(&self) -> ErrorKind {
        self.kind
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.hint))
    }
}

impl fmt::Display for RefusalReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.refused.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("; "))
    }
}

impl BrokenRule {
    fn new(finding: &Finding, spec: &ClusterSpec) -> Self {
        let Finding { rule, step, on: _, message, hint } = finding;
        let machine = finding.machine();
        Self {
            rule: rule.name(),
            machine: machine.map(ToString::to_string),
            address: machine.and_then(|name| address(spec, name)),
            step: step.map(|step| step.0),
            message: message.clone(),
            hint: hint.clone(),
            can_be_overridden: Rule::can_be_overridden(*rule),
        }
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, address, step, message, .. } = self;
        let mut message = message.as_str();
        if let Some(machine) = machine {
            // Most messages begin with the machine, which stands in front of all of them here.
            let rest = message.strip_prefix(machine.as_str());
            message = rest.and_then(|rest| rest.strip_prefix(' ')).unwrap_or(message);
            write!(f, "{}: ", with_address(machine, address.as_deref()))?;
        }
        if let Some(step) = step {
            write!(f, "step {step}: ")?;
        }
        f.write_str(message)
    }
}

/// The address that a spec gives to a machine.
pub(super) fn address(spec: &ClusterSpec, name: &MachineName) -> Option<String> {
    let (machine, _) = spec.machines().find(|(machine, _)| machine.name == *name)?;
    machine.address().map(|address| address.to_string())
}

/// `cp-1 (10.0.0.11)`, or only the name where no address is known.
pub(super) fn with_address(name: &str, address: Option<&str>) -> String {
    address.map_or_else(|| name.to_owned(), |address| format!("{name} ({address})"))
}
