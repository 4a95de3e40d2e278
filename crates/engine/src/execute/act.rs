//! The actions: what each of them does to its machine, and when it is done.

use plan::{Action, ApplyMode, Kind, MAX_LAG, NodeState, Step};

use super::Execution;
use crate::cluster::Target;
use crate::error::{Error, Trouble};
use crate::journal::Entry;
use crate::ports::Seen;

pub(super) async fn act(
    execution: &Execution<'_>,
    step: &Step,
    target: &Target,
) -> Result<(), Error> {
    match &step.action {
        Action::ApplyConfig { config, mode, changes: _ } => {
            let mut renderer = execution.cluster.renderer();
            let wanted = renderer.config(&target.name)?;
            if execution.cluster.key.config(&wanted) != *config {
                let message = format!(
                    "{}: the spec gives another configuration than the plan says",
                    target.name
                );
                return Err(Trouble::precondition(message).into());
            }
            if *mode == ApplyMode::Maintenance {
                execution.ports.provider.ensure(&execution.effect(step), &target.name).await?;
                execution.append(Entry::Configuring { machine: target.name.clone() }).await?;
            }
            let text = renderer.text(&target.name, &wanted);
            execution.ports.machines.apply_config(target, &text, *mode).await?;
            match mode {
                ApplyMode::Maintenance => joined(execution, step, target).await,
                ApplyMode::NoReboot | ApplyMode::Staged => Ok(()),
            }
        }
        Action::BootstrapEtcd => bootstrap(execution, step, target).await,
        Action::AwaitVoter => {
            await_voter(execution, step, target).await;
            Ok(())
        }
        Action::AwaitNode { ready } => {
            await_node(execution, step, target, *ready).await;
            Ok(())
        }
        Action::HandOverLeadership => {
            Ok(execution.ports.machines.hand_over_leadership(target).await?)
        }
        Action::RebootMachine => reboot(execution, step, target).await,
        Action::ResetMachine => reset(execution, step, target).await,
        Action::FetchKubeconfig => {
            let kubeconfig = execution.ports.machines.kubeconfig(target).await?;
            Ok(execution.ports.vault.keep_kubeconfig(&kubeconfig).await?)
        }
    }
}

/// Waits until a machine that was in maintenance knows us, and records which installation it is.
async fn joined(execution: &Execution<'_>, step: &Step, target: &Target) -> Result<(), Error> {
    loop {
        if let Seen::Ours { node, .. } = execution.ports.machines.see(target).await {
            let machine = target.name.clone();
            return execution.append(Entry::Recorded { machine, node }).await;
        }
        execution.wait(step, "the machine to start with its configuration").await;
    }
}

async fn bootstrap(execution: &Execution<'_>, step: &Step, target: &Target) -> Result<(), Error> {
    let mut tried = false;
    loop {
        match execution.ports.machines.bootstrap(target).await {
            Ok(true) => return Ok(()),
            // Our own call whose answer was lost: there was no etcd before it.
            Ok(false) if tried => return Ok(()),
            Ok(false) => {
                let message = format!("{}: etcd has been bootstrapped before", target.name);
                return Err(Trouble::precondition(message).into());
            }
            Err(trouble) if trouble.kind == Kind::Retryable => {
                tried = true;
                execution.wait(step, &trouble.message).await;
            }
            Err(trouble) => return Err(trouble.into()),
        }
    }
}

async fn await_voter(execution: &Execution<'_>, step: &Step, target: &Target) {
    let machines = execution.ports.machines;
    loop {
        let waits_for = match machines.member(target).await {
            Ok(None) => "etcd to start".to_owned(),
            Err(trouble) => trouble.message,
            Ok(Some(state)) => match machines.members(target).await {
                Err(trouble) => trouble.message,
                Ok(members) => {
                    let own = members.iter().find(|member| member.id == state.id);
                    match own {
                        None => "the member to be listed".to_owned(),
                        Some(own) if !own.voter => "the member to vote".to_owned(),
                        Some(_) if furthest(execution).await > state.applied + MAX_LAG => {
                            "the member to catch up".to_owned()
                        }
                        Some(_) => return,
                    }
                }
            },
        };
        execution.wait(step, &waits_for).await;
    }
}

/// The last entry that any member has applied.
async fn furthest(execution: &Execution<'_>) -> u64 {
    let mut furthest = 0;
    for target in execution.cluster.control_planes() {
        if let Ok(Some(state)) = execution.ports.machines.member(&target).await {
            furthest = furthest.max(state.applied);
        }
    }
    furthest
}

async fn await_node(execution: &Execution<'_>, step: &Step, target: &Target, ready: bool) {
    loop {
        let waits_for = match execution.ports.kubernetes.nodes().await {
            Err(trouble) => trouble.message,
            Ok(nodes) => match nodes.iter().find(|(name, _)| name == target.name.as_str()) {
                None | Some((_, NodeState::Absent)) => "the node to be registered".to_owned(),
                Some((_, NodeState::NotReady)) if ready => "the node to be ready".to_owned(),
                Some(_) => return,
            },
        };
        execution.wait(step, &waits_for).await;
    }
}

async fn reboot(execution: &Execution<'_>, step: &Step, target: &Target) -> Result<(), Error> {
    let Seen::Ours { boot: before, .. } = execution.ports.machines.see(target).await else {
        let message = format!("{}: cannot be seen before its reboot", target.name);
        return Err(Trouble::precondition(message).into());
    };
    execution.ports.machines.reboot(target).await?;
    loop {
        if let Seen::Ours { boot, .. } = execution.ports.machines.see(target).await
            && boot != before
        {
            return Ok(());
        }
        execution.wait(step, "the machine to boot").await;
    }
}

async fn reset(execution: &Execution<'_>, step: &Step, target: &Target) -> Result<(), Error> {
    execution.ports.machines.reset(target).await?;
    loop {
        if let Seen::Maintenance = execution.ports.machines.see(target).await {
            let provider = execution.ports.provider;
            return Ok(provider.destroy(&execution.effect(step), &target.name).await?);
        }
        execution.wait(step, "the machine to boot without its configuration").await;
    }
}
