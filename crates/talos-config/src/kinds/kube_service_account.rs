//! `KubeServiceAccountConfig`

use crate::schema::{Contract, Kind, TEXTS, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeServiceAccountConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field(
            "issuer",
            Type::Object(&[
                field("privateKey", Type::Text).always().secret(),
                field("issuerURL", URL).always(),
            ]),
        )
        .always(),
        field(
            "accepted",
            Type::Object(&[
                field("publicKeys", TEXTS),
                field("issuers", Type::List(&URL)),
                field("audiences", TEXTS),
            ]),
        ),
    ],
    about: "Keys of service accounts",
};
