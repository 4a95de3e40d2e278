//! `WireguardConfig`

use super::shared::COMMON_LINK;
use crate::schema::{CIDR, Contract, DURATION, INT, IP_PORT, Kind, Type, field, inline};

pub(super) const KIND: Kind = Kind {
    name: "WireguardConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("privateKey", Type::Text).secret(),
        field("listenPort", INT),
        field("firewallMark", INT),
        field(
            "peers",
            Type::List(&Type::Object(&[
                field("publicKey", Type::Text),
                field("presharedKey", Type::Text).secret(),
                field("endpoint", IP_PORT),
                field("persistentKeepaliveInterval", DURATION),
                field("allowedIPs", Type::List(&CIDR)),
            ])),
        ),
        inline(COMMON_LINK),
    ],
    about: "A WireGuard link and its peers",
};
