//! `DiscoveryServiceConfig`

use crate::schema::{Contract, Kind, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "DiscoveryServiceConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[field("name", Type::Text).always(), field("endpoint", URL).always()],
    about: "The service by which machines find each other",
};
