//! `DHCPv6Config`

use super::choices::CLIENT_IDENTIFIER;
use crate::schema::{Contract, Kind, MAC, Type, U32, field};

pub(super) const KIND: Kind = Kind {
    name: "DHCPv6Config",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("routeMetric", U32).about("1024 when unset"),
        field("ignoreHostname", Type::Bool).optional(),
        field("clientIdentifier", Type::Choice(&CLIENT_IDENTIFIER))
            .optional()
            .about("mac when unset"),
        field("duidRaw", MAC),
    ],
    about: "Asks for an IPv6 address on a link",
};
