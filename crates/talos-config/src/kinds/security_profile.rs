//! `SecurityProfileConfig`

use crate::schema::{Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "SecurityProfileConfig",
    named: false,
    since: Release(1, 14),
    fields: &[field("workloadIsolation", Type::Bool).optional()],
    about: "How far workloads are kept apart",
};
