//! Waits until a machine's member of etcd votes, runs and has caught up, and records the member.

use domain::{MAX_LAG, MemberId};

use super::{At, Look};
use crate::cluster::MachineAddress;
use crate::error::Error;
use crate::journal::Entry;
use crate::ports::{MemberState, Observed};

pub(super) async fn act(at: &At<'_>) -> Result<(), Error> {
    let member = at
        .until(|| async {
            let state = match at.ports.etcd.status(at.machine()?).await {
                Ok(Some(state)) => state,
                Ok(None) => return Ok(Look::WaitFor("etcd to start".to_owned())),
                Err(error) => return Ok(Look::WaitFor(error.message)),
            };
            Ok(match waits_for(&state, at.machine()?, at).await {
                Some(what) => Look::WaitFor(what),
                None => Look::Done(state.id),
            })
        })
        .await?;
    record(member, at).await
}

/// Returns what is missing until a member counts.
async fn waits_for(state: &MemberState, machine: &MachineAddress, at: &At<'_>) -> Option<String> {
    let own = match at.ports.etcd.list(machine).await {
        Ok(members) => members,
        Err(error) => return Some(error.message),
    };
    match own.iter().find(|member| member.id == state.id) {
        None => return Some("the member to be listed".to_owned()),
        Some(member) if !member.voter => return Some("the member to vote".to_owned()),
        Some(_) => {}
    }
    // A member that is cut off still answers; it follows no leader then.
    let follows = state.leader.is_some_and(|leader| own.iter().any(|member| member.id == leader));
    if !follows {
        return Some("the member to follow a leader".to_owned());
    }
    // Of its own etcd a machine would say the same; the others have to count it as well.
    let mut max_applied = state.applied;
    let is_other = |other: &&MachineAddress| {
        other.name != *at.name && at.execution.cluster.spec.is_control_plane(&other.name)
    };
    for other in at.execution.addresses.values().filter(is_other) {
        let Ok(Some(other_state)) = at.ports.etcd.status(other).await else { continue };
        match at.ports.etcd.list(other).await {
            Ok(members) if members.iter().all(|member| member.id != state.id) => {
                return Some(format!("{} to count the member", other.name));
            }
            Ok(_) | Err(_) => max_applied = max_applied.max(other_state.applied),
        }
    }
    (max_applied > state.applied + MAX_LAG).then(|| "the member to catch up".to_owned())
}

async fn record(member: MemberId, at: &At<'_>) -> Result<(), Error> {
    let ledger = at.ports.journal.ledger().await?;
    let machine = at.name.clone();
    if ledger.members.get(&member) == Some(&machine) {
        return Ok(());
    }
    let node = match (ledger.recorded.get(&machine), at.ports.machines.observe(at.machine()?).await)
    {
        (Some(node), _) => Some(node.clone()),
        (None, Observed::Ours(own)) => own.node,
        (None, _) => None,
    };
    let Some(node) = node else { return Ok(()) };
    at.execution.append(Entry::MachineRecorded { machine, node, member: Some(member) }).await
}
