//! `EnvironmentConfig`

use crate::schema::{Contract, Kind, TEXT_MAP, field};

pub(super) const KIND: Kind = Kind {
    name: "EnvironmentConfig",
    named: false,
    since: Contract::new(1, 13),
    fields: &[field("variables", TEXT_MAP).always().private()],
    about: "Environment of the system services",
};
