//! The actions, one file each under the name that it has in `plan`: what each does to its machine, and when it is done.

mod apply_config;
mod await_machine;
mod await_node;
mod await_voter;
mod bootstrap_etcd;
mod destroy_machine;
mod fetch_kubeconfig;
mod hand_over_leadership;
mod provide_machine;
mod reboot_machine;
mod reset_machine;

use plan::Action;

use super::{At, Look};
use crate::error::{Error, PortError};

pub(super) async fn act(at: &At<'_>) -> Result<(), Error> {
    match &at.step.action {
        Action::ApplyConfig(action) => apply_config::act(action, at).await,
        Action::AwaitMachine(_) => await_machine::act(at, await_machine::CONFIGURED_BEFORE).await,
        Action::AwaitNode(action) => await_node::act(action, at).await,
        Action::AwaitVoter(_) => await_voter::act(at).await,
        Action::BootstrapEtcd(_) => bootstrap_etcd::act(at).await,
        Action::DestroyMachine(action) => destroy_machine::act(action, at).await,
        Action::FetchKubeconfig(_) => fetch_kubeconfig::act(at).await,
        Action::HandOverLeadership(_) => hand_over_leadership::act(at).await,
        Action::ProvideMachine(action) => provide_machine::act(action, at).await,
        Action::RebootMachine(_) => reboot_machine::act(at).await,
        Action::ResetMachine(_) => reset_machine::act(at).await,
    }
}

/// A call that failed, and may have been carried out all the same, is judged by what can be seen afterwards.
fn sent(outcome: Result<(), PortError>) -> Result<(), PortError> {
    match outcome {
        Err(error) if error.may_have_happened => Ok(()),
        outcome => outcome,
    }
}
