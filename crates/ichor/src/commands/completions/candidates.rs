//! Candidates for the last word of a command line: commands, flags, values, machines, rules, resource types.
//!
//! In: the words, and where the cluster is described. Out: what may stand there. Always holds: nothing is called and
//! nothing is written; a directory that cannot be read has no machines.

use clap::builder::PossibleValue;
use clap::{Arg, Command, ValueHint};
use plan::Rule;

use crate::settings::ClusterLocation;
use crate::{args, directory, talhelper};

/// What the shell offers.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Completion {
    /// Names of files: the shell knows them.
    Files,
    Words(Vec<Candidate>),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Candidate {
    pub(super) value: String,
    pub(super) help: String,
}

impl Candidate {
    fn new(value: impl Into<String>, help: impl Into<String>) -> Self {
        Self { value: value.into(), help: help.into() }
    }
}

/// Completes the last of the words, the first of which is the program's name.
pub(super) fn complete(words: &[String], location: &ClusterLocation) -> Completion {
    let Some((current, before)) = words.split_last() else {
        return Completion::Words(Vec::new());
    };
    let before = before.get(1..).unwrap_or_default();
    // The personality has a parser of its own.
    let (root, before) = match before.split_first() {
        Some((first, rest)) if first == "talhelper" => (talhelper::command(), rest),
        _ => (args::command(), before),
    };
    let mut line = Line::new(&root);
    for word in before {
        line.read(word);
    }
    let location = ClusterLocation {
        directory: line.directory.clone().map(Into::into).or_else(|| location.directory.clone()),
        ..location.clone()
    };
    line.candidates(current, &location)
}

/// A command line as far as it was typed.
struct Line<'a> {
    root: &'a Command,
    /// The command and those that it is below, the outermost first.
    path: Vec<&'a Command>,
    /// The flag whose value comes next.
    flag: Option<&'a Arg>,
    /// Positional arguments so far.
    positionals: usize,
    /// Whether `--` was typed: no flags any more.
    is_escaped: bool,
    /// The value of `--directory`.
    directory: Option<String>,
}

impl<'a> Line<'a> {
    fn new(root: &'a Command) -> Self {
        let path = vec![root];
        Self { root, path, flag: None, positionals: 0, is_escaped: false, directory: None }
    }

    fn command(&self) -> &'a Command {
        self.path.last().copied().unwrap_or(self.root)
    }

    /// Takes in a word that is complete.
    fn read(&mut self, word: &str) {
        if let Some(flag) = self.flag.take() {
            self.set(flag, word);
        } else if self.is_escaped {
            self.positionals += 1;
        } else if word == "--" {
            self.is_escaped = true;
        } else if let Some(name) = word.strip_prefix("--") {
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (name, None),
            };
            let flag = self.flags().find(|flag| is_long(flag, name));
            self.take(flag, value);
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            for (at, letter) in letters.char_indices() {
                let flag = self.flags().find(|flag| flag.get_short() == Some(letter));
                let rest = &letters[at + letter.len_utf8()..];
                self.take(flag, Some(rest).filter(|rest| !rest.is_empty()));
                // The rest is its value.
                if flag.is_some_and(takes_value) {
                    break;
                }
            }
        } else if let Some(below) = self.command().find_subcommand(word) {
            self.path.push(below);
        } else {
            self.positionals += 1;
        }
    }

    fn take(&mut self, flag: Option<&'a Arg>, value: Option<&str>) {
        match (flag.filter(|flag| takes_value(flag)), value) {
            (Some(flag), Some(value)) => self.set(flag, value),
            // `--flag=false` is written in one word.
            (Some(flag), None) if flag.is_require_equals_set() => {}
            (flag, _) => self.flag = flag,
        }
    }

    fn set(&mut self, flag: &Arg, value: &str) {
        if flag.get_long() == Some("directory") {
            self.directory = Some(value.to_owned());
        }
    }

    /// Returns the flags of the command, and those that may stand before it for the command behind it.
    fn flags(&self) -> impl Iterator<Item = &'a Arg> {
        let command = self.command();
        let above = self.path[..self.path.len() - 1].iter();
        let global =
            above.flat_map(|command| command.get_arguments().filter(|arg| arg.is_global_set()));
        command.get_arguments().chain(global).filter(|arg| !arg.is_positional())
    }

    fn candidates(&self, current: &str, location: &ClusterLocation) -> Completion {
        if let Some(flag) = self.flag {
            return values(self.command(), flag, "", current, location);
        }
        if !self.is_escaped && current.starts_with('-') {
            if let Some((name, value)) = current.split_once('=')
                && let Some(long) = name.strip_prefix("--")
                && let Some(flag) = self.flags().find(|flag| is_long(flag, long))
            {
                return values(self.command(), flag, &format!("{name}="), value, location);
            }
            return Completion::Words(self.named_flags(current));
        }
        let command = self.command();
        let mut words = Vec::new();
        if !self.is_escaped {
            let below = command.get_subcommands().filter(|below| !below.is_hide_set());
            let below = below.filter(|below| below.get_name().starts_with(current));
            words.extend(
                below.map(|below| Candidate::new(below.get_name(), help(below.get_about()))),
            );
        }
        let positionals: Vec<&Arg> =
            command.get_positionals().filter(|arg| !arg.is_hide_set()).collect();
        let takes_several =
            |arg: &&&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
        let positional = positionals.get(self.positionals);
        let positional = positional.or_else(|| positionals.iter().find(takes_several));
        match positional.map(|arg| values(command, arg, "", current, location)) {
            Some(Completion::Files) if words.is_empty() => Completion::Files,
            Some(Completion::Words(values)) => {
                words.extend(values);
                Completion::Words(words)
            }
            _ => Completion::Words(words),
        }
    }

    fn named_flags(&self, current: &str) -> Vec<Candidate> {
        let flags = self.flags().filter(|flag| !flag.is_hide_set());
        let named = flags.filter_map(|flag| {
            Some(Candidate::new(format!("--{}", flag.get_long()?), help(flag.get_help())))
        });
        let always = Candidate::new("--help", "Print help");
        let mut named: Vec<Candidate> = named.chain([always]).collect();
        named.retain(|flag| flag.value.starts_with(current));
        named.sort_by(|one, other| one.value.cmp(&other.value));
        named.dedup_by(|one, other| one.value == other.value);
        named
    }
}

