//! `KubeAuthorizerConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeAuthorizerConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field("type", Type::Text).always(),
        field("webhook", Type::Any),
    ],
    about: "Authorization by the API server",
};
