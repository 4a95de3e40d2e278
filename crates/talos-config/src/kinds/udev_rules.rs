//! `UdevRulesConfig`

use crate::schema::{Kind, Release, TEXTS, field};

pub(super) const KIND: Kind = Kind {
    name: "UdevRulesConfig",
    named: false,
    since: Release(1, 14),
    fields: &[field("rules", TEXTS)],
    about: "Rules for devices",
};
