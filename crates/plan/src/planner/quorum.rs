//! The planner's view of etcd: who votes, who is able to, and what is left when one pauses.
//!
//! Only voters that are started *and* caught up are able; a member that merely exists is not, and neither
//! is a learner. The checker does not use this code: it counts by itself.

use std::collections::BTreeMap;

use crate::inventory::{Etcd, MAX_LAG, MemberId};
use crate::names::MachineName;
use crate::rule::{Finding, Rule};
use crate::step::Proof;

/// The voters, and whether each is able.
#[derive(Clone, Debug, Default)]
pub(super) struct Voters(BTreeMap<Voter, bool>);

/// A voter is the machine that it runs on, or, where that is not known, its member.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Voter {
    On(MachineName),
    Member(MemberId),
}

impl Voters {
    pub(super) fn seen(etcd: &Etcd) -> Self {
        let voters = etcd.members.iter().filter(|(_, member)| member.voter).map(|(id, member)| {
            let voter = member.machine.clone().map_or(Voter::Member(*id), Voter::On);
            (voter, member.started && member.lag.is_some_and(|lag| lag <= MAX_LAG))
        });
        Self(voters.collect())
    }

    /// A member becomes a voter, or able again.
    pub(super) fn join(&mut self, machine: &MachineName) {
        self.0.insert(Voter::On(machine.clone()), true);
    }

    /// A voter stops for a while.
    pub(super) fn pause(&mut self, machine: &MachineName) {
        if let Some(able) = self.0.get_mut(&Voter::On(machine.clone())) {
            *able = false;
        }
    }

    pub(super) fn has(&self, machine: &MachineName) -> bool {
        self.0.contains_key(&Voter::On(machine.clone()))
    }

    pub(super) fn is_able(&self, machine: &MachineName) -> bool {
        self.0.get(&Voter::On(machine.clone())) == Some(&true)
    }

    /// Whether leadership can be handed to somebody.
    pub(super) fn has_another(&self) -> bool {
        self.count().able > 1
    }

    /// How many there are, and how many are able.
    pub(super) fn count(&self) -> Proof {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Proof {
            voters: count(self.0.len()),
            able: count(self.0.values().filter(|able| **able).count()),
        }
    }
}

/// The rule that is broken when no more is left than this.
pub(super) fn lost(proof: Proof, machine: &MachineName) -> Option<Finding> {
    let Proof { voters, able } = proof;
    if 2 * able > voters {
        return None;
    }
    let (rule, message, hint) = if voters == 1 {
        (
            Rule::QuorumOnlyVoter,
            format!("{machine} is the only voter of etcd: the API is down while it pauses"),
            "do it when that is acceptable, with --override quorum.only-voter --reason …",
        )
    } else {
        (
            Rule::QuorumTolerance,
            format!("{able} of {voters} voters would be able while {machine} is changed"),
            "bring the other control planes back first; `ichor etcd members` shows them",
        )
    };
    let machine = Some(machine.clone());
    Some(Finding { rule, step: None, machine, message, hint: hint.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::Member;

    #[test]
    fn one_of_three_may_pause_and_a_second_one_may_not() {
        let mut voters = seen(3, |_, _| {});
        voters.pause(&name(1));
        assert_eq!(voters.count().to_string(), "2 of 3 voters able, 0 may still fail");
        assert!(lost(voters.count(), &name(1)).is_none());
        voters.pause(&name(2));
        assert_eq!(lost(voters.count(), &name(2)).map(|f| f.rule), Some(Rule::QuorumTolerance));
    }

    #[test]
    fn a_voter_that_lags_and_a_learner_do_not_count() {
        let lagging = seen(3, |id, member| {
            if id == 3 {
                member.lag = Some(MAX_LAG + 1);
            }
        });
        assert_eq!((lagging.count().voters, lagging.count().able), (3, 2));
        let learning = seen(3, |id, member| member.voter = id != 3);
        assert_eq!((learning.count().voters, learning.count().able), (2, 2));
    }

    #[test]
    fn the_only_voter_cannot_pause_unnoticed() {
        let mut voters = seen(1, |_, _| {});
        voters.pause(&name(1));
        assert_eq!(lost(voters.count(), &name(1)).map(|f| f.rule), Some(Rule::QuorumOnlyVoter));
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
        Voters::seen(&Etcd { members: (1..=count).map(member).collect(), leader: None })
    }
}
