//! `RAIDArrayConfig`

use super::choices::{MD_LEVEL, MD_METADATA};
use crate::schema::{Contract, EXPRESSION, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "RAIDArrayConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field("level", Type::Choice(&MD_LEVEL)).always(),
        field("metadata", Type::Choice(&MD_METADATA)),
        field(
            "provisioning",
            Type::Object(&[
                field("volumeSelector", Type::Object(&[field("match", EXPRESSION)])).always()
            ]),
        )
        .always(),
    ],
    about: "Disks that mirror each other",
};
