//! `ichor init`: the directory of a new cluster.

use std::fmt::Write as _;
use std::path::Path;

use plan::ClusterSpec;
use talos_config::yaml::Dialect;
use talos_config::{Bundle, Coded, Contract, SourceId};

use crate::diagnostics::Diagnostics;
use crate::directory::FILE;
use crate::files::OutputFile;
use crate::printer::Printer;
use crate::settings::Init;
use crate::sops_files::{self, SopsKeys};
use crate::talhelper::gitignore;
use crate::{Error, ExitStatus, entropy, files};

pub(super) fn run(settings: &Init, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let Init { root, keys, .. } = settings;
    let text = checked(settings)?;
    refuse_cluster(root, &[ENCRYPTED, CLEAR])?;
    let contract = settings.talos.parse().unwrap_or(Contract::CURRENT);
    let secrets = entropy::with_secret_source(|makers| Bundle::generate(contract, makers))?;
    let secrets = secrets.encode(Dialect::default()).into_exposed();
    let (secrets, is_encrypted) = encrypt(secrets, &root.join(ENCRYPTED), keys)?;
    let outputs = [
        OutputFile::shared(root.join(FILE), text),
        OutputFile::shared(root.join(SCHEMA), plan::json_schema()),
        OutputFile::secret(root.join(if is_encrypted { ENCRYPTED } else { CLEAR }), secrets),
    ];
    ignore(root, &[], (!is_encrypted).then_some(CLEAR))?;
    files::write_all(&outputs, false, printer)?;
    tell_next(CLEAR, is_encrypted, printer);
    Ok(ExitStatus::Done)
}

/// Refuses a directory that is a cluster's already, of either kind, or has secrets: they may be those of a running cluster.
pub(super) fn refuse_cluster(root: &Path, secrets: &[&str]) -> Result<(), Error> {
    for name in [FILE, SCHEMA, "talconfig.yaml"].iter().chain(secrets) {
        let path = root.join(name);
        if path.exists() {
            return Err(Error::Exists { path, hint: KEEP });
        }
    }
    Ok(())
}

/// The secrets as they are kept: encrypted where a creation rule or `SOPS_AGE_RECIPIENTS` names recipients.
pub(super) fn encrypt(text: String, path: &Path, keys: &SopsKeys) -> Result<(String, bool), Error> {
    match sops_files::encrypt(&text, path, keys) {
        Ok(encrypted) => Ok((encrypted, true)),
        Err(error) if error.code() == NO_RULE => Ok((text, false)),
        Err(error) => Err(error),
    }
}

/// Adds what must not be committed to the `.gitignore` of a directory.
pub(super) fn ignore(root: &Path, names: &[&str], plain: Option<&str>) -> Result<(), Error> {
    let always = [".ichor/", ".ichor-*", "kubeconfig", "talosconfig"];
    let ignored: Vec<&str> = names.iter().chain(&always).copied().chain(plain).collect();
    gitignore::extend(root, &ignored)
}

/// Prints the next steps for a new directory.
pub(super) fn tell_next(plain: &str, is_encrypted: bool, printer: &mut Printer) {
    if is_encrypted {
        printer.note("the secrets are encrypted: the directory can be committed");
    } else {
        printer.note(&format!(
            "{plain} gives full control of the cluster: keep it private and backed up; it is encrypted from the start if \
             `ichor gen age-key` comes first"
        ));
    }
    printer.note(
        "machines install to /dev/sda: `ichor gen machine -n ADDRESS --insecure` detects their disks",
    );
    printer.note("next: `ichor plan` shows the steps");
}

/// The native file, if what was typed makes one.
pub(super) fn checked(settings: &Init) -> Result<String, Error> {
    let text = text(settings)?;
    // The text is not a file yet, so that its lines mean nothing.
    ClusterSpec::parse(&text, SourceId::default()).map_err(|error| {
        let problems = error.diagnostics().into_iter();
        Diagnostics::new(problems.map(|problem| problem.in_file(|_| None)).collect())
    })?;
    Ok(text)
}

fn text(settings: &Init) -> Result<String, Error> {
    let Init { cluster, endpoint, talos, kubernetes, .. } = settings;
    let mut text = format!(
        "# yaml-language-server: $schema={SCHEMA}\nichor: v1\ncluster: {cluster}\nendpoint: {endpoint}\ntalos: {talos}\nkubernetes: \
         {kubernetes}\ncontrolPlane:\n  machines:\n{}",
        machines(&settings.control_plane, 4)?
    );
    if !settings.worker.is_empty() {
        text.push_str("pools:\n  - name: workers\n    machines:\n");
        text.push_str(&machines(&settings.worker, 6)?);
    }
    Ok(text)
}

fn machines(given: &[String], indent: usize) -> Result<String, Error> {
    let mut text = String::new();
    for given in given {
        let (name, address) = machine(given)?;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:indent$}- {{name: {name}, address: {address}}}", "");
    }
    Ok(text)
}

/// Name and address of a machine.
pub(super) fn machine(given: &str) -> Result<(&str, &str), Error> {
    given.split_once('=').ok_or_else(|| Error::Usage {
        message: format!("invalid machine {given:?}"),
        hint: "write it as NAME=ADDRESS".to_owned(),
    })
}

/// The code of the error where nothing names recipients.
const NO_RULE: &str = "sops.no-rule";
/// The JSON Schema of the file, for editors.
const SCHEMA: &str = "ichor.schema.json";
const ENCRYPTED: &str = "secrets.sops.yaml";
const CLEAR: &str = "secrets.yaml";
const KEEP: &str =
    "this may be the directory of a running cluster: create another one with -C, and keep this one";
