//! `KubeClusterConfig`

use crate::schema::{Contract, Kind, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeClusterConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("clusterName", Type::Text).always(), field("endpoint", URL).always()],
    about: "Name and address of the cluster",
};
