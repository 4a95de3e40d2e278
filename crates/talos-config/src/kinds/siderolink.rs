//! `SideroLinkConfig`

use crate::schema::{Contract, Kind, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "SideroLinkConfig",
    named: false,
    since: Contract::new(1, 5),
    fields: &[
        field("apiUrl", URL).always().secret(),
        field("uniqueToken", Type::Text).secret().since(1, 10),
    ],
    about: "A managing service that the machine connects to",
};
