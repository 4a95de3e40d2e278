//! `EtcFileConfig`

use crate::schema::{Contract, Kind, OCTAL, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "EtcFileConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field("mode", OCTAL).always().about("0644 when unset"),
        field("contents", Type::Text).always().private(),
    ],
    about: "A file below /etc",
};
