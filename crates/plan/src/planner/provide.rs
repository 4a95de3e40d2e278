//! Machines that a provider makes. They are configured by the next plan, which knows their addresses.

use super::Planner;
use super::assessment::{Disposition, EtcdState};
use super::builder::Extras;

/// Plans `ProvideMachine` steps; returns false if nothing else may be planned beside them.
pub(super) fn plan(planner: &mut Planner<'_>) -> bool {
    let assessment = planner.assessment;
    let mut control_planes = false;
    for machine in &assessment.machines {
        if let Disposition::Provide(action) = &machine.disposition {
            planner.step(action.clone(), machine, Vec::new(), Extras::default());
            control_planes |= machine.control_plane;
        }
    }
    // Etcd begins when all control planes are there.
    !(control_planes && matches!(assessment.etcd, EtcdState::None))
}
