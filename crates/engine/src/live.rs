//! The real ports: machines by the Talos API, the Kubernetes API, files, the system's clock.

mod clock;
mod components;
mod kubernetes;
mod machines;
mod vault;

pub use clock::SystemClock;
pub use kubernetes::LiveKubernetes;
pub use machines::LiveMachines;
pub use vault::{FileVault, Seal};
