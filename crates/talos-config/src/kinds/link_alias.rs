//! `LinkAliasConfig`

use crate::schema::{Contract, EXPRESSION, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "LinkAliasConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("selector", Type::Object(&[field("match", EXPRESSION)])),
    ],
    about: "A name for a link that is selected by its properties",
};
