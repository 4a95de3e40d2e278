//! Parses a command line into arguments, an answer, or an error in our form.

use std::ffi::OsString;
use std::path::Path;

use clap::FromArgMatches as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{Args, Command, LogArgs, TalhelperArgs, command, elsewhere, leading};
use crate::Error;

/// Checks that a command line parses. For documents that mention commands: a word in capitals stands for any value, and
/// required arguments may be missing.
pub fn check(words: &[&str]) -> Result<(), String> {
    let mut arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    if let Some(own) = of_talhelper(&mut arguments) {
        return crate::talhelper::check(&own);
    }
    let root = command();
    let arguments = leading::moved_behind(arguments, &root).map_err(|error| error.to_string())?;
    let Err(error) = root.try_get_matches_from(arguments) else { return Ok(()) };
    let is_placeholder = || match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => {
            !value.is_empty() && !value.contains(|letter: char| letter.is_ascii_lowercase())
        }
        _ => false,
    };
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::MissingRequiredArgument => Ok(()),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if is_placeholder() => Ok(()),
        // Clap's own `ichor help COMMAND`.
        ErrorKind::InvalidSubcommand if words == ["ichor", "help", "COMMAND"] => Ok(()),
        _ => Err(error.render().to_string()),
    }
}

/// A parsed command line.
pub(crate) enum ParsedLine {
    /// A command to run.
    Command(Box<Args>),
    /// The answer to a question about the program itself: help, version.
    Answer(String),
}

/// Parses a command line, including the name of the program.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<ParsedLine, Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(own) = of_talhelper(&mut arguments) {
        return Ok(ParsedLine::Command(Box::new(Args {
            log: LogArgs::default(),
            command: Command::Talhelper(TalhelperArgs { arguments: own }),
        })));
    }
    let mut root = command();
    if arguments.len() <= 1 {
        return Ok(ParsedLine::Answer(root.render_help().ansi().to_string()));
    }
    let arguments = leading::moved_behind(arguments, &root)?;
    let matches = root.try_get_matches_from_mut(&arguments);
    let parsed = matches.and_then(|matches| {
        Args::from_arg_matches(&matches).map_err(|error| error.format(&mut root))
    });
    let error = match parsed {
        Ok(args) => return Ok(ParsedLine::Command(Box::new(args))),
        Err(error) => error,
    };
    // A group without a command, such as `ichor node`, asks for its help.
    let asks = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if asks || !error.use_stderr() {
        return Ok(ParsedLine::Answer(error.render().ansi().to_string()));
    }
    let words: Vec<&str> = arguments.iter().skip(1).map_while(|word| word.to_str()).collect();
    Err(elsewhere::named(&words).unwrap_or_else(|| usage(&error.render().to_string(), &words)))
}

/// Returns the arguments for `talhelper`, called by argv[0] or as a subcommand. It has its own parser; building the whole
/// clap tree would cost a fifth of its memory.
fn of_talhelper(arguments: &mut Vec<OsString>) -> Option<Vec<OsString>> {
    let is_talhelper = |word: &OsString| Path::new(word).file_name() == Some("talhelper".as_ref());
    if arguments.first().is_some_and(is_talhelper) {
        Some(arguments.split_off(1))
    } else if arguments.get(1).is_some_and(|word| word == "talhelper") {
        Some(arguments.split_off(2))
    } else {
        None
    }
}

/// Converts clap's paragraphs into our form: the error, perhaps a tip, the usage, where to look.
fn usage(rendered: &str, words: &[&str]) -> Error {
    let mut message = "incomplete command line".to_owned();
    let mut hint = format!("run `{} --help`", name_of(words));
    for paragraph in rendered.trim_end().split("\n\n") {
        if let Some(error) = paragraph.strip_prefix("error: ") {
            message = error.to_owned();
        } else if let Some(tip) = paragraph.trim_start().strip_prefix("tip: ") {
            let similar = tip.split_once(": ").filter(|_| tip.contains(" similar "));
            hint = similar.map_or_else(|| tip.to_owned(), |(_, names)| format!("try {names}"));
        } else if paragraph.starts_with("Usage: ") {
            message = format!("{message}\n\n{paragraph}");
        }
    }
    Error::Usage { message, hint }
}

/// Returns the command that a command line begins with.
fn name_of(words: &[&str]) -> String {
    let root = command();
    let (mut last, mut name) = (&root, "ichor".to_owned());
    for word in words {
        let Some(below) = last.find_subcommand(word) else { break };
        name = format!("{name} {}", below.get_name());
        last = below;
    }
    name
}
