//! `KubeCoreDNSConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeCoreDNSConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("enabled", Type::Bool).optional(), field("image", Type::Text)],
    about: "The name server of the cluster",
};
