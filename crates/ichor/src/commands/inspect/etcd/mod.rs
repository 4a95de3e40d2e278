//! `ichor etcd`: members of etcd, how they are, and what they warn of.

pub(super) mod alarms;
pub(super) mod members;
pub(super) mod snapshot;
pub(super) mod status;

/// As etcd and talosctl write ids.
fn id(id: u64) -> String {
    format!("{id:016x}")
}
