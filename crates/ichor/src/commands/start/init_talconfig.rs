//! `ichor init --talhelper`: a directory for a new cluster that talhelper could work on as well.

use std::fmt::Write as _;
use std::path::PathBuf;

use talos_config::yaml::Dialect;
use talos_config::{Bundle, Contract};

use super::init;
use crate::args::start::InitArgs;
use crate::printer::Printer;
use crate::sops_files::Keys;
use crate::{Error, ExitStatus, entropy, files};

pub(super) fn run(
    args: &InitArgs,
    keys: &Keys,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let root = args.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    // Names, addresses and releases follow the same rules in both kinds of directory.
    init::checked(args)?;
    init::refuse_cluster(&root, &[SEALED, PLAIN, "talsecret.sops.yml", "talsecret.yml"])?;
    let contract = args.talos.parse().unwrap_or(Contract::CURRENT);
    let secrets = entropy::with(|makers| Bundle::generate(contract, makers))?;
    let secrets = secrets.encode(Dialect::default()).into_exposed();
    let (secrets, is_sealed) = init::seal(secrets, &root.join(SEALED), keys)?;
    let outputs = [
        (root.join("talconfig.yaml"), talconfig(args)?),
        (root.join("talenv.yaml"), talenv(args)),
        (root.join(if is_sealed { SEALED } else { PLAIN }), secrets),
    ];
    init::ignore(&root, &["clusterconfig/"], (!is_sealed).then_some(PLAIN))?;
    files::write_all(&outputs, false, printer)?;
    init::tell_next(PLAIN, is_sealed, printer);
    Ok(ExitStatus::Done)
}

fn talconfig(args: &InitArgs) -> Result<String, Error> {
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

fn talenv(args: &InitArgs) -> String {
    format!("talosVersion: {}\nkubernetesVersion: {}\n", args.talos, args.kubernetes)
}

const SEALED: &str = "talsecret.sops.yaml";
const PLAIN: &str = "talsecret.yaml";
