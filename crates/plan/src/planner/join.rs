//! Machines that get their first configuration, and those that got it and still boot.

use domain::ApplyMode;

use super::Planner;
use super::assessment::{Disposition, EtcdState};
use super::builder::Extras;
use crate::action::{ApplyConfig, AwaitMachine};

pub(super) fn plan(planner: &mut Planner<'_>) {
    let assessment = planner.assessment;
    let begins = matches!(assessment.etcd, EtcdState::None);
    for machine in &assessment.machines {
        // Etcd takes one new member at a time; before there is one, all machines boot side by side.
        let chained = machine.control_plane && !begins;
        match machine.disposition {
            Disposition::Join => {
                let action = ApplyConfig {
                    config: machine.digest,
                    mode: ApplyMode::Maintenance,
                    changes: Vec::new(),
                };
                if chained {
                    planner.chained(action, machine, Extras::default());
                } else {
                    planner.step(action, machine, Vec::new(), Extras::default());
                }
            }
            // It may never come; its voter is awaited last, where it holds up nothing.
            Disposition::Booting => {
                planner.step(AwaitMachine {}, machine, Vec::new(), Extras::default());
                continue;
            }
            _ => continue,
        }
        if chained {
            planner.await_voter(machine);
        }
    }
}
