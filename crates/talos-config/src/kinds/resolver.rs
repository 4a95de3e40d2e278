//! `ResolverConfig`

use super::choices::DNS_PROTOCOL;
use crate::schema::{Contract, IP, Kind, TEXTS, Type, field};
use crate::yaml::Dialect;

pub(super) const KIND: Kind = Kind {
    name: "ResolverConfig",
    named: false,
    since: Contract::new(1, 12),
    fields: &[
        field(
            "nameservers",
            Type::List(&Type::Object(&[
                field("address", IP).always(),
                field("protocol", Type::Choice(&DNS_PROTOCOL)).since(1, 14),
                field("tlsServerName", Type::Text).since(1, 14),
            ])),
        )
        .about("1.1.1.1 and 8.8.8.8 when unset"),
        field(
            "searchDomains",
            Type::Object(&[
                field("domains", TEXTS)
                    .keep_empty(Dialect::V1_14)
                    .replace_since(Dialect::V1_14)
                    .about("an empty list clears the domains that were set before"),
                field("disableDefault", Type::Bool).optional(),
            ]),
        ),
        field(
            "hostDNS",
            Type::Object(&[
                field("enabled", Type::Bool).optional().since(1, 14),
                field("forwardKubeDNSToHost", Type::Bool).optional().since(1, 14),
                field("resolveMemberNames", Type::Bool).optional().since(1, 14),
            ]),
        )
        .since(1, 14),
    ],
    about: "The resolution of names",
};
