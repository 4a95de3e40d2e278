//! `TCPProbeConfig`

use crate::schema::{Contract, DURATION, INT, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "TCPProbeConfig",
    named: true,
    since: Contract::new(1, 13),
    fields: &[
        field("name", Type::Text).always(),
        field("interval", DURATION).about("1s when unset"),
        field("failureThreshold", INT).about("0 when unset"),
        field("endpoint", Type::Text).always(),
        field("timeout", DURATION).about("10s when unset"),
    ],
    about: "Watches whether a port answers",
};
