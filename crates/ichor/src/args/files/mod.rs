//! Commands that make, change and check files.

mod diff;
mod explain;
pub mod generate;
mod lint;
mod patch;
mod validate;

pub use diff::DiffArgs;
pub use explain::ExplainArgs;
pub use lint::LintArgs;
pub use patch::{Dialect, PatchArgs};
pub use validate::{MachineMode, ValidateArgs};
