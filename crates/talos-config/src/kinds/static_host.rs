//! `StaticHostConfig`

use crate::schema::{Contract, Kind, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "StaticHostConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[field("name", Type::Text).always(), field("hostnames", TEXTS).always()],
    about: "Names of an address, without a name server",
};
