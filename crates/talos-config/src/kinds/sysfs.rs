//! `SysfsConfig`

use crate::schema::{Kind, Release, TEXT_MAP, field};

pub(super) const KIND: Kind = Kind {
    name: "SysfsConfig",
    named: false,
    since: Release(1, 14),
    fields: &[field("params", TEXT_MAP).always()],
    about: "Parameters below /sys",
};
