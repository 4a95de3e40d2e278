//! `DiscoveryIdentityConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "DiscoveryIdentityConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field("clusterID", Type::Text).always(),
        field("clusterSecret", Type::Text).always().secret(),
    ],
    about: "The cluster that a machine looks for",
};
