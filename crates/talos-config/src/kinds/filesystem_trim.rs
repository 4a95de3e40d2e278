//! `FilesystemTrimConfig`

use crate::schema::{DURATION, Kind, Release, field};

pub(super) const KIND: Kind = Kind {
    name: "FilesystemTrimConfig",
    named: false,
    since: Release(1, 14),
    fields: &[field("interval", DURATION).about("168h when unset")],
    about: "How often unused blocks are given back",
};
