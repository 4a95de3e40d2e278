//! Files that SOPS keeps: where their keys are looked for, and what only the `sops` program can do.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use engine::bounded_file;

use sops::{CreationRules, Format, Identities, Recipient, Rule, Timestamp};
use talos_config::{Coded, Confidential, Diagnostic, FileLocation};

use crate::diagnostics::{self, SOPS_PROGRAM};
use crate::{Error, directory, entropy};

/// Keys of SOPS files, from the process environment only: they name a program to run and files to read. May hold a
/// key, so it has no `Debug`.
#[derive(Clone, Default)]
pub(crate) struct SopsKeys {
    /// `SOPS_AGE_KEY`
    key: Option<String>,
    /// `SOPS_AGE_KEY_FILE`
    key_file: Option<PathBuf>,
    /// `SOPS_AGE_KEY_CMD`: a program that prints keys.
    key_command: Option<String>,
    /// Default key file of sops.
    default_file: Option<PathBuf>,
    /// `SOPS_AGE_RECIPIENTS`
    recipients: Option<String>,
    /// The directory whose repository may have a key at its root.
    directory: Option<PathBuf>,
}

impl SopsKeys {
    /// Reads the variables that the `sops` program reads.
    pub(crate) fn resolve(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let filled = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| filled(name).and_then(|value| value.into_string().ok());
        let home = || filled("HOME").map(|home| Path::new(&home).join(".config"));
        let configuration = filled("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
        Self {
            key: text("SOPS_AGE_KEY"),
            key_file: filled("SOPS_AGE_KEY_FILE").map(PathBuf::from),
            key_command: text("SOPS_AGE_KEY_CMD"),
            default_file: configuration.map(|folder| folder.join("sops/age/keys.txt")),
            recipients: text("SOPS_AGE_RECIPIENTS"),
            directory: None,
        }
    }

    /// Also looks for a key at the root of the repository that a directory is in, after all other places.
    pub(crate) fn in_repository_of(self, directory: Option<&Path>) -> Self {
        Self { directory: Some(directory.unwrap_or(Path::new(".")).to_owned()), ..self }
    }

    /// Replaces `SOPS_AGE_KEY`, the one variable that runs and reads nothing.
    pub(crate) fn with_key(&self, key: Option<&str>) -> Self {
        let key = key.filter(|key| !key.is_empty()).map(str::to_owned);
        Self { key, ..self.clone() }
    }

    pub(crate) fn identities(&self) -> Identities {
        let mut identities = Identities::default();
        match &self.key {
            Some(key) => identities.add_variable("SOPS_AGE_KEY", key),
            None => identities.add_missing("SOPS_AGE_KEY", "not set"),
        }
        if self.key_file.is_none() {
            identities.add_missing("SOPS_AGE_KEY_FILE", "not set");
        }
        if let Some(command) = &self.key_command {
            match run_command(command) {
                Ok(text) => identities.add("SOPS_AGE_KEY_CMD", &text),
                Err(_) => identities.add_missing("SOPS_AGE_KEY_CMD", "the command failed"),
            }
        }
        let repository = self.directory.as_deref().and_then(directory::repository_key);
        for file in self.key_file.iter().chain(&self.default_file).chain(&repository) {
            let name = file.display().to_string();
            // A key in place of a file name would be printed with the reason why nothing decrypts.
            if name.contains(PRIVATE_KEY) {
                identities.add_missing("SOPS_AGE_KEY_FILE", "holds a key instead of a file name");
                continue;
            }
            match read_keys(file) {
                Ok(text) => identities.add(&name, &text),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    identities.add_missing(&name, "not there");
                }
                Err(_) => identities.add_missing(&name, "cannot be read"),
            }
        }
        identities
    }
}

/// Returns whether the name asks for encryption, as in `secrets.sops.yaml`.
pub(crate) fn has_sops_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(".sops."))
}

/// Decrypts the text of a file if it is encrypted. `path` is the file that it was read from.
pub(crate) fn decrypt(text: String, path: &Path, keys: &SopsKeys) -> Result<String, Error> {
    decrypt_with_values(text, path, keys).map(|(text, _)| text)
}

