//! One file for each verb. A command takes settings, writes through the printer and gives a status.

mod cluster;
mod completions;
mod config;
mod extensions;
pub(crate) mod files;
mod inspect;
mod node;
mod schemas;
mod start;
mod version;

pub use cluster::RefusalReport;
pub use node::NodeActionError;
pub use schemas::schemas;

use files::{diff, explain, generate, lint, patch, validate};

use crate::printer::Printer;
use crate::settings::Settings;
use crate::{Error, ExitStatus, talhelper};

pub(crate) fn run(settings: &Settings, printer: &mut Printer) -> Result<ExitStatus, Error> {
    match settings {
        Settings::GenSecrets(settings) => generate::secrets::run(settings, printer),
        Settings::GenAgeKey { output } => generate::age_key::run(output, printer),
        Settings::GenConfig(settings) => generate::config::run(settings, printer),
        Settings::GenCa(settings) => generate::ca::run(settings, printer),
        Settings::GenKey(settings) => generate::key::run(settings, printer),
        Settings::GenCsr(settings) => generate::csr::run(settings, printer),
        Settings::GenCrt(settings) => generate::crt::run(settings, printer),
        Settings::GenKeypair(settings) => generate::keypair::run(settings, printer),
        Settings::GenSchematic(settings) => generate::schematic::run(settings, printer),
        Settings::GenTalosconfig(settings) => generate::talosconfig::run(settings, printer),
        Settings::GenKubeconfig(settings) => generate::kubeconfig::run(settings, printer),
        Settings::GenSchema => printer.verbatim(&plan::json_schema()),
        Settings::GenTalconfig(settings) => generate::talconfig::run(settings, printer),
        Settings::GenMachine { args, environment } => {
            generate::machine::run(args, environment, printer)
        }
        Settings::GenMachines { location, output, overwrite } => {
            generate::machines::run(location, output, *overwrite, printer)
        }
        Settings::Extensions(settings) => extensions::run(settings, printer),
        Settings::Patch(settings) => patch::run(settings, printer),
        Settings::Diff { before, after, output } => diff::run(before, after, *output, printer),
        Settings::Explain { path, file, patches, output } => {
            explain::run(path, file, patches, *output, printer)
        }
        Settings::ExplainMachine { path, machine, location, output } => {
            explain::of_machine(path, machine.as_deref(), location, *output, printer)
        }
        Settings::ValidateDirectory { location, mode, strict, output } => {
            validate::directory(location, *mode, *strict, *output, printer)
        }
        Settings::Validate { files, mode, strict, output } => {
            validate::run(files, *mode, *strict, *output, printer)
        }
        Settings::Lint(settings) => lint::run(settings, printer),
        Settings::Init(settings) => start::init(settings, printer),
        Settings::Import(settings) => start::import(settings, printer),
        Settings::Cluster(settings) => cluster::run(settings, printer),
        Settings::Inspect { command, environment } => inspect::run(command, environment, printer),
        Settings::Config { args, environment } => config::run(args, environment, printer),
        Settings::Node { command, environment, keys } => {
            node::run(command, environment, keys, printer)
        }
        Settings::Version { args, environment } => version::run(args, environment, printer),
        Settings::Completions { shell, words, location } => {
            completions::run(*shell, words, location, printer)
        }
        Settings::Talhelper { arguments, variables } => {
            talhelper::run(arguments, variables, printer)
        }
    }
}
