//! `StaticHostConfig`

use crate::schema::{Kind, Release, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "StaticHostConfig",
    named: true,
    since: Release(1, 12),
    fields: &[field("name", Type::Text).always(), field("hostnames", TEXTS).always()],
    about: "Names of an address, without asking anybody",
};
