//! `VolumeConfig`

use super::shared::{DISK_PROVISIONING, ENCRYPTION, UPKEEP};
use crate::schema::{BYTE_SIZE, Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "VolumeConfig",
    named: true,
    since: Contract::new(1, 8),
    fields: &[
        field("name", Type::Text).always(),
        field("provisioning", DISK_PROVISIONING),
        field(
            "filesystem",
            Type::Object(&[field(
                "xfs",
                Type::Object(&[field("minAllocationGroupSize", BYTE_SIZE).since(1, 14)]),
            )
            .optional()
            .since(1, 14)]),
        )
        .since(1, 14),
        field("encryption", ENCRYPTION).since(1, 11),
        field(
            "mount",
            Type::Object(&[
                field("secure", Type::Bool).optional().since(1, 13),
                field("disableAccessTime", Type::Bool).optional().since(1, 14),
            ]),
        )
        .since(1, 13),
        field("trim", UPKEEP).optional().since(1, 14),
        field("scrub", UPKEEP).optional().since(1, 14),
    ],
    about: "A volume of the system: where and how large",
};
