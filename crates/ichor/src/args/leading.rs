//! Options that may stand before the command, as in `ichor -n cp-1 services`.
//!
//! In: a command line. Out: the same line with these options moved behind their command. Always holds: an option that
//! the command does not have is refused by name, and never read as another option with the same letter.

use std::ffi::{OsStr, OsString};

use clap::Command;

use super::log;
use crate::Error;

/// An option that may stand before the command. All of them take a value.
pub(super) struct Leading {
    short: Option<char>,
    long: &'static str,
    value: &'static str,
    help: &'static str,
}

pub(super) const LEADING: &[Leading] = &[
    Leading {
        short: Some('n'),
        long: "nodes",
        value: "NODE",
        help: "Connect to these machines, by name or address",
    },
    Leading {
        short: Some('e'),
        long: "endpoints",
        value: "HOST",
        help: "Connect through these endpoints",
    },
    Leading {
        short: Some('C'),
        long: "directory",
        value: "DIR",
        help: "Use this cluster directory",
    },
    Leading { short: Some('o'), long: "output", value: FORMAT, help: "Set the output format" },
    Leading { short: None, long: "talosconfig", value: "FILE", help: "Use this talosconfig" },
    Leading {
        short: None,
        long: "context",
        value: "NAME",
        help: "Use this context of the talosconfig",
    },
    Leading {
        short: None,
        long: "deadline",
        value: "DURATION",
        help: "Wait this long for the reply of a machine",
    },
];

/// Value name of `--output` where it is a format, not a file.
const FORMAT: &str = "FORMAT";

impl Leading {
    /// Formats the option for help: `-n, --nodes <NODE>` and its description.
    pub(super) fn help(&self) -> (String, &'static str) {
        let short = match self.short {
            Some(letter) => format!("-{letter}, "),
            None => "    ".to_owned(),
        };
        (format!("{short}--{} <{}>", self.long, self.value), self.help)
    }

    /// Parses the option that a word names, and the value in the same word.
    fn read(word: &str) -> Option<(&'static Self, Option<&str>)> {
        if let Some(rest) = word.strip_prefix("--") {
            let (name, value) = match rest.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (rest, None),
            };
            return LEADING.iter().find(|option| option.long == name).map(|found| (found, value));
        }
        let mut letters = word.strip_prefix('-')?.chars();
        let letter = letters.next()?;
        let found = LEADING.iter().find(|option| option.short == Some(letter))?;
        let value = letters.as_str();
        let value = (!value.is_empty()).then(|| value.strip_prefix('=').unwrap_or(value));
        Some((found, value))
    }

    fn is_of(&self, command: &Command, is_last: bool) -> bool {
        command.get_arguments().any(|argument| {
            let aliases = argument.get_all_aliases().unwrap_or_default();
            let named = argument.get_long() == Some(self.long) || aliases.contains(&self.long);
            let shows = argument.get_value_names().and_then(|names| names.first());
            let is_format = self.value != FORMAT || shows.is_some_and(|name| name == FORMAT);
            named && is_format && (is_last || argument.is_global_set())
        })
    }
}

/// Moves options before the command, or between a group and its command, behind the command.
pub(super) fn moved_behind(
    arguments: Vec<OsString>,
    root: &Command,
) -> Result<Vec<OsString>, Error> {
    let mut path = vec![root];
    let mut words: Vec<OsString> = arguments.first().cloned().into_iter().collect();
    let mut options = Vec::new();
    let mut rest = arguments.iter().skip(1).peekable();
    let deepest = |path: &[&Command]| path.last().is_none_or(|command| !command.has_subcommands());
    while !deepest(&path) {
        let Some(word) = rest.peek().and_then(|word| word.to_str()) else { break };
        let of_all = log::words(word);
        if of_all > 0 {
            words.extend(rest.by_ref().take(of_all).cloned());
        } else if let Some((option, value)) = Leading::read(word) {
            rest.next();
            let value = match value {
                Some(value) => OsString::from(value),
                None => rest.next().cloned().ok_or_else(|| no_value(option))?,
            };
            options.push((option, value));
        } else if let Some(below) = path.last().and_then(|last| last.find_subcommand(word)) {
            rest.next();
            words.push(below.get_name().into());
            path.push(below);
        } else {
            break;
        }
    }
    if options.is_empty() {
        return Ok(arguments);
    }
    let name = path.iter().map(|command| command.get_name()).collect::<Vec<_>>().join(" ");
    if rest.peek().is_some() {
        // Help, or a wrong word: clap answers without the options.
        if !deepest(&path) {
            words.extend(rest.cloned());
            return Ok(words);
        }
    } else if !deepest(&path) {
        return Err(Error::Usage {
            message: format!("no command after the options of `{name}`"),
            hint: format!("run `{name} --help`"),
        });
    }
    for (option, value) in options {
        let last = path.len() - 1;
        if !path.iter().enumerate().any(|(depth, command)| option.is_of(command, depth == last)) {
            let what = if option.value == FORMAT { " as an output format" } else { "" };
            return Err(Error::Usage {
                message: format!("`{name}` does not take --{}{what}", option.long),
                hint: format!("run `{name} --help`"),
            });
        }
        words.push(
            [OsStr::new("--"), OsStr::new(option.long), OsStr::new("="), &value]
                .into_iter()
                .collect(),
        );
    }
    words.extend(rest.cloned());
    Ok(words)
}

fn no_value(option: &Leading) -> Error {
    Error::Usage {
        message: format!("--{} needs a value: <{}>", option.long, option.value),
        hint: "run `ichor --help`".to_owned(),
    }
}
