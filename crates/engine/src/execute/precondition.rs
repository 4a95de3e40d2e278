//! Preconditions of steps, checked right before the step.

use domain::{Etcd, Fact, MAX_LAG, MachineName, Member};
use plan::{EtcdEffect, Needs, Precondition, Rule};

use super::At;
use crate::error::{Error, PortError};
use crate::observe::etcd_now;
use crate::ports::{ApiError, NextBoot, Observed};
use crate::provider::ProvidedMachine;

/// The observations that the preconditions of a step need.
struct Evidence {
    machine: Option<Observed>,
    etcd: Option<Etcd>,
    /// A Kubernetes API answers.
    api: bool,
    /// The provider's machines under the machine's name.
    instances: Vec<ProvidedMachine>,
}

pub(super) async fn check(at: &At<'_>) -> Result<(), Error> {
    let needs = at.step.preconditions.iter().map(Precondition::needs);
    let needs = needs.fold(Needs::default(), Needs::and);
    let seen = look(needs, at).await?;
    for precondition in &at.step.preconditions {
        if let Some(problem) = problem(precondition, &seen, at) {
            let name = at.name;
            let message = format!("{name}: not {precondition}: {problem}");
            return Err(PortError::precondition(message).into());
        }
    }
    if at.step.action.nature().reboots
        && let Some(problem) = staged_problem(&seen, at)?
    {
        return Err(PortError::precondition(format!("{}: {problem}", at.name)).into());
    }
    Ok(())
}

