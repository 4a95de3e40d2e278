//! `RawVolumeConfig`

use super::shared::{DISK_PROVISIONING, ENCRYPTION};
use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "RawVolumeConfig",
    named: true,
    since: Contract::new(1, 11),
    fields: &[
        field("name", Type::Text).always(),
        field("provisioning", DISK_PROVISIONING),
        field("encryption", ENCRYPTION),
    ],
    about: "A partition without a file system",
};
