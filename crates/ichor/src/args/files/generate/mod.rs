//! Arguments of `ichor gen`.

mod ca;
mod config;
mod crt;
mod csr;
mod key;
mod keypair;
mod kubeconfig;
mod machine;
mod schematic;
mod secrets;
mod talconfig;
mod talosconfig;

pub use ca::GenCaArgs;
pub use config::{GenConfigArgs, OutputType};
pub use crt::GenCrtArgs;
pub use csr::GenCsrArgs;
pub use key::GenKeyArgs;
pub use keypair::GenKeypairArgs;
pub use kubeconfig::GenKubeconfigArgs;
pub use machine::{EntryForm, GenMachineArgs};
pub use schematic::GenSchematicArgs;
pub use secrets::GenSecretsArgs;
pub use talconfig::GenTalconfigArgs;
pub use talosconfig::GenTalosconfigArgs;

use clap::Subcommand;

/// Verbs of `ichor gen`.
#[derive(Subcommand)]
pub enum GenCommand {
    Secrets(GenSecretsArgs),
    Config(Box<GenConfigArgs>),
    Ca(GenCaArgs),
    Key(GenKeyArgs),
    Csr(GenCsrArgs),
    Crt(GenCrtArgs),
    Keypair(GenKeypairArgs),
    Schematic(GenSchematicArgs),
    Talconfig(GenTalconfigArgs),
    Machine(Box<GenMachineArgs>),
    Talosconfig(GenTalosconfigArgs),

    /// Print the JSON Schema of ichor.yaml, for editors
    ///
    ///   ichor gen schema > ichor.schema.json
    #[command(verbatim_doc_comment)]
    Schema,

    Kubeconfig(GenKubeconfigArgs),
}