/// Returns the values of an argument; `before` stands before each in the same word.
fn values(
    command: &Command,
    arg: &Arg,
    before: &str,
    current: &str,
    location: &ClusterLocation,
) -> Completion {
    // Of a list the last element is completed.
    let at = match arg.get_value_delimiter() {
        Some(delimiter) => current.rfind(delimiter).map_or(0, |at| at + delimiter.len_utf8()),
        None => 0,
    };
    let (listed, current) = current.split_at(at);
    let possible: Vec<PossibleValue> = arg.get_possible_values();
    let of_machine = arg.get_long() == Some("override") && current.contains('=');
    let known = if !possible.is_empty() && !of_machine {
        let shown = possible.iter().filter(|value| !value.is_hide_set());
        shown.map(|value| Candidate::new(value.get_name(), help(value.get_help()))).collect()
    } else if matches!(arg.get_long(), Some("nodes" | "node")) {
        machines(location)
    } else if arg.get_long() == Some("override") {
        rules(current, location)
    } else if command.get_name() == "get" && arg.get_id() == "kind" {
        resource_types()
    } else if takes_files(arg) {
        return Completion::Files;
    } else {
        Vec::new()
    };
    let fitting = known.into_iter().filter(|candidate| candidate.value.starts_with(current));
    Completion::Words(
        fitting
            .map(|Candidate { value, help }| {
                Candidate::new(format!("{before}{listed}{value}"), help)
            })
            .collect(),
    )
}

fn machines(location: &ClusterLocation) -> Vec<Candidate> {
    let known = directory::known_machines(location).unwrap_or_default();
    let candidates = known.iter().filter_map(|machine| {
        let role = if machine.is_control_plane { "control plane" } else { "worker" };
        let address = machine.addresses.first().map_or("", String::as_str);
        Some(Candidate::new(machine.names.first()?, format!("{role} {address}")))
    });
    candidates.collect()
}

/// Returns the rules that can be overridden and, behind one and `=`, the machines.
fn rules(current: &str, location: &ClusterLocation) -> Vec<Candidate> {
    match current.split_once('=') {
        Some((rule, _)) => machines(location)
            .into_iter()
            .map(|Candidate { value, help }| Candidate::new(format!("{rule}={value}"), help))
            .collect(),
        None => {
            let rules = Rule::ALL.iter().filter(|rule| rule.can_be_overridden());
            rules.map(|rule| Candidate::new(rule.name(), "")).collect()
        }
    }
}

