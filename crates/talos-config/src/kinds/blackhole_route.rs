//! `BlackholeRouteConfig`

use crate::schema::{Contract, Kind, Type, U32, field};

pub(super) const KIND: Kind = Kind {
    name: "BlackholeRouteConfig",
    named: true,
    since: Contract::new(1, 13),
    fields: &[field("name", Type::Text).always(), field("metric", U32)],
    about: "A route that drops what it matches",
};
