//! `TrustedRootsConfig`

use crate::schema::{Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "TrustedRootsConfig",
    named: true,
    since: Release(1, 8),
    fields: &[field("name", Type::Text).always(), field("certificates", Type::Text).always()],
    about: "Further authorities to trust",
};
