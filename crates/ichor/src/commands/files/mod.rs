//! Commands that make, change and check files.

pub(super) mod diff;
pub(super) mod explain;
pub(crate) mod generate;
pub(super) mod lint;
pub(super) mod patch;
mod report;
pub(super) mod validate;
