//! `BGPInstanceConfig`

use crate::schema::{CIDR, Contract, DURATION, IP, Kind, TEXTS, Type, U8, U32, field};

pub(super) const KIND: Kind = Kind {
    name: "BGPInstanceConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field("vrf", Type::Text),
        field("localASN", U32).always(),
        field("routerID", IP),
        field("routeSource", IP),
        field("advertise", TEXTS).replace(),
        field("multipath", Type::Bool).optional().about("false when unset"),
        field("maxPaths", U8),
        field("installRoutes", Type::Bool).optional().about("true when unset"),
        field(
            "importRoutes",
            Type::List(&Type::Object(&[
                field("bgpInstance", Type::Text).always(),
                field("prefixes", Type::List(&CIDR)).always(),
            ])),
        )
        .replace(),
        field(
            "neighbors",
            Type::List(&Type::Object(&[
                field("address", IP),
                field("link", Type::Text),
                field("peerASN", U32),
                field("localASN", U32),
                field("passive", Type::Bool),
                field("holdTime", DURATION),
                field(
                    "bfd",
                    Type::Object(&[
                        field("transmitInterval", DURATION),
                        field("receiveInterval", DURATION),
                        field("detectMultiplier", U8),
                    ]),
                )
                .optional(),
            ])),
        )
        .replace(),
    ],
    about: "A BGP speaker and its neighbours",
};
