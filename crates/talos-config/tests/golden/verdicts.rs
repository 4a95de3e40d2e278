//! What becomes of a configuration that is validated: with us, and with the real talosctl.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use talos_config::{Config, Mode, SourceId};
use testkit::peers;

/// How a configuration is validated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) mode: &'static str,
    pub(crate) strict: bool,
}

/// What becomes of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// It cannot be read. Why is said in other words here than there: ours have places and hints.
    Refused,
    /// It was read and validated.
    Judged {
        valid: bool,
        /// Warnings and errors, as they stand on the standard error stream.
        said: String,
    },
}

impl Verdict {
    pub(crate) fn ours(config: &str, manner: Manner) -> Self {
        let mode = Mode::parse(manner.mode).expect("a mode");
        let Ok(config) = Config::parse(config, SourceId(1)) else { return Self::Refused };
        let validation = config.validate(mode, manner.strict);
        let valid = validation.errors.is_empty();
        let mut said = String::new();
        // The others are checks of our own.
        for warning in validation.warnings.iter().filter(|warning| warning.is_of_talos()) {
            said.push_str("WARNING: ");
            said.push_str(&warning.problem.message);
            said.push('\n');
        }
        if !valid {
            said.push_str(&validation.text());
            said.push('\n');
        }
        Self::Judged { valid, said: printable(&said) }
    }

    pub(crate) fn theirs(config: &str, manner: Manner) -> Self {
        static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("config.yaml");
        fs_err::write(&file, config).expect("a file");
        let mut command = Command::new(PROGRAM.get_or_init(|| peers::program("talosctl-1.14.1")));
        command.args(["validate", "--mode", manner.mode, "--config"]).arg(&file);
        if manner.strict {
            command.arg("--strict");
        }
        let output = command.output().expect("talosctl");
        let said = String::from_utf8(output.stderr).expect("text");
        let said = hidden(said.find(USAGE).map_or(said.as_str(), |at| &said[..at]));
        if output.status.success() {
            return Self::Judged { valid: true, said };
        }
        // Only findings stand in a frame, and warnings come in front of it.
        let framed = said.lines().any(|line| line.ends_with(" occurred:"));
        if framed { Self::Judged { valid: false, said } } else { Self::Refused }
    }

    /// Whose words it is told in, as far as the words tell.
    pub(crate) fn words(&self) -> Words {
        let of_go = |said: &str| WORDS_OF_GO.iter().any(|words| said.contains(words));
        match self {
            Self::Judged { said, .. } if of_go(said) => Words::OfGo,
            Self::Judged { .. } | Self::Refused => Words::OfTalos,
        }
    }

    /// Whether both mean the same, in the same words unless these are Go's own.
    pub(crate) fn agrees(&self, other: &Self, words: Words) -> bool {
        match (self, other) {
            (Self::Refused, Self::Refused) => true,
            (
                Self::Judged { valid, said },
                Self::Judged { valid: other_valid, said: other_said },
            ) => valid == other_valid && (words == Words::OfGo || said == other_said),
            (Self::Refused, Self::Judged { .. }) | (Self::Judged { .. }, Self::Refused) => false,
        }
    }
}

/// Whose words a verdict is told in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Words {
    /// Those of Talos, to be the same to the letter.
    OfTalos,
    /// Those of a library of Go, with names of Go types in them.
    OfGo,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused => f.write_str("(not read)\n"),
            Self::Judged { valid: true, said } => writeln!(f, "{said}(valid)"),
            Self::Judged { valid: false, said } => f.write_str(said),
        }
    }
}

/// Secrets that the program shows and we do not.
fn hidden(said: &str) -> String {
    let mut text = said.to_owned();
    for (before, after) in [
        ("clusterSecret: expected 32 bytes, got ", "\n"),
        ("clusterSecret: failed to decode from base64: ", "; illegal"),
        ("private key is invalid: wrong key \"", "\" length"),
    ] {
        let mut from = 0;
        while let Some(at) = text[from..].find(before).map(|at| from + at + before.len()) {
            let end = at + text[at..].find(after).expect("the end of a message");
            let start = text[at..end].find(": ").map_or(at, |colon| at + colon + 2);
            if start < end {
                text.replace_range(start..end, talos_config::REDACTED);
            }
            from = start;
        }
    }
    text
}

/// The program shows what cannot be printed as an escape, in whatever it prints: that is no part of
/// validation.
fn printable(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        let invisible =
            c.is_control() || c.is_whitespace() || ('\u{200b}'..='\u{200f}').contains(&c);
        match u32::from(c) {
            _ if !invisible || [' ', '\n', '\t'].contains(&c) => shown.push(c),
            code @ ..=0xff => write!(shown, "\\x{code:02x}").expect("text"),
            code => write!(shown, "\\u{code:04x}").expect("text"),
        }
    }
    shown
}

/// What betrays a message with names of Go types in it.
const WORDS_OF_GO: &[&str] = &["json: cannot unmarshal", "asn1: "];

/// What talosctl appends when an error has a word in it, such as `flag`, that makes it look like a
/// mistake in the command line.
const USAGE: &str = "\nUsage:\n  talosctl validate";
