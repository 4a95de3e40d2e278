//! `KubePrismConfig`

use crate::schema::{INT, Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubePrismConfig",
    named: false,
    since: Release(1, 14),
    fields: &[field("port", INT).always(), field("tlsServerName", Type::Text)],
    about: "The API server behind a port of every machine",
};
