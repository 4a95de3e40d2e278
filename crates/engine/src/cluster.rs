//! What is wanted of one cluster, with everything that its machines' configuration is made of.

use std::collections::BTreeMap;

use plan::{
    Address, ClusterSpec, DigestKey, Inventory, Layers, Live, MachineName, RenderError, Renderer,
    Renderings,
};
use talos_config::{Bundle, Config, Mode};

/// One cluster, as a door describes it.
pub struct Cluster {
    /// What is wanted.
    pub spec: ClusterSpec,
    /// What the configuration of its machines is laid together from.
    pub layers: Layers,
    /// Its secrets.
    pub secrets: Bundle,
    /// The key of its digests.
    pub key: DigestKey,
    /// Where its machines run.
    pub mode: Mode,
}

/// Where a machine is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Target {
    /// Its name in the spec.
    pub name: MachineName,
    /// Its address.
    pub address: Address,
}

impl Cluster {
    /// All machines, control planes first.
    pub fn targets(&self) -> Vec<Target> {
        let machines = self.spec.machines();
        machines
            .map(|(machine, _)| Target { name: machine.name.clone(), address: machine.address })
            .collect()
    }

    /// The machines that run etcd.
    pub fn control_planes(&self) -> Vec<Target> {
        let mut targets = self.targets();
        targets.retain(|target| self.spec.is_control_plane(&target.name));
        targets
    }

    /// A machine by its name.
    pub fn target(&self, name: &MachineName) -> Option<Target> {
        self.targets().into_iter().find(|target| target.name == *name)
    }

    /// The configuration that each machine should have, compared with what it has.
    pub(crate) fn render(
        &self,
        live: &BTreeMap<MachineName, Config>,
        inventory: &Inventory,
    ) -> Result<Renderings, RenderError> {
        let mut renderer = self.renderer();
        let mut renderings = Renderings::new();
        for (machine, _) in self.spec.machines() {
            let facts = inventory.machines.get(&machine.name);
            let talos = facts.and_then(|facts| facts.talos.current(inventory.taken));
            let has = live.get(&machine.name).map(|config| Live { config, talos });
            renderings.insert(machine.name.clone(), renderer.render(&machine.name, has)?);
        }
        Ok(renderings)
    }

    /// What makes the configuration of its machines.
    pub fn renderer(&self) -> Renderer<'_> {
        Renderer::new(&self.spec, &self.layers, &self.secrets, &self.key, self.mode)
    }
}