/// Returns the types that are known here, by the names that every machine takes for them.
fn resource_types() -> Vec<Candidate> {
    let names = talos_api::resource::TYPES.iter().filter_map(|kind| kind.split('.').next());
    let candidates = names.map(|name| Candidate::new(name.to_lowercase(), ""));
    candidates.chain([Candidate::new("rd", "all types of the machine")]).collect()
}

fn takes_files(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    arg.get_value_hint() == ValueHint::AnyPath
        || names.iter().any(|name| ["FILE", "PATCH", "DIR"].contains(&name.as_str()))
}

fn is_long(flag: &Arg, name: &str) -> bool {
    flag.get_long() == Some(name) || flag.get_all_aliases().unwrap_or_default().contains(&name)
}

fn takes_value(flag: &Arg) -> bool {
    flag.get_action().takes_values()
}

fn help(text: Option<&impl ToString>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values for the last word, or `files`.
    fn offered(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let directory = tempfile::tempdir().expect("a directory");
        let spec = "ichor: v1\ncluster: home\nendpoint: https://10.0.0.10:6443\ntalos: v1.13.9\n\
                    controlPlane:\n  machines:\n    - {name: cp-1, address: 10.0.0.11}\n\
                    pools:\n  - name: general\n    machines:\n      \
                    - {name: w-1, address: 10.0.0.21}\n";
        fs_err::write(directory.path().join("ichor.yaml"), spec).expect("a file");
        let location = ClusterLocation {
            directory: Some(directory.path().to_owned()),
            ..ClusterLocation::default()
        };
        match complete(&words, &location) {
            Completion::Files => vec!["files".to_owned()],
            Completion::Words(words) => words.into_iter().map(|word| word.value).collect(),
        }
    }

    #[test]
    fn commands_flags_and_values_are_offered() {
        assert_eq!(offered("ichor ver"), ["version"]);
        assert_eq!(offered("ichor node re"), ["reboot", "reset"]);
        assert_eq!(offered("ichor node -n cp-1 rol"), ["rollback"]);
        assert_eq!(offered("ichor node reset --gr"), ["--graceful"]);
        assert_eq!(offered("ichor services -o "), ["table", "json", "yaml"]);
        assert_eq!(offered("ichor services --output=j"), ["--output=json"]);
        for no_flag in ["-=x", "-é=", "-o=j"] {
            assert!(offered(&format!("ichor services {no_flag}")).is_empty(), "{no_flag}");
        }
        assert_eq!(offered("ichor completions "), ["bash", "elvish", "fish", "powershell", "zsh"]);
        assert_eq!(
            offered("ichor talhelper gen"),
            ["genconfig", "gensecret", "gencommand", "genurl", "genschema"]
        );
        assert_eq!(offered("ichor talhelper genconfig --dry"), ["--dry-run"]);
    }

    #[test]
    fn machines_of_the_directory_are_offered() {
        for line in ["services -n ", "node reboot --nodes ", "diff -n ", "explain a.b -n "] {
            assert_eq!(offered(&format!("ichor {line}")), ["cp-1", "w-1"], "{line}");
        }
        assert_eq!(offered("ichor logs -f -n w"), ["w-1"]);
        assert_eq!(offered("ichor logs -n cp-1,w"), ["cp-1,w-1"]);
    }

    #[test]
    fn rules_and_resource_types_are_offered() {
        let rules = offered("ichor apply --override ");
        assert!(rules.contains(&"quorum.tolerance".to_owned()), "{rules:?}");
        assert!(!rules.contains(&"files".to_owned()));
        assert_eq!(offered("ichor apply --override identity.node=w"), ["identity.node=w-1"]);
        let of_nodes = offered("ichor node reboot --override ");
        assert!(of_nodes.contains(&"quorum.tolerance".to_owned()), "{of_nodes:?}");
        let of_machine = offered("ichor node apply-config --override identity.maintenance=w");
        assert_eq!(of_machine, ["identity.maintenance=w-1"]);
        let types = offered("ichor get mem");
        assert_eq!(types, ["members", "memorymodules"]);
        assert_eq!(offered("ichor get members -n w"), ["w-1"]);
    }

    #[test]
    fn files_are_left_to_the_shell() {
        for line in ["validate ", "services --talosconfig ", "patch a.yaml -p @", "cp /etc "] {
            assert_eq!(offered(&format!("ichor {line}")), ["files"], "{line}");
        }
    }
}
