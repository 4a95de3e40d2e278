//! One file for each verb. A command takes settings, writes through the printer and gives a status.

mod certificates;
mod change;
mod completions;
mod config;
mod diff;
mod explain;
mod extensions;
pub(crate) mod generate;
mod guide;
mod lint;
mod look;
mod machine;
mod node;
mod patch;
mod schematic;
mod validate;
mod version;

pub use change::Refused;
pub use node::Failure;

use crate::printer::Printer;
use crate::settings::Settings;
use crate::{Error, ExitStatus, runtime, talhelper};

pub(crate) fn run(settings: &Settings, printer: &mut Printer) -> Result<ExitStatus, Error> {
    match settings {
        Settings::GenSecrets(settings) => generate::secrets(settings, printer),
        Settings::GenConfig(settings) => generate::config(settings, printer),
        Settings::GenCertificate { what, overwrite } => {
            certificates::run(what, *overwrite, printer)
        }
        Settings::GenSchematic { args, factories, cache } => {
            schematic::run(args, factories, cache.as_deref(), printer)
        }
        Settings::GenTalosconfig(settings) => generate::talosconfig(settings, printer),
        Settings::GenKubeconfig(settings) => generate::kubeconfig(settings, printer),
        Settings::GenSchema => printer.exactly(&plan::json_schema()),
        Settings::GenTalconfig { args, keys } => guide::run(args, keys, printer),
        Settings::GenMachine { args, surroundings } => machine::run(args, surroundings, printer),
        Settings::Extensions { args, factories, cache } => {
            extensions::run(args, factories, cache.as_deref(), printer)
        }
        Settings::Patch(settings) => patch::run(settings, printer),
        Settings::Diff { before, after, output } => diff::run(before, after, *output, printer),
        Settings::DiffLive { names, output, surroundings } => {
            runtime::run(change::diff(names, *output, surroundings, printer))
        }
        Settings::Explain { path, file, patches, output } => {
            explain::run(path, file, patches, *output, printer)
        }
        Settings::ExplainMachine { path, machine, place, output } => {
            explain::of_machine(path, machine.as_deref(), place, *output, printer)
        }
        Settings::ValidateDirectory { place, mode, strict, output } => {
            validate::directory(place, *mode, *strict, *output, printer)
        }
        Settings::Validate { files, mode, strict, output } => {
            validate::run(files, *mode, *strict, *output, printer)
        }
        Settings::Lint { args, place } => lint::run(args, place, printer),
        Settings::Change { command, surroundings } => change::run(command, surroundings, printer),
        Settings::Look { command, surroundings } => look::run(command, surroundings, printer),
        Settings::Config { args, surroundings } => config::run(args, surroundings, printer),
        Settings::Node { command, surroundings, keys } => {
            node::run(command, surroundings, keys, printer)
        }
        Settings::Version { args, surroundings } => version::run(args, surroundings, printer),
        Settings::Completions { shell } => completions::run(*shell, printer),
        Settings::Talhelper { arguments, variables } => {
            talhelper::run(arguments, variables, printer)
        }
    }
}
