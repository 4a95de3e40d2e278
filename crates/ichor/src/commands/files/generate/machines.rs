//! `ichor gen machines`: the configuration of every machine of a cluster directory.

use std::path::Path;

use crate::directory::OpenedDirectory;
use crate::files::{self, OutputFile};
use crate::printer::Printer;
use crate::settings::ClusterLocation;
use crate::talhelper::gitignore;
use crate::{Error, ExitStatus, runtime};

pub(in crate::commands) fn run(
    location: &ClusterLocation,
    output: &Path,
    overwrite: bool,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    runtime::run(async {
        let directory = OpenedDirectory::open(location).await?;
        for warning in directory.warnings.iter().chain(&directory.register().await) {
            printer.note(&warning.to_string());
        }
        let spec = &directory.cluster.spec;
        let mut renderer = directory.cluster.renderer();
        let mut outputs = Vec::new();
        for (machine, _) in spec.machines() {
            let config = renderer.config(&machine.name).map_err(engine::Error::from)?;
            let name = format!("{}-{}.yaml", spec.cluster, machine.name);
            let text = renderer.text(&machine.name, &config).into_exposed();
            outputs.push(OutputFile::secret(output.join(name), text));
        }
        let names = outputs.iter().filter_map(|file| file.path.file_name()?.to_str());
        gitignore::extend(output, &names.collect::<Vec<_>>())?;
        files::write_all(&outputs, overwrite, printer)
    })
}
