//! Settings: the command line together with the environment, resolved once.
//!
//! Commands take settings and never look at arguments or environment themselves.

mod cluster;
mod environment;
mod extensions;
mod files;
mod generate;
mod input;
mod start;

use std::ffi::OsString;
use std::path::PathBuf;

use talos_config::Mode;

pub(crate) use cluster::{
    Apply, ApplyRequest, Approve, Cluster, ClusterVerb, Destroy, Diff, Execution, Health, History,
    Plan, Show, Status,
};
pub(crate) use environment::{
    CandidatePaths, ClusterLocation, UserEnvironment, cache, columns, log_filter, trusted,
};
pub(crate) use extensions::Extensions;
pub(crate) use files::{Lint, Patch};
pub(crate) use generate::{
    GenCa, GenConfig, GenCrt, GenCsr, GenKey, GenKeypair, GenKubeconfig, GenSchematic, GenSecrets,
    GenTalconfig, GenTalosconfig, SecretsOrigin, known_roles,
};
pub(crate) use input::{Input, Target};
pub(crate) use start::{Import, Init};

use environment::{keys, variable, variables};

use crate::Error;
use crate::args::files::generate::GenMachineArgs;
use crate::args::files::{DiffArgs, ExplainArgs, ValidateArgs};
use crate::args::inspect::InspectCommand;
use crate::args::node::NodeCommand;
use crate::args::{
    Args, Command, CompletionsArgs, ConfigArgs, OutputFormat, TalhelperArgs, VersionArgs,
};
use crate::sops_files::SopsKeys;

/// One command with everything that it needs to know. Patches may hold secrets, so it has no `Debug`.
pub(crate) enum Settings {
    GenSecrets(GenSecrets),
    GenAgeKey {
        output: PathBuf,
    },
    GenConfig(Box<GenConfig>),
    GenCa(GenCa),
    GenKey(GenKey),
    GenCsr(GenCsr),
    GenCrt(GenCrt),
    GenKeypair(GenKeypair),
    GenSchematic(GenSchematic),
    GenTalosconfig(GenTalosconfig),
    GenKubeconfig(GenKubeconfig),
    GenSchema,
    GenTalconfig(GenTalconfig),
    GenMachine {
        args: Box<GenMachineArgs>,
        environment: UserEnvironment,
    },
    GenMachines {
        location: ClusterLocation,
        output: PathBuf,
        overwrite: bool,
    },
    Extensions(Extensions),
    Patch(Patch),
    Diff {
        before: Input,
        after: Input,
        output: OutputFormat,
    },
    Explain {
        path: String,
        file: Input,
        patches: Vec<Input>,
        output: OutputFormat,
    },
    ExplainMachine {
        path: String,
        machine: Option<String>,
        location: ClusterLocation,
        output: OutputFormat,
    },
    Validate {
        files: Vec<Input>,
        mode: Mode,
        strict: bool,
        output: OutputFormat,
    },
    ValidateDirectory {
        location: ClusterLocation,
        mode: Mode,
        strict: bool,
        output: OutputFormat,
    },
    Lint(Lint),
    Init(Init),
    Import(Import),
    Cluster(Box<Cluster>),
    Inspect {
        command: InspectCommand,
        environment: UserEnvironment,
    },
    Config {
        args: ConfigArgs,
        environment: UserEnvironment,
    },
    Node {
        command: Box<NodeCommand>,
        environment: UserEnvironment,
        keys: SopsKeys,
    },
    Version {
        args: Box<VersionArgs>,
        environment: UserEnvironment,
    },
    Completions {
        shell: clap_complete::Shell,
        /// A command line of which the last word is to be completed, instead of the script.
        words: Vec<String>,
        location: ClusterLocation,
    },
    Talhelper {
        arguments: Vec<OsString>,
        variables: Vec<(String, String)>,
    },
}

impl Settings {
    pub(crate) fn resolve(args: Args) -> Result<Self, Error> {
        Ok(match args.command {
            Command::Gen { command } => Self::resolve_gen(command)?,
            Command::Patch(args) => Self::Patch(Patch::resolve(args)?),
            Command::Diff(DiffArgs {
                before: Some(before), after: Some(after), output, ..
            }) => Self::Diff {
                before: Input::file(&before),
                after: Input::file(&after),
                output: output.format,
            },
            Command::Diff(args) => Self::Cluster(Box::new(Cluster::resolve_diff(args))),
            Command::Explain(ExplainArgs { path, file: Some(file), patches, output, .. }) => {
                Self::Explain {
                    path,
                    file: Input::file(&file),
                    patches: patches.into_iter().map(Input::patch).collect(),
                    output: output.format,
                }
            }
            Command::Explain(ExplainArgs {
                path, file: None, node, cluster_dir, output, ..
            }) => Self::ExplainMachine {
                path,
                machine: node,
                location: ClusterLocation::resolve(cluster_dir.directory),
                output: output.format,
            },
            Command::Validate(args) => {
                let ValidateArgs { mut files, config, mode, strict, cluster_dir, output } = args;
                files.extend(config);
                let (mode, output) = (mode.into(), output.format);
                if files.is_empty() {
                    let location = ClusterLocation::resolve(cluster_dir.directory);
                    return Ok(Self::ValidateDirectory { location, mode, strict, output });
                }
                Self::Validate { files: Input::files(&files)?, mode, strict, output }
            }
            Command::Lint(args) => Self::Lint(Lint::resolve(args)),
            Command::Init(args) => Self::Init(Init::resolve(args)),
            Command::Import(args) => Self::Import(Import::resolve(args)),
            Command::Cluster(command) => Self::Cluster(Box::new(Cluster::resolve(command)?)),
            Command::Inspect(command) => {
                Self::Inspect { command, environment: UserEnvironment::resolve() }
            }
            Command::Config(args) => Self::Config { args, environment: UserEnvironment::resolve() },
            Command::Node { command } => Self::Node {
                command: Box::new(command),
                environment: UserEnvironment::resolve(),
                keys: keys(),
            },
            Command::Version(args) => {
                Self::Version { args: Box::new(args), environment: UserEnvironment::resolve() }
            }
            Command::Extensions(args) => Self::Extensions(Extensions::resolve(args)),
            Command::Completions(CompletionsArgs { shell, words }) => Self::Completions {
                shell,
                words: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
                location: ClusterLocation::resolve(None),
            },
            Command::Talhelper(TalhelperArgs { arguments }) => {
                Self::Talhelper { arguments, variables: variables() }
            }
        })
    }
}
