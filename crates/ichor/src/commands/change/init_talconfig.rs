//! `ichor init --talhelper`: a directory for a new cluster that talhelper could work on as well.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use talos_config::yaml::Dialect;
use talos_config::{Bundle, Contract};

use super::init;
use crate::args::Init;
use crate::printer::Printer;
use crate::sealed::{self, Keys};
use crate::talhelper::gitignore;
use crate::{Error, ExitStatus, files, makers};

pub(super) fn run(args: &Init, keys: &Keys, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let root = args.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    // Names, addresses and releases follow the same rules in both kinds of directory.
    init::checked(args)?;
    for name in [SEALED, PLAIN, "talsecret.sops.yml", "talsecret.yml"] {
        let path = root.join(name);
        if path.exists() {
            return Err(Error::Exists { path, hint: KEEP });
        }
    }
    let contract = args.talos.parse().unwrap_or(Contract::CURRENT);
    let secrets = makers::with(|makers| Bundle::generate(contract, makers))?;
    let (secrets, is_sealed) =
        seal(secrets.encode(Dialect::default()).into_exposed(), &root, keys)?;
    let outputs = [
        (root.join("talconfig.yaml"), talconfig(args)?),
        (root.join("talenv.yaml"), talenv(args)),
        (root.join(if is_sealed { SEALED } else { PLAIN }), secrets),
    ];
    files::write_all(&outputs, false, printer)?;
    let mut ignored = vec!["clusterconfig/", ".ichor/", "kubeconfig"];
    if !is_sealed {
        ignored.push(PLAIN);
    }
    let ignored: Vec<String> = ignored.into_iter().map(str::to_owned).collect();
    let file = root.join(".gitignore");
    gitignore::add(&file.to_string_lossy(), &ignored)
        .map_err(|reason| Error::Output(std::io::Error::other(reason)))?;
    if is_sealed {
        printer.note("the secrets are encrypted: the directory can be committed");
    } else {
        printer.note(&format!(
            "{PLAIN} is all that a cluster can be taken over with: keep it safe; with a .sops.yaml it would be encrypted"
        ));
    }
    printer.note(
        "machines install to /dev/sda: `ichor gen machine -n ADDRESS --insecure` finds their disks",
    );
    Ok(ExitStatus::Done)
}

/// The secrets as they are kept: encrypted where somebody says for whom.
fn seal(text: String, root: &Path, keys: &Keys) -> Result<(String, bool), Error> {
    match sealed::seal(&text, &root.join(SEALED), keys) {
        Ok(sealed) => Ok((sealed, true)),
        Err(error) if error.code() == "sops.no-rule" => Ok((text, false)),
        Err(error) => Err(error),
    }
}

fn talconfig(args: &Init) -> Result<String, Error> {
    let mut text = format!(
        "clusterName: {}\ntalosVersion: ${{talosVersion}}\nkubernetesVersion: ${{kubernetesVersion}}\nendpoint: \
         {}\nnodes:\n",
        args.cluster, args.endpoint
    );
    for (given, is_control_plane) in [(&args.control_plane, true), (&args.worker, false)] {
        for given in given {
            let (name, address) = init::machine(given)?;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "  - hostname: {name}\n    ipAddress: {address}\n    controlPlane: {is_control_plane}\n    installDisk: \
                 /dev/sda"
            );
        }
    }
    Ok(text)
}

fn talenv(args: &Init) -> String {
    format!("talosVersion: {}\nkubernetesVersion: {}\n", args.talos, args.kubernetes)
}

const SEALED: &str = "talsecret.sops.yaml";
const PLAIN: &str = "talsecret.yaml";
const KEEP: &str = "these may be the secrets of a running cluster: start another directory with -C";
