//! `DiscoveryServiceConfig`

use crate::schema::{Kind, Release, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "DiscoveryServiceConfig",
    named: true,
    since: Release(1, 14),
    fields: &[field("name", Type::Text).always(), field("endpoint", URL).always()],
    about: "Where machines find each other",
};
