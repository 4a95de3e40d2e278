//! `KubeClusterConfig`

use crate::schema::{Kind, Release, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeClusterConfig",
    named: false,
    since: Release(1, 14),
    fields: &[field("clusterName", Type::Text).always(), field("endpoint", URL).always()],
    about: "Name and address of the cluster",
};
