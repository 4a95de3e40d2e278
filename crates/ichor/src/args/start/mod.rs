//! Commands that create the directory of a cluster.

mod import;
mod init;

pub use import::ImportArgs;
pub use init::InitArgs;
