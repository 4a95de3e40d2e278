//! `LVMVolumeGroupConfig`

use crate::schema::{EXPRESSION, Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "LVMVolumeGroupConfig",
    named: true,
    since: Release(1, 14),
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
