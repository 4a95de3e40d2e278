//! Options of every command: what it says beside its data.

use clap::{ArgAction, Args, ValueEnum};

/// Logging. Shown in the help of `ichor` itself only: one list of options for all commands.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct LogArgs {
    /// Log steps and retries to stderr; -vv also calls
    #[arg(short, long, action = ArgAction::Count, global = true, hide = true)]
    pub verbose: u8,

    /// Print only data, questions and errors
    #[arg(short, long, global = true, hide = true)]
    pub quiet: bool,

    /// Set the format of log lines
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", global = true, hide = true)]
    pub log_format: LogFormat,
}

/// Formats of log lines.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// For programs: an object on each line
    Json,
}

/// Names and descriptions for the help.
pub(super) const HELP: &[(&str, &str)] = &[
    ("-v, --verbose", "Log steps and retries to stderr; -vv also calls"),
    ("-q, --quiet", "Print only data, questions and errors"),
    ("    --log-format <FORMAT>", "Set the format of log lines: text or json"),
];

/// Returns the number of words, beginning with this one, that set an option of every command.
pub(super) fn words(word: &str) -> usize {
    let is_count = word.len() > 1
        && word
            .strip_prefix('-')
            .is_some_and(|flags| flags.chars().all(|flag| matches!(flag, 'v' | 'q')));
    match word {
        "--log-format" => 2,
        "--verbose" | "--quiet" => 1,
        _ if is_count || word.starts_with("--log-format=") => 1,
        _ => 0,
    }
}
