//! The plan file: a format version, the hash, and the plan, as JSON that people can read and sign.
//!
//! Loading gives a draft: checks and approval are repeated. A file whose plan is not the one that its hash
//! is of was edited, and is refused.

use std::borrow::Cow;

use domain::Digest;
use serde::{Deserialize, Serialize};
use talos_config::{Coded, codes};

use crate::plan::{Body, Draft, Plan};

/// The error of reading a plan file.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It is not what it should be.
    #[error("cannot read the plan")]
    Syntax(#[source] serde_json::Error),
    /// It is in a format that we do not know.
    #[error("the plan has the format {0:?}, and this release reads {FORMAT:?}")]
    Format(String),
    /// It says something else than when it was written.
    #[error("the plan was edited: it is {} now, and was written as {}", .found.short(), .written.short())]
    Edited {
        /// The hash in the file.
        written: Digest,
        /// The hash of what the file says.
        found: Digest,
    },
}

impl Coded for PlanFileError {
    codes! {
        Self::Syntax(_) => "plan.syntax", Permanent;
        Self::Format(_) => "plan.format", Permanent;
        Self::Edited { .. } => "plan.edited", Permanent;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Syntax(_) | Self::Edited { .. } => "make a new plan with `ichor plan`",
            Self::Format(_) => "use the release of Ichor that wrote it, or make a new plan",
        }))
    }
}

impl<State> Plan<State> {
    /// Returns the text of a plan file.
    pub fn encode(&self) -> String {
        let file = File { format: FORMAT, hash: self.hash(), plan: self.body() };
        // Maps have texts for keys, so writing cannot fail.
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }
}

impl Plan<Draft> {
    /// Reads a plan file.
    pub fn decode(text: &str) -> Result<Self, PlanFileError> {
        let head: Head = serde_json::from_str(text).map_err(PlanFileError::Syntax)?;
        if !head.format.starts_with(FAMILY) {
            let problem = format!("{:?} is not the format of a plan", head.format);
            return Err(PlanFileError::Syntax(serde::de::Error::custom(problem)));
        }
        if head.format != FORMAT {
            return Err(PlanFileError::Format(head.format));
        }
        let file: Loaded = serde_json::from_str(text).map_err(PlanFileError::Syntax)?;
        let plan = Self::draft(file.plan);
        if plan.hash() == file.hash {
            Ok(plan)
        } else {
            Err(PlanFileError::Edited { written: file.hash, found: plan.hash() })
        }
    }
}

#[derive(Serialize)]
struct File<'a> {
    format: &'a str,
    hash: Digest,
    plan: &'a Body,
}

#[derive(Deserialize)]
struct Head {
    format: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Loaded {
    #[serde(rename = "format")]
    _format: String,
    hash: Digest,
    plan: Body,
}

/// What the formats of all releases begin with.
const FAMILY: &str = "ichor-plan/";
const FORMAT: &str = "ichor-plan/v2";
