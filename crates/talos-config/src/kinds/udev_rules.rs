//! `UdevRulesConfig`

use crate::schema::{Contract, Kind, TEXTS, field};

pub(super) const KIND: Kind = Kind {
    name: "UdevRulesConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("rules", TEXTS)],
    about: "Rules for devices",
};