/// Decrypts the text of a file, and returns the encrypted values too, if there were any.
pub(crate) fn decrypt_with_values(
    text: String,
    path: &Path,
    keys: &SopsKeys,
) -> Result<(String, Option<Confidential>), Error> {
    let format = format(path);
    if !sops::is_encrypted(&text, format) {
        return Ok((text, None));
    }
    match sops::decrypt_with_values(&text, format, &keys.identities()) {
        Ok(sops::Decrypted { text, values }) => Ok((text.into_exposed(), Some(values))),
        Err(error @ sops::Error::KeyKind(_)) => {
            let opened =
                decrypt_with_program(&text, kind(format)).unwrap_or(Err(wrong(path, &error)));
            opened.map(|text| {
                // Which of its values were encrypted is not known, so all are.
                let mut values = Confidential::default();
                values.add_text(&text);
                (text, Some(values))
            })
        }
        Err(error) => Err(wrong(path, &error)),
    }
}

/// Decrypts with the `sops` program; `None` if it is not installed.
pub(crate) fn decrypt_with_program(text: &str, kind: &str) -> Option<Result<String, Error>> {
    run_sops(&["decrypt", "--input-type", kind, "--output-type", kind], text)
}

/// Encrypts what goes into a file, by the rules of the nearest `.sops.yaml` above it, for the recipients
/// that are named there or in `SOPS_AGE_RECIPIENTS`.
pub(crate) fn encrypt(text: &str, path: &Path, keys: &SopsKeys) -> Result<String, Error> {
    let rules = nearest_rules(path)?;
    let rule = match creation_rule(path, keys, rules.as_ref()) {
        Ok(rule) => rule,
        Err(error @ sops::Error::KeyKind(_)) => {
            let name = path.to_string_lossy();
            let input = ["encrypt", "--filename-override", &name];
            return run_sops(&input, text).unwrap_or(Err(wrong(path, &error)));
        }
        Err(error @ sops::Error::NoRule(_)) if rules.is_none() => {
            let hint = "run `ichor gen age-key`, which also writes a .sops.yaml, or name recipients in SOPS_AGE_RECIPIENTS";
            let wrong = Diagnostic::error(error.code(), "no .sops.yaml above it");
            return Err(wrong.at(diagnostics::file(path)).with_hint(hint).into());
        }
        Err(error) => return Err(wrong(path, &error)),
    };
    let encrypted = entropy::with_secret_source(|makers| {
        let moment = Timestamp::from_unix(u64::try_from(makers.now).unwrap_or_default());
        sops::encrypt(text, format(path), &rule, &moment, &mut |bytes| (makers.random)(bytes))
    })?;
    encrypted.map_err(|error| wrong(path, &error))
}

fn creation_rule(
    path: &Path,
    keys: &SopsKeys,
    rules: Option<&(String, String)>,
) -> Result<Rule, sops::Error> {
    let named = keys.recipients.as_deref().map(Recipient::parse_list).transpose()?;
    let configured = match rules {
        // An empty one only marks the root of a repository.
        Some((text, relative)) if !text.trim().is_empty() => {
            match CreationRules::parse(text)?.rule_for(relative) {
                Err(sops::Error::NoRule(_)) if named.is_some() => None,
                rule => Some(rule?),
            }
        }
        _ => None,
    };
    match (named, configured) {
        (None, Some(rule)) => Ok(rule),
        (Some(recipients), None) => Rule::for_recipients(recipients),
        (Some(recipients), Some(rule)) => {
            let mut chosen = Rule::for_recipients(recipients)?;
            chosen.selection = rule.selection;
            chosen.mac_only_encrypted = rule.mac_only_encrypted;
            chosen.layout = rule.layout;
            Ok(chosen)
        }
        (None, None) => Err(sops::Error::NoRule(path.display().to_string())),
    }
}

/// Returns whether a `.sops.yaml` above a file has, or should have, its creation rule.
pub(crate) fn has_rules_above(path: &Path) -> Result<bool, Error> {
    Ok(nearest_rules(path)?.is_some())
}

