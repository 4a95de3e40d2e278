//! `KubeSpanConfig`

use crate::schema::{CIDR, Contract, Kind, TEXTS, Type, U32, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeSpanConfig",
    named: false,
    since: Contract::new(1, 13),
    fields: &[
        field("enabled", Type::Bool).optional(),
        field("advertiseKubernetesNetworks", Type::Bool).optional(),
        field("allowDownPeerBypass", Type::Bool).optional(),
        field("harvestExtraEndpoints", Type::Bool).optional(),
        field("mtu", U32).optional().about("1420 when unset, at least 1280"),
        field(
            "filters",
            Type::Object(&[
                field("endpoints", TEXTS),
                field("excludeAdvertisedNetworks", Type::List(&CIDR)),
            ]),
        )
        .optional(),
    ],
    about: "The encrypted network between all machines",
};
