//! The real ports: machines by the Talos API, the Kubernetes API, files, the system's clock.

mod clock;
mod components;
mod credentials;
mod entropy;
mod kubernetes;
mod machines;
mod vault;

pub use clock::SystemClock;
pub use credentials::{CREDENTIALS_BACKDATED, CREDENTIALS_LAST, Mint};
pub use entropy::SystemEntropy;
pub use kubernetes::LiveKubernetes;
pub use machines::LiveMachines;
pub use vault::{FileVault, Seal};
