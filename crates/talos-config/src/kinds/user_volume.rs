//! `UserVolumeConfig`

use super::choices::{FILESYSTEM_TYPE, VOLUME_TYPE};
use super::shared::{DISK_PROVISIONING, ENCRYPTION, UPKEEP};
use crate::schema::{BYTE_SIZE, Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "UserVolumeConfig",
    named: true,
    since: Contract::new(1, 10),
    fields: &[
        field("name", Type::Text).always(),
        field("volumeType", Type::Choice(&VOLUME_TYPE))
            .optional()
            .since(1, 12)
            .about("partition when unset"),
        field("provisioning", DISK_PROVISIONING),
        field(
            "filesystem",
            Type::Object(&[
                field("type", Type::Choice(&FILESYSTEM_TYPE)).about("xfs when unset"),
                field("projectQuotaSupport", Type::Bool).optional().since(1, 11),
                field(
                    "xfs",
                    Type::Object(&[field("minAllocationGroupSize", BYTE_SIZE).since(1, 14)]),
                )
                .optional()
                .since(1, 14),
            ]),
        ),
        field("encryption", ENCRYPTION),
        field(
            "mount",
            Type::Object(&[
                field("disableAccessTime", Type::Bool).optional().since(1, 13),
                field("secure", Type::Bool).optional().since(1, 13),
            ]),
        )
        .since(1, 13),
        field("trim", UPKEEP).optional().since(1, 14),
        field("scrub", UPKEEP).optional().since(1, 14),
    ],
    about: "A volume for workloads",
};
