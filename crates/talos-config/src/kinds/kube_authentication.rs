//! `KubeAuthenticationConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeAuthenticationConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("configuration", Type::Any).always().replace()],
    about: "Authentication of the API server's clients",
};
