//! `LVMVolumeGroupConfig`

use crate::schema::{Contract, EXPRESSION, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "LVMVolumeGroupConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field(
            "provisioning",
            Type::Object(&[field("volumeSelector", Type::Object(&[field("match", EXPRESSION)]))]),
        )
        .always(),
    ],
    about: "Disks joined to a volume group",
};
