//! Members of etcd, as a machine knows them.

use talos_api::proto::machine::{EtcdMember, EtcdMemberListRequest, EtcdMemberStatus};
use talos_api::{Node, NodeError};

use crate::commands::node::error::NodeActionError;

pub(in crate::commands::node) async fn members(node: &Node) -> Result<Vec<EtcdMember>, NodeError> {
    let request = EtcdMemberListRequest { query_local: true };
    let reply = node
        .retrying(|node| async move { node.call(node.machine().etcd_member_list(request)).await });
    Ok(node.single_reply(reply.await?.messages)?.members)
}

pub(in crate::commands::node) async fn status(node: &Node) -> Result<EtcdMemberStatus, NodeError> {
    let reply =
        node.retrying(|node| async move { node.call(node.machine().etcd_status(())).await });
    Ok(node.single_reply(reply.await?.messages)?.member_status.unwrap_or_default())
}

/// The member that a person means: by its id, or by a host name that only one of them has.
pub(in crate::commands::node) fn find(
    members: &[EtcdMember],
    name: &str,
) -> Result<EtcdMember, NodeActionError> {
    let id = u64::from_str_radix(name, 16).ok();
    let by_id = members.iter().find(|member| Some(member.id) == id);
    if let Some(member) = by_id {
        return Ok(member.clone());
    }
    let by_name: Vec<&EtcdMember> =
        members.iter().filter(|member| member.hostname == name).collect();
    match by_name.as_slice() {
        [member] => Ok((*member).clone()),
        others => Err(NodeActionError::Member { name: name.to_owned(), found: others.len() }),
    }
}

pub(in crate::commands::node) fn named(member: &EtcdMember) -> String {
    format!("{:016x} ({})", member.id, member.hostname)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_meant_only_if_it_is_the_only_one() {
        let member = |id, hostname: &str| EtcdMember {
            id,
            hostname: hostname.to_owned(),
            ..EtcdMember::default()
        };
        // A host name can look like an id.
        let members = [member(0xab, "cp-1"), member(2, "cp-2"), member(3, "cp-2"), member(4, "ab")];
        assert_eq!(find(&members, "ab").unwrap().id, 0xab);
        assert_eq!(find(&members, "00000000000000AB").unwrap().id, 0xab);
        assert_eq!(find(&members, "cp-1").unwrap().id, 0xab);
        for (name, expected) in [("cp-2", 2), ("cp-9", 0), ("", 0)] {
            let found = find(&members, name);
            assert!(
                matches!(found, Err(NodeActionError::Member { found, .. }) if found == expected),
                "{name}"
            );
        }
    }
}
