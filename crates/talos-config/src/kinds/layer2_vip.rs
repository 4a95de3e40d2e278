//! `Layer2VIPConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "Layer2VIPConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[field("name", Type::Text).always(), field("link", Type::Text).always()],
    about: "An address that moves between control planes",
};
