//! The planner's view of etcd: who votes, who is healthy, and what is left when one pauses.
//!
//! Only voters that are started *and* caught up are healthy; a member that merely exists is not, and neither is a
//! learner. The checker does not use this code: it counts by itself.

use domain::{Etcd, MAX_LAG, MachineName};

use crate::finding::Finding;
use crate::step::QuorumProof;

/// The voters, and whether each is healthy. Two members of one machine are two voters.
#[derive(Clone, Debug, Default)]
pub(super) struct Voters(Vec<Voter>);

#[derive(Clone, Debug)]
struct Voter {
    /// The machine that it runs on, where that is known.
    machine: Option<MachineName>,
    healthy: bool,
}

impl Voters {
    pub(super) fn from_inventory(etcd: &Etcd) -> Self {
        let voters = etcd.members.values().filter(|member| member.voter).map(|member| Voter {
            machine: member.machine.clone(),
            healthy: member.started && member.lag.is_some_and(|lag| lag <= MAX_LAG),
        });
        Self(voters.collect())
    }

    /// Adds a member as a voter, or makes it healthy again. A machine runs one etcd, even if members are left of
    /// earlier ones.
    pub(super) fn join(&mut self, machine: &MachineName) {
        if self.is_healthy(machine) {
            return;
        }
        if let Some(voter) = self.on(machine).next() {
            voter.healthy = true;
            return;
        }
        self.0.push(Voter { machine: Some(machine.clone()), healthy: true });
    }

    /// A machine's voters stop for a while.
    pub(super) fn pause(&mut self, machine: &MachineName) {
        self.on(machine).for_each(|voter| voter.healthy = false);
    }

    pub(super) fn has(&self, machine: &MachineName) -> bool {
        self.0.iter().any(|voter| voter.machine.as_ref() == Some(machine))
    }

    pub(super) fn is_healthy(&self, machine: &MachineName) -> bool {
        self.0.iter().any(|voter| voter.machine.as_ref() == Some(machine) && voter.healthy)
    }

    /// Returns whether there is a member that leadership can be handed to.
    pub(super) fn has_another(&self) -> bool {
        self.count().healthy > 1
    }

    /// Returns the number of voters, and of healthy ones.
    pub(super) fn count(&self) -> QuorumProof {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        QuorumProof {
            voters: count(self.0.len()),
            healthy: count(self.0.iter().filter(|voter| voter.healthy).count()),
        }
    }

    fn on(&mut self, machine: &MachineName) -> impl Iterator<Item = &mut Voter> {
        self.0.iter_mut().filter(move |voter| voter.machine.as_ref() == Some(machine))
    }
}

/// Returns the rule that is broken when no more is left than this.
pub(super) fn quorum_violation(proof: QuorumProof, machine: &MachineName) -> Option<Finding> {
    (!proof.has_majority()).then(|| Finding::no_majority(machine, proof))
}

#[cfg(test)]
mod tests {
    use domain::{Member, MemberId};

    use super::*;
    use crate::rule::Rule;

    #[test]
    fn one_of_three_may_pause_and_a_second_one_may_not() {
        let mut voters = seen(3, |_, _| {});
        voters.pause(&name(1));
        assert_eq!(voters.count().to_string(), "2 of 3 voters healthy, 0 may still fail");
        assert!(quorum_violation(voters.count(), &name(1)).is_none());
        voters.pause(&name(2));
        let violation = quorum_violation(voters.count(), &name(2));
        assert_eq!(violation.map(|finding| finding.rule), Some(Rule::QuorumTolerance));
    }

    #[test]
    fn a_voter_that_lags_and_a_learner_do_not_count() {
        let lagging = seen(3, |id, member| {
            if id == 3 {
                member.lag = Some(MAX_LAG + 1);
            }
        });
        assert_eq!((lagging.count().voters, lagging.count().healthy), (3, 2));
        let learning = seen(3, |id, member| member.voter = id != 3);
        assert_eq!((learning.count().voters, learning.count().healthy), (2, 2));
    }

    #[test]
    fn two_members_of_one_machine_are_two_voters() {
        // cp-2 was installed anew, and its old member was never removed.
        let voters = seen(3, |id, member| {
            if id == 3 {
                member.machine = Some(name(2));
                member.started = false;
            }
        });
        assert_eq!((voters.count().voters, voters.count().healthy), (3, 2));
        let mut awaited = voters.clone();
        awaited.join(&name(2));
        assert_eq!(awaited.count().healthy, 2);
        let mut paused = voters;
        paused.pause(&name(2));
        assert_eq!(paused.count().healthy, 1);
        paused.join(&name(2));
        assert_eq!(paused.count().healthy, 2);
    }

    #[test]
    fn the_only_voter_cannot_pause_unnoticed() {
        let mut voters = seen(1, |_, _| {});
        voters.pause(&name(1));
        let violation = quorum_violation(voters.count(), &name(1));
        assert_eq!(violation.map(|finding| finding.rule), Some(Rule::QuorumOnlyVoter));
    }

    fn name(number: u64) -> MachineName {
        format!("cp-{number}").parse().expect("a name")
    }

    fn seen(count: u64, change: impl Fn(u64, &mut Member)) -> Voters {
        let member = |id| {
            let machine = Some(name(id));
            let mut member = Member { machine, voter: true, started: true, lag: Some(0) };
            change(id, &mut member);
            (MemberId(id), member)
        };
        let members = (1..=count).map(member).collect();
        Voters::from_inventory(&Etcd { members, ..Etcd::default() })
    }
}
