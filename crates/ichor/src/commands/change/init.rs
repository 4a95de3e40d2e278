//! `ichor init`: the directory of a new cluster.

use std::fmt::Write as _;
use std::path::PathBuf;

use plan::ClusterSpec;
use talos_config::yaml::Dialect;
use talos_config::{Bundle, Contract, Source};

use crate::args::Init;
use crate::directory::FILE;
use crate::printer::Printer;
use crate::{Error, ExitStatus, files, makers};

pub(super) fn run(args: &Init, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let root = args.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let text = checked(args)?;
    let contract = args.talos.parse().unwrap_or(Contract::CURRENT);
    let secrets = makers::with(|makers| Bundle::generate(contract, makers))?;
    let outputs = [
        (root.join(FILE), text),
        (root.join("secrets.yaml"), secrets.encode(Dialect::default()).into_exposed()),
        (root.join(".gitignore"), IGNORED.to_owned()),
    ];
    files::write_all(&outputs, false, printer)?;
    printer.note("secrets.yaml is all that a cluster can be taken over with: keep it safe");
    Ok(ExitStatus::Done)
}

/// The native file, if what was typed makes one.
pub(super) fn checked(args: &Init) -> Result<String, Error> {
    let text = text(args)?;
    ClusterSpec::parse(&text, Source::default()).map_err(|error| Error::Spec {
        message: error.to_string(),
        hint: error.hint().map(str::to_owned),
        code: error.code(),
    })?;
    Ok(text)
}

fn text(args: &Init) -> Result<String, Error> {
    let Init { cluster, endpoint, talos, kubernetes, .. } = args;
    let mut text = format!(
        "ichor: v1\ncluster: {cluster}\nendpoint: {endpoint}\ntalos: {talos}\nkubernetes: \
         {kubernetes}\ncontrolPlane:\n  machines:\n{}",
        machines(&args.control_plane, 4)?
    );
    if !args.worker.is_empty() {
        text.push_str("pools:\n  - name: workers\n    machines:\n");
        text.push_str(&machines(&args.worker, 6)?);
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
        message: format!("{given:?} is no machine"),
        hint: "write it as NAME=ADDRESS".to_owned(),
    })
}

const IGNORED: &str = ".ichor/\nkubeconfig\nsecrets.yaml\n";
