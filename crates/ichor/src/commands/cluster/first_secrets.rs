//! The secrets of a cluster that does not exist yet, which `ichor apply` generates.
//!
//! Always holds: they are generated only where every machine of the directory has just said that it is in maintenance and the
//! journal knows no member of etcd, after a person at a terminal has agreed, and encrypted. In all other cases they are missing,
//! and new ones would open no machine. `--yes` agrees to nothing here: where a directory was checked out for one run, the secrets
//! and the journal may be elsewhere, and what is generated is lost with it.

use std::time::Duration;

use talos_api::proto::definitions::enums::RuntimeMachineStage as Stage;
use talos_api::proto::definitions::runtime::MachineStatusSpec;
use talos_config::Bundle;
use talos_config::yaml::Dialect;

use crate::args::{ConnectionArgs, MaintenanceArgs};
use crate::directory::NewSecrets;
use crate::files::{self, OutputFile};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, directory, entropy, sops_files};

/// Generates the secrets, or returns the error that they are missing.
pub(super) async fn generate(
    missing: Error,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<(), Error> {
    let location = &environment.location;
    if !printer.can_ask()
        || !directory::members(location).await?.is_empty()
        || !all_in_maintenance(environment).await?
    {
        return Err(missing);
    }
    let NewSecrets { path, contract } = directory::new_secrets(location)?;
    let secrets = entropy::with_secret_source(|makers| Bundle::generate(contract, makers))?;
    let text =
        sops_files::encrypt(secrets.encode(Dialect::default()).expose(), &path, &location.keys)?;
    printer.note("the directory has no secrets, and all of its machines are in maintenance");
    let question = format!("generate secrets for a new cluster in {}", path.display());
    printer.confirm(&question, false)?;
    files::write_all(&[OutputFile::secret(path, text)], false, printer)?;
    Ok(())
}

async fn all_in_maintenance(environment: &UserEnvironment) -> Result<bool, Error> {
    let machines = directory::known_machines(&environment.location)?;
    let nodes: Vec<String> =
        machines.iter().filter_map(|machine| machine.addresses.first().cloned()).collect();
    if nodes.is_empty() || nodes.len() != machines.len() {
        return Ok(false);
    }
    let connection = ConnectionArgs {
        nodes,
        endpoints: Vec::new(),
        talosconfig: None,
        context: None,
        deadline: DEADLINE,
    };
    let maintenance = MaintenanceArgs { insecure: true, cert_fingerprint: Vec::new() };
    let nodes = Nodes::connect_or_maintenance(&connection, &maintenance, environment)?;
    let stage = |node: talos_api::Node| async move {
        let status = node.get::<MachineStatusSpec>("machine").await?.unwrap_or_default();
        Ok(status.stage == i32::from(Stage::MachineStageMaintenance))
    };
    let (stages, failures) = nodes.call_each(stage).await.split();
    Ok(failures.is_empty() && stages.iter().all(|(_, is_in_maintenance)| *is_in_maintenance))
}

/// Long enough for a machine in maintenance, which has nothing else to do.
const DEADLINE: Duration = Duration::from_secs(10);
