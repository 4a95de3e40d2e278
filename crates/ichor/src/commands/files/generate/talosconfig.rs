//! `ichor gen talosconfig`: a talosconfig from the secrets of a cluster.

use std::path::PathBuf;

use super::{read_bundle, write};
use crate::directory::ClientAccess;
use crate::printer::Printer;
use crate::settings::{GenTalosconfig, Input};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, directory, entropy};

pub(in crate::commands) fn run(
    settings: &GenTalosconfig,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let GenTalosconfig { location, cluster, secrets, roles, lifetime, target } = settings;
    let identity = match secrets {
        Some(_) => None,
        None => directory::client_access(location)?,
    };
    if let (Some(ClientAccess { cluster: own, .. }), Some(named)) = (&identity, cluster)
        && own != named
    {
        return Err(Error::Usage {
            message: format!("this is the directory of the cluster {own:?}, not of {named:?}"),
            hint: format!(
                "pass the secrets of {named} with --with-secrets, or leave out the name for {own}"
            ),
        });
    }
    let (name, bundle, endpoints) = match (identity, secrets) {
        (Some(ClientAccess { cluster, secrets, endpoints, .. }), _) => {
            (Some(cluster), secrets, endpoints)
        }
        (None, secrets) => {
            let usual = Input::File("secrets.yaml".into());
            let input = secrets.as_ref().unwrap_or(&usual);
            (None, read_bundle(input, &mut SourceMap::with_keys(&location.keys))?, Vec::new())
        }
    };
    let name = cluster.clone().or(name).ok_or_else(|| Error::Usage {
        message: "no cluster name: this is not a cluster directory".to_owned(),
        hint: "pass the name: `ichor gen talosconfig NAME`".to_owned(),
    })?;
    let made =
        entropy::with_secret_source(|makers| bundle.talosconfig(&name, roles, *lifetime, makers))?;
    let mut made = made?;
    if !endpoints.is_empty() {
        made.set_endpoints(&name, &endpoints);
    }
    write(vec![(PathBuf::new(), made.encode().into_exposed())], target, printer)
}
