//! Whether a machine may be taken away from etcd: looked at right before it is done.
//!
//! Always holds: what cannot be counted is refused, unless `quorum.tolerance` is overridden. The cluster's directory is not
//! asked for a machine's role: it describes the cluster that is wanted.

use std::cell::RefCell;
use std::collections::BTreeSet;

use talos_api::{EtcdPresence, Node, NodeError};

use super::members::{members, named, status};
use super::quorum;
use crate::args::node::{NodeOverrideArgs, NodeRule};
use crate::commands::node::error::NodeActionError;
use crate::directory::KnownMachine;
use crate::error::with_causes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, directory, nodes};

/// Refuses what would leave etcd without a majority, unless the rule is overridden.
pub(in crate::commands::node) async fn check_departure(
    node: &Node,
    leaving: u64,
    overrides: &NodeOverrideArgs,
    printer: &mut Printer,
) -> Result<(), Error> {
    let members = members(node).await?;
    let Some(member) = members.iter().find(|member| member.id == leaving).map(named) else {
        let (machine, why) = (node.name().to_owned(), NOT_LISTED.to_owned());
        return overridden_or(
            NodeActionError::MembersUnknown { machine, why }.into(),
            overrides,
            printer,
        );
    };
    let left = quorum::without(&quorum::voters(node, &members).await, leaving);
    if left.has_quorum() {
        return Ok(());
    }
    let quorum::Left { voters, healthy, needed } = left;
    overridden_or(
        NodeActionError::Quorum { member, voters, healthy, needed }.into(),
        overrides,
        printer,
    )
}

/// The effect of an action on the member of etcd on its machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::commands::node) enum MemberEffect {
    /// The member is away for a while, and counts meanwhile.
    Away,
    /// The member leaves first.
    Leaves,
    /// The member loses its data, and still counts.
    DataLoss,
}

/// Refuses to take control planes away when etcd would lose its majority, or data that may be the last.
pub(in crate::commands::node) struct EtcdGuard<'a> {
    effect: MemberEffect,
    overrides: &'a NodeOverrideArgs,
    known: Vec<KnownMachine>,
    /// Members whose machines this command has taken away without waiting for them: they still answer for a while.
    away: RefCell<BTreeSet<u64>>,
}

impl<'a> EtcdGuard<'a> {
    pub(in crate::commands::node) fn new(
        effect: MemberEffect,
        overrides: &'a NodeOverrideArgs,
        environment: &UserEnvironment,
    ) -> Self {
        // A directory that cannot be read only gives no names.
        let known = directory::known_machines(&environment.location).unwrap_or_default();
        Self { effect, overrides, known, away: RefCell::default() }
    }

    /// Checks a machine right before it is taken away. `waits`: the command goes on only when the machine is back.
    pub(in crate::commands::node) async fn check(
        &self,
        node: &Node,
        waits: bool,
        printer: &mut Printer,
    ) -> Result<(), Error> {
        let label = nodes::label(node.name(), &self.known);
        let checked = self.look(node, label.clone()).await;
        let (member, refusal) = match checked {
            Ok(Ok(member)) => (member, None),
            Ok(Err(failure)) => (None, Some(failure.into())),
            Err(NodeError { reason, .. }) => {
                (None, Some(Error::Machine(NodeError { node: label, reason })))
            }
        };
        if let Some(refusal) = refusal {
            overridden_or(refusal, self.overrides, printer)?;
        }
        self.away.borrow_mut().extend(member.filter(|_| !waits));
        Ok(())
    }

    /// Returns the voter that the machine has, or why it must stay.
    async fn look(
        &self,
        node: &Node,
        machine: String,
    ) -> Result<Result<Option<u64>, NodeActionError>, NodeError> {
        let unknown = |why: &str| {
            Err(NodeActionError::MembersUnknown { machine: machine.clone(), why: why.to_owned() })
        };
        match node.etcd_presence().await? {
            EtcdPresence::Running => {}
            EtcdPresence::Absent => return Ok(Ok(None)),
            // It has no vote to lose now, and keeps its data.
            EtcdPresence::Stopped | EtcdPresence::Unknown if self.effect == MemberEffect::Away => {
                return Ok(Ok(None));
            }
            EtcdPresence::Stopped => {
                return Ok(unknown("etcd does not run, and its data is there"));
            }
            EtcdPresence::Unknown => return Ok(unknown("the machine still boots")),
        }
        let counted = async {
            let own = status(node).await?.member_id;
            let members = members(node).await?;
            let voters = quorum::voters(node, &members).await;
            Ok::<_, NodeError>((own, members, voters))
        };
        let (own, members, mut voters) = match counted.await {
            Ok(counted) => counted,
            Err(error) => return Ok(unknown(&error.reason.to_string())),
        };
        match members.iter().find(|member| member.id == own) {
            Some(member) if member.is_learner => return Ok(Ok(None)),
            Some(_) => {}
            None => return Ok(unknown(NOT_LISTED)),
        }
        if voters.len() == 1 {
            let lost = self.effect != MemberEffect::Away;
            return Ok(if lost { Err(NodeActionError::LastVoter(machine)) } else { Ok(Some(own)) });
        }
        for voter in &mut voters {
            voter.healthy &= !self.away.borrow().contains(&voter.id);
        }
        let left = match self.effect {
            MemberEffect::Leaves => quorum::without(&voters, own),
            MemberEffect::Away | MemberEffect::DataLoss => quorum::while_away(&voters, own),
        };
        let quorum::Left { voters, healthy, needed } = left;
        Ok(if left.has_quorum() {
            Ok(Some(own))
        } else {
            Err(NodeActionError::Majority { machine, voters, healthy, needed })
        })
    }
}

/// Lets a refusal pass where `quorum.tolerance` is overridden.
fn overridden_or(
    refusal: Error,
    overrides: &NodeOverrideArgs,
    printer: &mut Printer,
) -> Result<(), Error> {
    if !overrides.has(NodeRule::QuorumTolerance) {
        return Err(refusal);
    }
    printer.note(&format!("overridden: {}", with_causes(&refusal)));
    Ok(())
}

/// Adds to what the audit log says which rules are not kept.
pub(in crate::commands::node) fn with_overrides(
    detail: String,
    overrides: &NodeOverrideArgs,
) -> String {
    match (detail.as_str(), overridden(overrides)) {
        (_, overridden) if overridden.is_empty() => detail,
        ("", overridden) => overridden,
        (detail, overridden) => format!("{detail}, {overridden}"),
    }
}

/// Describes overridden rules for the audit log.
pub(in crate::commands::node) fn overridden(overrides: &NodeOverrideArgs) -> String {
    let NodeOverrideArgs { rules, reason } = overrides;
    let Some(reason) = reason.as_ref().filter(|_| !rules.is_empty()) else { return String::new() };
    let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
    format!("override {}: {reason}", rules.join(", "))
}

/// An etcd that does not list its own member is another one, or its answer is incomplete.
const NOT_LISTED: &str = "the member is not among those that the machine lists";
