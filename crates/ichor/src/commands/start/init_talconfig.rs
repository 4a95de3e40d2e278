//! `ichor init --talhelper`: a directory for a new cluster that talhelper could work on as well.

use std::fmt::Write as _;

use talos_config::yaml::Dialect;
use talos_config::{Bundle, Contract};

use super::init;
use crate::files::OutputFile;
use crate::printer::Printer;
use crate::settings::Init;
use crate::{Error, ExitStatus, entropy, files};

pub(super) fn run(settings: &Init, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let Init { root, keys, .. } = settings;
    // Names, addresses and releases follow the same rules in both kinds of directory.
    init::checked(settings)?;
    init::refuse_cluster(root, &[ENCRYPTED, CLEAR, "talsecret.sops.yml", "talsecret.yml"])?;
    let contract = settings.talos.parse().unwrap_or(Contract::CURRENT);
    let secrets = entropy::with_secret_source(|makers| Bundle::generate(contract, makers))?;
    let secrets = secrets.encode(Dialect::default()).into_exposed();
    let (secrets, is_encrypted) = init::encrypt(secrets, &root.join(ENCRYPTED), keys)?;
    let outputs = [
        OutputFile::shared(root.join("talconfig.yaml"), talconfig(settings)?),
        OutputFile::shared(root.join("talenv.yaml"), talenv(settings)),
        OutputFile::secret(root.join(if is_encrypted { ENCRYPTED } else { CLEAR }), secrets),
    ];
    init::ignore(root, &["clusterconfig/"], (!is_encrypted).then_some(CLEAR))?;
    files::write_all(&outputs, false, printer)?;
    init::tell_next(CLEAR, is_encrypted, printer);
    Ok(ExitStatus::Done)
}

fn talconfig(settings: &Init) -> Result<String, Error> {
    let mut text = format!(
        "clusterName: {}\ntalosVersion: ${{talosVersion}}\nkubernetesVersion: ${{kubernetesVersion}}\nendpoint: \
         {}\nnodes:\n",
        settings.cluster, settings.endpoint
    );
    for (given, is_control_plane) in [(&settings.control_plane, true), (&settings.worker, false)] {
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

fn talenv(settings: &Init) -> String {
    format!("talosVersion: {}\nkubernetesVersion: {}\n", settings.talos, settings.kubernetes)
}

const ENCRYPTED: &str = "talsecret.sops.yaml";
const CLEAR: &str = "talsecret.yaml";