/// Checks that the machine boots into the configuration that the plan has staged, and into no other.
fn staged_problem(seen: &Evidence, at: &At<'_>) -> Result<Option<&'static str>, Error> {
    let Some(Observed::Ours(own)) = &seen.machine else { return Ok(None) };
    let next = match &own.next_boot {
        NextBoot::NotKnown => None,
        NextBoot::Same => own.config.as_ref(),
        NextBoot::Other(staged) => Some(&**staged),
    };
    let (wanted, _) = (at.execution.render)(at.name)?;
    let is_other = next.is_some_and(|next| at.execution.cluster.key.config(next) != wanted);
    Ok(is_other.then_some("it would boot with another configuration than the plan has staged"))
}

async fn look(needs: Needs, at: &At<'_>) -> Result<Evidence, Error> {
    let Needs { machine, etcd, kubernetes, provider } = needs;
    let machine = if machine { Some(at.ports.machines.observe(at.machine()?).await) } else { None };
    let etcd = if etcd { Some(members(at).await?) } else { None };
    let api = kubernetes
        && matches!(at.ports.kubernetes.lease().await, Ok(_) | Err(ApiError::Refused(_)));
    let instances = if provider {
        let listed = at.execution.provided().await?;
        listed.iter().filter(|made| made.name == *at.name).cloned().collect()
    } else {
        Vec::new()
    };
    Ok(Evidence { machine, etcd, api, instances })
}

async fn members(at: &At<'_>) -> Result<Etcd, Error> {
    // A person has said that what is unreachable holds no etcd.
    let is_waived =
        |name: &MachineName| at.execution.plan.overrides(Rule::BootstrapUnseen, Some(name));
    match etcd_now(&at.execution.addresses, at.execution.cluster, at.ports, is_waived).await? {
        Fact::Known { value, .. } => Ok(value),
        Fact::NotKnown { why } => {
            let message = format!("the members of etcd are not known: {why}");
            Err(PortError::precondition(message).into())
        }
    }
}

/// Returns what is wrong, if the precondition does not hold.
fn problem(precondition: &Precondition, seen: &Evidence, at: &At<'_>) -> Option<String> {
    let no_machine = Observed::Unreachable("not observed".to_owned());
    let machine = seen.machine.as_ref().unwrap_or(&no_machine);
    let own = match machine {
        Observed::Ours(own) => Ok(own),
        Observed::Maintenance => Err("it is in maintenance".to_owned()),
        Observed::Foreign => Err("it is foreign".to_owned()),
        Observed::Unreachable(why) => Err(why.clone()),
    };
    let no_etcd = Etcd::default();
    let etcd = seen.etcd.as_ref().unwrap_or(&no_etcd);
    match precondition {
        Precondition::InMaintenance => match machine {
            Observed::Maintenance => None,
            Observed::Unreachable(why) => Some(why.clone()),
            Observed::Ours(_) | Observed::Foreign => Some("it has a configuration".to_owned()),
        },
        Precondition::NodeIs(expected) => match own {
            Ok(own) if own.node.as_ref() == Some(expected) => None,
            Ok(own) => Some(match &own.node {
                Some(node) => format!("it is {node} now"),
                None => "it does not report its identity".to_owned(),
            }),
            Err(why) => Some(why),
        },
        Precondition::BootIs(expected) => match own {
            Ok(own) if own.boot.as_ref() == Some(expected) => None,
            Ok(_) => Some("it has booted since".to_owned()),
            Err(why) => Some(why),
        },
        Precondition::ConfigIs(expected) => match own {
            Ok(own) => {
                let digest =
                    own.config.as_ref().map(|config| at.execution.cluster.key.config(config));
                (digest != Some(*expected)).then(|| "its configuration was changed".to_owned())
            }
            Err(why) => Some(why),
        },
        Precondition::MemberIs(expected) => {
            let member = etcd.members.get(expected);
            let is_its = member.is_some_and(|member| member.machine.as_ref() == Some(at.name));
            (!is_its).then(|| "that member is not its own any more".to_owned())
        }
        Precondition::NoMembers if seen.api => Some("the Kubernetes API answers".to_owned()),
        Precondition::NoMembers => {
            let members = etcd.members.len();
            (members > 0).then(|| format!("etcd has {members} members already"))
        }
        Precondition::MinHealthyVoters(least) => too_few(*least, etcd, at),
        Precondition::InstanceIs(id) => {
            // A machine that goes back to its provider is not called.
            let calls = at.step.action.config().is_some();
            let called_at = at.machine().ok().filter(|_| calls).map(|machine| machine.address);
            match seen.instances.iter().find(|made| made.instance.id == *id) {
                None => Some("the provider does not have it".to_owned()),
                // What has its address now may be a foreign machine.
                Some(made)
                    if made.address.is_some()
                        && called_at.is_some_and(|address| made.address != Some(address)) =>
                {
                    Some("it has another address by now".to_owned())
                }
                Some(_) => None,
            }
        }
    }
}

/// Returns what is wrong with the voters. The plan proves what is left of *these* voters while the step is done:
/// others, or as many others, would make it another proof.
fn too_few(least: u32, etcd: &Etcd, at: &At<'_>) -> Option<String> {
    let voters = etcd.members.values().filter(|member| member.voter);
    let count = u32::try_from(voters.clone().count()).unwrap_or(u32::MAX);
    let all = healthy(voters.clone());
    if !etcd.apart.is_empty() {
        return Some("control planes are in another etcd".to_owned());
    }
    if all < least {
        return Some(format!("{all} voters are healthy, and {least} must be"));
    }
    let proof = at.step.proof?;
    if count != proof.voters {
        return Some(format!("etcd has {count} voters now, and {} were counted", proof.voters));
    }
    let pauses = at.step.action.nature().etcd == EtcdEffect::Pause;
    let others = healthy(voters.filter(|member| member.machine.as_ref() != Some(at.name)));
    (pauses && others < proof.healthy)
        .then(|| format!("{others} other voters are healthy, and {} must be", proof.healthy))
}

/// Voters that run, have answered and follow a leader.
fn healthy<'a>(voters: impl Iterator<Item = &'a Member>) -> u32 {
    let healthy =
        voters.filter(|member| member.started && member.lag.is_some_and(|lag| lag <= MAX_LAG));
    u32::try_from(healthy.count()).unwrap_or(u32::MAX)
}
