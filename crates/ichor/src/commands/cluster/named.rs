//! The machines that a command line names.

use plan::MachineName;

use crate::Error;
use crate::directory::OpenedDirectory;

/// Returns the machines of these names or addresses.
pub(super) fn named(
    directory: &OpenedDirectory,
    names: &[String],
) -> Result<Vec<MachineName>, Error> {
    let machine = |name: &String| {
        let found = directory.machine(name).map(|machine| machine.name.clone());
        found.ok_or_else(|| {
            let machines = directory.cluster.spec.machines();
            let known: Vec<&str> = machines.map(|(machine, _)| machine.name.as_str()).collect();
            Error::Usage {
                message: format!("the cluster has no machine {name:?}"),
                hint: format!("it has {}", known.join(", ")),
            }
        })
    };
    names.iter().map(machine).collect()
}
