//! `ichor init --talhelper`: a directory for a new cluster that talhelper could work on as well.

use std::fmt::Write as _;
use std::path::PathBuf;

use talos_config::yaml::Dialect;
use talos_config::{Bundle, Contract};

use super::init;
use crate::args::start::InitArgs;
use crate::printer::Printer;
use crate::sops_files::SopsKeys;
use crate::{Error, ExitStatus, entropy, files};

pub(super) fn run(
    args: &InitArgs,
    keys: &SopsKeys,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let root = args.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    // Names, addresses and releases follow the same rules in both kinds of directory.
    init::checked(args)?;
    init::refuse_cluster(&root, &[ENCRYPTED, CLEAR, "talsecret.sops.yml", "talsecret.yml"])?;
    let contract = args.talos.parse().unwrap_or(Contract::CURRENT);
    let secrets = entropy::with_secret_source(|makers| Bundle::generate(contract, makers))?;
    let secrets = secrets.encode(Dialect::default()).into_exposed();
    let (secrets, is_encrypted) = init::encrypt(secrets, &root.join(ENCRYPTED), keys)?;
    let outputs = [
        (root.join("talconfig.yaml"), talconfig(args)?),
        (root.join("talenv.yaml"), talenv(args)),
        (root.join(if is_encrypted { ENCRYPTED } else { CLEAR }), secrets),
    ];
    init::ignore(&root, &["clusterconfig/"], (!is_encrypted).then_some(CLEAR))?;
    files::write_all(&outputs, false, printer)?;
    init::tell_next(CLEAR, is_encrypted, printer);
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

const ENCRYPTED: &str = "talsecret.sops.yaml";
const CLEAR: &str = "talsecret.yaml";
