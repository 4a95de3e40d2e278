//! `RegistryTLSConfig`

use super::shared::PEM_PAIR;
use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "RegistryTLSConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("clientIdentity", PEM_PAIR).optional(),
        field("ca", Type::Text),
        field("insecureSkipVerify", Type::Bool).optional(),
    ],
    about: "The trust in a registry's certificates",
};
