//! `SysfsConfig`

use crate::schema::{Contract, Kind, TEXT_MAP, field};

pub(super) const KIND: Kind = Kind {
    name: "SysfsConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("params", TEXT_MAP).always()],
    about: "Parameters below /sys",
};
