//! What must hold right before a step, looked at right before it.

use plan::{Etcd, Fact, MAX_LAG, Precondition, Step};

use super::Execution;
use crate::cluster::Target;
use crate::error::Trouble;
use crate::observe;
use crate::ports::Seen;

pub(super) async fn check(
    execution: &Execution<'_>,
    step: &Step,
    target: &Target,
) -> Result<(), Trouble> {
    if step.preconditions.is_empty() {
        return Ok(());
    }
    let seen = execution.ports.machines.see(target).await;
    let asks_etcd = step.preconditions.iter().any(|precondition| {
        matches!(
            precondition,
            Precondition::MemberIs(_) | Precondition::NoMembers | Precondition::AbleVoters(_)
        )
    });
    let etcd = if asks_etcd { etcd(execution).await? } else { Etcd::default() };
    for precondition in &step.preconditions {
        let problem = match precondition {
            Precondition::InMaintenance => match &seen {
                Seen::Maintenance => None,
                Seen::Unseen(why) => Some(why.clone()),
                Seen::Ours { .. } | Seen::Another => Some("it has a configuration".to_owned()),
            },
            Precondition::NodeIs(expected) => match &seen {
                Seen::Ours { node, .. } if node == expected => None,
                Seen::Ours { node, .. } => Some(format!("it is {node} now")),
                other => Some(unseen(other)),
            },
            Precondition::BootIs(expected) => match &seen {
                Seen::Ours { boot, .. } if boot == expected => None,
                Seen::Ours { .. } => Some("it has booted since".to_owned()),
                other => Some(unseen(other)),
            },
            Precondition::ConfigIs(expected) => match &seen {
                Seen::Ours { config, .. } if execution.cluster.key.config(config) == *expected => {
                    None
                }
                Seen::Ours { .. } => Some("somebody has changed its configuration".to_owned()),
                other => Some(unseen(other)),
            },
            Precondition::MemberIs(expected) => match etcd.on(&target.name) {
                Some((id, _)) if id == *expected => None,
                Some((id, _)) => Some(format!("its member is {id} now")),
                None => Some("it is no member of etcd any more".to_owned()),
            },
            Precondition::NoMembers => {
                let members = etcd.members.len();
                (members > 0).then(|| format!("etcd has {members} members already"))
            }
            Precondition::AbleVoters(least) => {
                let able = able(&etcd);
                (able < *least).then(|| format!("{able} voters are able, and {least} must be"))
            }
        };
        if let Some(problem) = problem {
            let name = &target.name;
            return Err(Trouble::precondition(format!("{name}: not {precondition}: {problem}")));
        }
    }
    Ok(())
}

/// Voters that run and have answered.
fn able(etcd: &Etcd) -> u32 {
    let able = etcd.members.values().filter(|member| {
        member.voter && member.started && member.lag.is_some_and(|lag| lag <= MAX_LAG)
    });
    u32::try_from(able.count()).unwrap_or(u32::MAX)
}

async fn etcd(execution: &Execution<'_>) -> Result<Etcd, Trouble> {
    match observe::etcd_now(execution.cluster, execution.ports).await {
        Fact::Known { value, .. } => Ok(value),
        Fact::NotKnown { why } => {
            Err(Trouble::precondition(format!("the members of etcd are not known: {why}")))
        }
    }
}

fn unseen(seen: &Seen) -> String {
    match seen {
        Seen::Unseen(why) => why.clone(),
        Seen::Maintenance => "it waits for configuration".to_owned(),
        Seen::Another => "it is another cluster's".to_owned(),
        Seen::Ours { .. } => String::new(),
    }
}
