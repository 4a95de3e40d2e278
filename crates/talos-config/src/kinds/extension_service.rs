//! `ExtensionServiceConfig`

use crate::schema::{Contract, Kind, Match, Nulls, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "ExtensionServiceConfig",
    named: true,
    since: Contract::new(1, 7),
    fields: &[
        field("name", Type::Text).always(),
        field(
            "configFiles",
            Type::KeyedList(
                &Type::Object(&[
                    field("content", Type::Text).always().private(),
                    field("mountPath", Type::Text).always(),
                ]),
                Match::Merge("mountPath"),
                Nulls::Dropped,
            ),
        ),
        field("environment", TEXTS).private(),
    ],
    about: "Configuration of an extension's service",
};
