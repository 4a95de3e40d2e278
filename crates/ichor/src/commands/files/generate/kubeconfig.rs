//! `ichor gen kubeconfig`: the administrator's kubeconfig from the secrets of a cluster.

use std::path::PathBuf;

use super::{read_bundle, write};
use crate::printer::Printer;
use crate::settings::GenKubeconfig;
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, entropy};

pub(in crate::commands) fn run(
    settings: &GenKubeconfig,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let bundle = read_bundle(&settings.secrets, &mut SourceMap::with_keys(&settings.keys))?;
    let made = entropy::with_secret_source(|makers| {
        bundle.kubeconfig(&settings.cluster, &settings.endpoint, settings.lifetime, makers)
    })?;
    write(vec![(PathBuf::new(), made?.into_exposed())], &settings.target, printer)
}
