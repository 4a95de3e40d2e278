//! `KubeAuditPolicyConfig`

use crate::schema::{Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeAuditPolicyConfig",
    named: false,
    since: Release(1, 14),
    fields: &[field("configuration", Type::Any).always().replace()],
    about: "What the API server writes down",
};
