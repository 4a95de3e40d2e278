//! `ichor completions`: a script for the user's shell, and the words that the script asks for.
//!
//! The scripts know nothing: each TAB calls `ichor completions SHELL -- WORDS`, so that names of machines are those of
//! the directory, and a script stays right when the program is replaced.

mod candidates;

use std::fmt::Write as _;

use clap_complete::Shell;

use self::candidates::{Candidate, Completion, complete};
use crate::args;
use crate::printer::Printer;
use crate::settings::ClusterLocation;
use crate::{Error, ExitStatus};

pub(super) fn run(
    shell: Shell,
    words: &[String],
    location: &ClusterLocation,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    if !words.is_empty() {
        return answer(shell, words, location, printer);
    }
    let script = match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        // Their scripts know commands and flags only.
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut args::command(), "ichor", &mut script);
            return printer.text(&String::from_utf8_lossy(&script).trim_end());
        }
    };
    printer.verbatim(script)
}

/// Writes a candidate and its help on each line, or that file names are wanted.
fn answer(
    shell: Shell,
    words: &[String],
    location: &ClusterLocation,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let joined;
    let (words, splits) = if shell == Shell::Bash {
        joined = join_equals(words);
        (joined.as_slice(), true)
    } else {
        (words, false)
    };
    let mut text = String::new();
    match complete(words, location) {
        Completion::Files => text.push_str(":files\n"),
        Completion::Words(candidates) => {
            let current = words.last().map_or("", String::as_str);
            // bash replaces only what follows the last `=`.
            let kept = if splits { current.rfind('=').map_or(0, |at| at + 1) } else { 0 };
            for Candidate { value, help } in candidates {
                let value = value.get(kept..).unwrap_or(&value);
                let help = help.lines().next().unwrap_or_default();
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{value}\t{help}");
            }
        }
    }
    printer.verbatim(&text)
}

/// Joins words that bash has split at `=`.
fn join_equals(words: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut joins = false;
    for word in words {
        match joined.last_mut() {
            Some(last) if joins || word == "=" => last.push_str(word),
            _ => joined.push(word.clone()),
        }
        joins = word == "=";
    }
    joined
}

const BASH: &str = r#"_ichor() {
    local line current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    [[ $current == '=' ]] && current=
    while IFS= read -r line; do
        if [[ $line == ':files' ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("${COMP_WORDS[0]}" completions bash -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
}
complete -F _ichor ichor
"#;

const ZSH: &str = r#"#compdef ichor
_ichor() {
    local line
    local -a candidates
    while IFS= read -r line; do
        if [[ $line == ':files' ]]; then
            _files
        else
            candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        fi
    done < <("${words[1]}" completions zsh -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)
    (( $#candidates )) && _describe -V ichor candidates
}
if [[ ${funcstack[1]} == _ichor ]]; then
    _ichor "$@"
else
    compdef _ichor ichor
fi
"#;

const FISH: &str = r#"function __ichor_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l current (commandline --current-token --cut-at-cursor)
    for line in ($words[1] completions fish -- $words "$current" 2>/dev/null)
        if test "$line" = ':files'
            __fish_complete_path "$current"
        else
            printf '%s\n' "$line"
        end
    end
end
complete --command ichor --no-files --arguments '(__ichor_complete)'
"#;
