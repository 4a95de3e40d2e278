//! `ExternalVolumeConfig`

use super::choices::FILESYSTEM_TYPE;
use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "ExternalVolumeConfig",
    named: true,
    since: Contract::new(1, 13),
    fields: &[
        field("name", Type::Text).always(),
        field("filesystemType", Type::Choice(&FILESYSTEM_TYPE)).always(),
        field(
            "mount",
            Type::Object(&[
                field("readOnly", Type::Bool).optional(),
                field("disableAccessTime", Type::Bool).optional(),
                field("secure", Type::Bool).optional(),
                field("virtiofs", Type::Object(&[field("tag", Type::Text).always()])).optional(),
            ]),
        ),
    ],
    about: "Mounts a volume of the host of a virtual machine",
};
