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
        message: "the cluster has no name: this is not the directory of a cluster".to_owned(),
        hint: "name it: `ichor gen talosconfig NAME`".to_owned(),
    })?;
    let made =
        entropy::with_secret_source(|makers| bundle.talosconfig(&name, roles, *lifetime, makers))?;
    let mut made = made?;
    if !endpoints.is_empty() {
        made.set_endpoints(&name, &endpoints);
    }
    write(vec![(PathBuf::new(), made.encode().into_exposed())], target, printer)
}
