//! `DHCPv4Config`

use super::choices::CLIENT_IDENTIFIER;
use crate::schema::{Contract, Kind, MAC, Type, U32, field};

pub(super) const KIND: Kind = Kind {
    name: "DHCPv4Config",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("routeMetric", U32).about("1024 when unset"),
        field("ignoreHostname", Type::Bool).optional(),
        field("ignoreRoutes", Type::Bool).optional().since(1, 14),
        field("clientIdentifier", Type::Choice(&CLIENT_IDENTIFIER))
            .optional()
            .about("mac when unset"),
        field("duidRaw", MAC),
    ],
    about: "Asks for an IPv4 address on a link",
};
