//! `TrustedRootsConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "TrustedRootsConfig",
    named: true,
    since: Contract::new(1, 8),
    fields: &[field("name", Type::Text).always(), field("certificates", Type::Text).always()],
    about: "Further authorities to trust",
};
