//! YAML as Talos reads and writes it.
//!
//! Talos is a Go program, and its YAML library has its own opinion about what a plain `yes`, `012` or
//! `2001-01-01` is, when a string needs quotes, and how deep a list is indented. Text goes in, a tree of
//! [`Node`]s with places comes out ([`parse`]); what a scalar means is decided later, by the type that is asked for
//! ([`resolve`]); a [`Value`](crate::Value) goes back to text ([`emit`]) byte for byte as Talos would.
//!
//! Always holds: no input makes it panic, run out of stack or use memory out of proportion; every error
//! has a line and a column.

mod cursor;
mod emit;
mod go_yaml_v3;
mod node;
mod parse;
mod resolve;
mod scalar;

pub use crate::natural_order::compare as compare_keys;
pub(crate) use emit::emit_folded;
pub use emit::{Dialect, Tree, emit, float};
pub use go_yaml_v3::rewrite;
pub use node::{Comment, Content, Document, Node, Properties, Style};
pub use parse::{Limits, parse};
pub(crate) use resolve::{BINARY_TAG, CORE_TAG};
pub use resolve::{Resolved, old_boolean, resolve, resolve_node};

use crate::error::Error;
use crate::{Location, SourceId};

/// The error of a text that is not YAML, or not YAML that we accept.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct SyntaxError {
    /// The problem, in the words that users know from Talos.
    pub problem: String,
    /// The location.
    pub origin: Location,
}

impl SyntaxError {
    /// Returns the remedy, where there is one.
    pub fn hint(&self) -> Option<&'static str> {
        if self.problem.contains("cannot start any token") {
            Some("indent with spaces, and quote text that begins with @, % or a back-tick")
        } else if self.problem.contains("tab character") {
            Some("indent with spaces")
        } else {
            None
        }
    }
}

/// Returns the content of the first document: all that is read of files that are not configuration.
pub(crate) fn first_document(text: &str, source: SourceId) -> Result<Node, Error> {
    let documents = parse(text, source, Limits::default())?;
    documents.into_iter().next().map(|document| document.root).ok_or(Error::Empty)
}
