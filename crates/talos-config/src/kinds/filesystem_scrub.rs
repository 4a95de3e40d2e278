//! `FilesystemScrubConfig`

use crate::schema::{Contract, DURATION, Kind, field};

pub(super) const KIND: Kind = Kind {
    name: "FilesystemScrubConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("interval", DURATION).about("168h when unset")],
    about: "The interval at which file systems are checked",
};
