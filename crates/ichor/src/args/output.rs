//! The format of the output.

use clap::{Args, ValueEnum};

/// Output format of data.
#[derive(Clone, Copy, Debug, Args)]
pub struct OutputArgs {
    /// Set the output format
    #[arg(short = 'o', long = "output", value_enum, default_value_t, value_name = "FORMAT")]
    pub format: OutputFormat,
}

/// Output formats.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum OutputFormat {
    /// For people
    #[default]
    #[value(alias = "text")]
    Table,
    /// For programs
    Json,
    /// For programs and people
    Yaml,
}
