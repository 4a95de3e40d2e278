//! `KubePrismConfig`

use crate::schema::{Contract, INT, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubePrismConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("port", INT).always(), field("tlsServerName", Type::Text)],
    about: "The API server behind a port of every machine",
};
