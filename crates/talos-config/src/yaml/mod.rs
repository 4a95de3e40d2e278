//! YAML as Talos reads and writes it.
//!
//! Talos is a Go program, and its YAML library has its own opinion about what a plain `yes`, `012` or
//! `2001-01-01` is, when a string needs quotes, and how deep a list is indented. Text goes in, a tree of
//! [`Node`]s with places comes out ([`parse`]); what a scalar means is decided later, by who asks
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

/// Why text is not YAML, or not YAML that we accept.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct SyntaxError {
    /// What is wrong, in the words that users know from Talos.
    pub problem: String,
    /// Where it is.
    pub origin: Location,
}

/// The content of the first document: all that is read of files that are no configuration.
pub(crate) fn first_document(text: &str, source: SourceId) -> Result<Node, Error> {
    let documents = parse(text, source, Limits::default())?;
    documents.into_iter().next().map(|document| document.root).ok_or(Error::Empty)
}
