//! `SecurityProfileConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "SecurityProfileConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("workloadIsolation", Type::Bool).optional()],
    about: "The isolation of workloads",
};
