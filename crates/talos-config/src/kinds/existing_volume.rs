//! `ExistingVolumeConfig`

use super::shared::UPKEEP;
use crate::schema::{Contract, EXPRESSION, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "ExistingVolumeConfig",
    named: true,
    since: Contract::new(1, 11),
    fields: &[
        field("name", Type::Text).always(),
        field(
            "discovery",
            Type::Object(&[field("volumeSelector", Type::Object(&[field("match", EXPRESSION)]))]),
        ),
        field(
            "mount",
            Type::Object(&[
                field("readOnly", Type::Bool).optional(),
                field("disableAccessTime", Type::Bool).optional().since(1, 13),
                field("secure", Type::Bool).optional().since(1, 13),
            ]),
        ),
        field("trim", UPKEEP).optional().since(1, 14),
        field("scrub", UPKEEP).optional().since(1, 14),
    ],
    about: "Mounts a volume that is there already",
};
