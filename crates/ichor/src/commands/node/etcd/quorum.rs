//! Whether etcd can spare a member.
//!
//! A voter counts only if its machine answers for it, it knows a leader, and it is up to date. Learners do not vote.

use std::time::Duration;

use talos_api::proto::machine::{EtcdMember, EtcdMemberStatus};
use talos_api::{Node, each_node};

/// A member that votes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Voter {
    pub(super) id: u64,
    pub(super) healthy: bool,
}

/// What would be left of etcd.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Left {
    pub(super) voters: usize,
    pub(super) healthy: usize,
    /// More than half of the voters.
    pub(super) needed: usize,
}

impl Left {
    pub(super) fn has_quorum(self) -> bool {
        self.healthy >= self.needed
    }
}

/// What is left when a member goes.
pub(super) fn without(voters: &[Voter], leaving: u64) -> Left {
    let left: Vec<&Voter> = voters.iter().filter(|voter| voter.id != leaving).collect();
    let healthy = left.iter().filter(|voter| voter.healthy).count();
    Left { voters: left.len(), healthy, needed: left.len() / 2 + 1 }
}

/// What is left while a member is away and still counts.
pub(super) fn while_away(voters: &[Voter], away: u64) -> Left {
    let healthy = voters.iter().filter(|voter| voter.healthy && voter.id != away).count();
    Left { voters: voters.len(), healthy, needed: voters.len() / 2 + 1 }
}

/// Asks the machine of each voter how its member is, by way of a machine that answers.
pub(super) async fn voters(node: &Node, members: &[EtcdMember]) -> Vec<Voter> {
    let voters: Vec<&EtcdMember> = members.iter().filter(|member| !member.is_learner).collect();
    let asked: Vec<Node> = voters
        .iter()
        .take(MOST_VOTERS)
        .filter_map(|member| node.with_deadline(ANSWERS_WITHIN).sibling(&address(member)?).ok())
        .collect();
    let ask = |node: Node| async move {
        let reply = node.call(node.machine().etcd_status(())).await?;
        Ok(node.single_reply(reply.messages)?.member_status.unwrap_or_default())
    };
    let answers: Vec<EtcdMemberStatus> =
        each_node(asked, AT_ONCE, ask).await.into_iter().filter_map(Result::ok).collect();
    judge(&voters, &answers)
}

fn judge(voters: &[&EtcdMember], answers: &[EtcdMemberStatus]) -> Vec<Voter> {
    let newest = answers.iter().map(|status| status.raft_applied_index).max().unwrap_or(0);
    let is_healthy = |status: &EtcdMemberStatus| {
        status.leader != 0
            && status.errors.is_empty()
            && status.raft_applied_index.saturating_add(LAGS_BY) >= newest
    };
    let healthy = |id| answers.iter().any(|status| status.member_id == id && is_healthy(status));
    voters.iter().map(|member| Voter { id: member.id, healthy: healthy(member.id) }).collect()
}

/// Where the machine of a member is reached; nowhere when the member never started.
fn address(member: &EtcdMember) -> Option<String> {
    let url = member.client_urls.first()?;
    let (_, host) = url.split_once("://")?;
    let (host, _port) = host.rsplit_once(':')?;
    Some(host.trim_start_matches('[').trim_end_matches(']').to_owned())
}

const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 8;
/// More than any etcd has: a longer list is not believed, and the rest of it counts as unhealthy.
const MOST_VOTERS: usize = 16;
/// In entries: etcd sends a whole snapshot to a member that lags by more, so such a member is not up to date.
const LAGS_BY: u64 = 5000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_those_left_must_be_well() {
        // How many of how many are healthy, who goes, and whether that is all right.
        for (healthy, all, who_goes_is_healthy, spared) in [
            (1, 1, true, false),
            (2, 2, true, true),
            (1, 2, false, true),
            (1, 2, true, false),
            (3, 3, true, true),
            (2, 3, false, true),
            (2, 3, true, false),
            (1, 3, false, false),
            (5, 5, true, true),
            (4, 5, true, true),
            (3, 5, true, false),
            (3, 5, false, true),
        ] {
            let voters: Vec<Voter> =
                (0..all).map(|id| Voter { id, healthy: id < healthy }).collect();
            let leaving = if who_goes_is_healthy { 0 } else { all - 1 };
            let left = without(&voters, leaving);
            assert_eq!(left.has_quorum(), spared, "{healthy} of {all}: {left:?}");
        }
    }

    #[test]
    fn a_voter_that_is_away_still_counts() {
        // How many of how many are healthy, who is away, and whether that is all right.
        for (healthy, all, away, spared) in [
            (1, 1, 0, false),
            (2, 2, 0, false),
            (3, 3, 0, true),
            (2, 3, 0, false),
            (2, 3, 2, true),
            (5, 5, 4, true),
            (3, 5, 0, false),
            (3, 5, 4, true),
        ] {
            let voters: Vec<Voter> =
                (0..all).map(|id| Voter { id, healthy: id < healthy }).collect();
            let left = while_away(&voters, away);
            assert_eq!(left.has_quorum(), spared, "{healthy} of {all}: {left:?}");
        }
    }

    #[test]
    fn a_learner_may_always_go() {
        let voters = [Voter { id: 1, healthy: true }];
        assert!(without(&voters, 9).has_quorum());
    }

    #[test]
    fn a_voter_that_lags_or_knows_no_leader_does_not_count() {
        let member = |id| EtcdMember { id, ..EtcdMember::default() };
        let members = [member(1), member(2), member(3), member(4), member(5)];
        let status = |member_id, leader, raft_applied_index| EtcdMemberStatus {
            member_id,
            leader,
            raft_applied_index,
            ..EtcdMemberStatus::default()
        };
        let mut broken = status(5, 1, 10_000);
        broken.errors.push("CORRUPT".to_owned());
        let answers = [status(1, 1, 10_000), status(2, 1, 4_999), status(3, 0, 10_000), broken];
        let voters = judge(&members.iter().collect::<Vec<_>>(), &answers);
        let healthy: Vec<u64> =
            voters.iter().filter(|voter| voter.healthy).map(|voter| voter.id).collect();
        assert_eq!(healthy, [1]);
    }

    #[test]
    fn the_address_is_that_of_the_client_url() {
        let member =
            |url: &str| EtcdMember { client_urls: vec![url.to_owned()], ..EtcdMember::default() };
        assert_eq!(address(&member("https://127.0.0.1:2379")).unwrap(), "127.0.0.1");
        assert_eq!(address(&member("https://[fd00::1]:2379")).unwrap(), "fd00::1");
        assert_eq!(address(&EtcdMember::default()), None);
    }
}
