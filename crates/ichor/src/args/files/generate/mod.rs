//! Arguments of `ichor gen`.

mod age_key;
mod ca;
mod config;
mod crt;
mod csr;
mod key;
mod keypair;
mod kubeconfig;
mod machine;
mod machines;
mod schematic;
mod secrets;
mod talconfig;
mod talosconfig;

pub use age_key::GenAgeKeyArgs;
pub use ca::GenCaArgs;
pub use config::{GenConfigArgs, OutputType};
pub use crt::GenCrtArgs;
pub use csr::GenCsrArgs;
pub use key::GenKeyArgs;
pub use keypair::GenKeypairArgs;
pub use kubeconfig::GenKubeconfigArgs;
pub use machine::{EntryForm, GenMachineArgs};
pub use machines::GenMachinesArgs;
pub use schematic::GenSchematicArgs;
pub use secrets::GenSecretsArgs;
pub use talconfig::GenTalconfigArgs;
pub use talosconfig::GenTalosconfigArgs;

use clap::Subcommand;

/// Verbs of `ichor gen`.
#[derive(Subcommand)]
pub enum GenCommand {
    Secrets(GenSecretsArgs),
    AgeKey(GenAgeKeyArgs),
    Config(Box<GenConfigArgs>),
    Ca(GenCaArgs),
    Key(GenKeyArgs),
    Csr(GenCsrArgs),
    Crt(GenCrtArgs),
    Keypair(GenKeypairArgs),
    Schematic(GenSchematicArgs),
    Talconfig(GenTalconfigArgs),
    Machine(Box<GenMachineArgs>),
    Machines(GenMachinesArgs),
    Talosconfig(GenTalosconfigArgs),

    /// Print the JSON Schema of ichor.yaml, for editors
    ///
    ///   ichor gen schema > ichor.schema.json
    #[command(verbatim_doc_comment)]
    Schema,

    Kubeconfig(GenKubeconfigArgs),
}
