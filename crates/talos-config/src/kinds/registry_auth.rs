//! `RegistryAuthConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "RegistryAuthConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("username", Type::Text),
        field("password", Type::Text).secret(),
        field("auth", Type::Text).secret(),
        field("identityToken", Type::Text).secret(),
    ],
    about: "Credentials for a registry",
};
