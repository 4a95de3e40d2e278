//! `RegistryMirrorConfig`

use crate::schema::{Contract, Kind, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "RegistryMirrorConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field(
            "endpoints",
            Type::List(&Type::Object(&[
                field("url", URL).always(),
                field("overridePath", Type::Bool).optional(),
            ])),
        ),
        field("skipFallback", Type::Bool).optional(),
    ],
    about: "The mirrors of a registry",
};
