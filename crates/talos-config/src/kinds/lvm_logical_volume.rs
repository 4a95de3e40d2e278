//! `LVMLogicalVolumeConfig`

use super::choices::LVM_LOGICAL_VOLUME_TYPE;
use crate::schema::{BYTE_SIZE, Contract, Kind, SIZE, Type, U32, field};

pub(super) const KIND: Kind = Kind {
    name: "LVMLogicalVolumeConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field("type", Type::Choice(&LVM_LOGICAL_VOLUME_TYPE)).always(),
        field("mirrors", U32).optional(),
        field("stripes", U32).optional(),
        field(
            "provisioning",
            Type::Object(&[
                field("volumeGroup", Type::Text).always(),
                field("minSize", BYTE_SIZE),
                field("maxSize", SIZE),
            ]),
        )
        .always(),
    ],
    about: "A logical volume",
};
