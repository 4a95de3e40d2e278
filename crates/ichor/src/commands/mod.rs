//! One file for each verb. A command takes settings, writes through the printer and gives a status.

mod cluster;
mod completions;
mod config;
mod extensions;
pub(crate) mod files;
mod inspect;
mod node;
mod start;
mod version;

pub use cluster::Refused;
pub use node::Failure;

use files::{diff, explain, generate, lint, patch, validate};

use crate::printer::Printer;
use crate::settings::Settings;
use crate::{Error, ExitStatus, runtime, talhelper};

pub(crate) fn run(settings: &Settings, printer: &mut Printer) -> Result<ExitStatus, Error> {
    match settings {
        Settings::GenSecrets(settings) => generate::secrets(settings, printer),
        Settings::GenConfig(settings) => generate::config(settings, printer),
        Settings::GenCertificate { what, overwrite } => {
            generate::certificates::run(what, *overwrite, printer)
        }
        Settings::GenSchematic { args, factories, cache } => {
            generate::schematic::run(args, factories, cache.as_deref(), printer)
        }
        Settings::GenTalosconfig(settings) => generate::talosconfig(settings, printer),
        Settings::GenKubeconfig(settings) => generate::kubeconfig(settings, printer),
        Settings::GenSchema => printer.exactly(&plan::json_schema()),
        Settings::GenTalconfig { args, keys } => generate::talconfig::run(args, keys, printer),
        Settings::GenMachine { args, surroundings } => {
            generate::machine::run(args, surroundings, printer)
        }
        Settings::Extensions { args, factories, cache } => {
            extensions::run(args, factories, cache.as_deref(), printer)
        }
        Settings::Patch(settings) => patch::run(settings, printer),
        Settings::Diff { before, after, output } => diff::run(before, after, *output, printer),
        Settings::DiffLive { names, output, surroundings } => {
            runtime::run(cluster::diff(names, *output, surroundings, printer))
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
        Settings::Init { args, surroundings } => start::init(args, surroundings, printer),
        Settings::Import { args, surroundings } => start::import(args, surroundings, printer),
        Settings::Cluster { command, surroundings } => cluster::run(command, surroundings, printer),
        Settings::Inspect { command, surroundings } => inspect::run(command, surroundings, printer),
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