/// Reads a file of keys. One that a shell passes is not a regular file.
fn read_keys(file: &Path) -> io::Result<String> {
    if !file.starts_with("/dev/fd") {
        return bounded_file::read_to_string(file);
    }
    let mut text = String::new();
    fs_err::File::open(file)?.take(bounded_file::LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// The nearest `.sops.yaml` above a file, and the file's path from there. One that cannot be read is an error: without it
/// secrets would be written in clear, or for the recipients of another one.
fn nearest_rules(path: &Path) -> Result<Option<(String, String)>, Error> {
    let absolute = std::path::absolute(path).map_err(Error::Input)?;
    for folder in absolute.ancestors().skip(1).take(100) {
        let text = match bounded_file::read_to_string(&folder.join(".sops.yaml")) {
            // A folder on the way may still have to be made.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                continue;
            }
            read => read.map_err(Error::Input)?,
        };
        let relative = absolute.strip_prefix(folder).unwrap_or(&absolute);
        return Ok(Some((text, relative.to_string_lossy().into_owned())));
    }
    Ok(None)
}

fn format(path: &Path) -> Format {
    Format::of_path(&path.to_string_lossy()).unwrap_or(Format::Yaml)
}

fn kind(format: Format) -> &'static str {
    match format {
        Format::Yaml => "yaml",
        Format::Json => "json",
        Format::Dotenv => "dotenv",
    }
}

fn wrong(path: &Path, error: &sops::Error) -> Error {
    let line = error.line().unwrap_or_default();
    let location = FileLocation { line, ..diagnostics::file(path) };
    diagnostics::coded(error, error.to_string()).at(location).into()
}

/// Runs a command line split at blanks, and returns its stdout; single and double quotes keep blanks.
fn run_command(command: &str) -> Result<String, Error> {
    let mut words: Vec<String> = Vec::new();
    let mut quote = None;
    let mut begun = false;
    for character in command.chars() {
        match (quote, character) {
            (None, '\'' | '"') => {
                quote = Some(character);
                if !begun {
                    words.push(String::new());
                }
                begun = true;
            }
            (Some(open), character) if open == character => quote = None,
            (None, ' ' | '\t' | '\n') => begun = false,
            (_, character) => {
                if !begun {
                    words.push(String::new());
                }
                begun = true;
                if let Some(word) = words.last_mut() {
                    word.push(character);
                }
            }
        }
    }
    let Some((program, arguments)) = words.split_first() else { return Err(failed("no command")) };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    converse(&mut child, "")
}

/// Runs the `sops` program; `None` if it is not installed.
fn run_sops(arguments: &[&str], text: &str) -> Option<Result<String, Error>> {
    let spawned = Command::new("sops")
        .args(arguments)
        .arg("/dev/stdin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return Some(Err(failed(&error.to_string()))),
    };
    Some(converse(&mut child, text))
}

/// Writes the input of a program and returns its stdout, within a deadline.
fn converse(child: &mut Child, text: &str) -> Result<String, Error> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let text = text.to_owned();
    // A program that does not read its input says why on stderr.
    std::thread::spawn(move || stdin.map(|mut pipe| pipe.write_all(text.as_bytes())));
    let complaint = std::thread::spawn(move || read(stderr));
    let (sender, receiver) = std::sync::mpsc::channel();
    // Abandoned after the deadline.
    std::thread::spawn(move || drop(sender.send(read(stdout))));
    let Ok(said) = receiver.recv_timeout(SOPS_DEADLINE) else {
        // It may just have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed(&format!("no reply within {} s", SOPS_DEADLINE.as_secs())));
    };
    let status = child.wait().map_err(|error| failed(&error.to_string()))?;
    if status.success() {
        Ok(said)
    } else {
        Err(failed(complaint.join().unwrap_or_default().trim()))
    }
}

/// Reads a pipe to its end. Output that is not UTF-8 counts as empty.
fn read(pipe: Option<impl Read>) -> String {
    let mut text = String::new();
    match pipe.map(|mut pipe| pipe.read_to_string(&mut text)) {
        Some(Ok(_)) => text,
        Some(Err(_)) | None => String::new(),
    }
}

fn failed(reason: &str) -> Error {
    Diagnostic::error(SOPS_PROGRAM, format!("the `sops` program failed: {reason}")).into()
}

/// Prefix of a private age key.
const PRIVATE_KEY: &str = "AGE-SECRET-KEY-";
/// Keys of clouds are asked for over the network.
const SOPS_DEADLINE: Duration = Duration::from_mins(1);
