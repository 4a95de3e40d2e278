//! Settings of the commands about files.

use talos_config::Contract;
use talos_config::yaml::Dialect;

use super::generate::contract;
use super::{ClusterLocation, Input, Target};
use crate::Error;
use crate::args::OutputFormat;
use crate::args::files::{LintArgs, PatchArgs};

/// Settings of `ichor patch`.
pub(crate) struct Patch {
    pub(crate) files: Vec<Input>,
    pub(crate) patches: Vec<Input>,
    /// Contract to convert to, if any.
    pub(crate) layout: Option<Contract>,
    pub(crate) target: Target,
    pub(crate) dialect: Dialect,
}

/// Settings of `ichor lint`.
pub(crate) struct Lint {
    pub(crate) location: ClusterLocation,
    pub(crate) env_files: Vec<String>,
    pub(crate) secret_files: Vec<String>,
    pub(crate) strict: bool,
    pub(crate) output: OutputFormat,
}

impl Lint {
    pub(super) fn resolve(args: LintArgs) -> Self {
        Self {
            location: ClusterLocation::resolve(args.directory),
            env_files: args.env_files,
            secret_files: args.secret_files,
            strict: args.strict,
            output: args.output.format,
        }
    }
}

impl Patch {
    pub(super) fn resolve(args: PatchArgs) -> Result<Self, Error> {
        let PatchArgs { files, patches, layout, output, force, dialect } = args;
        Ok(Self {
            files: Input::files(&files)?,
            patches: patches.into_iter().map(Input::patch).collect(),
            layout: layout.map(|version| contract(&version)).transpose()?,
            target: Target::new(output, force),
            dialect: dialect.into(),
        })
    }
}
