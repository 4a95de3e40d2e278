//! `KubeAuditPolicyConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeAuditPolicyConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("configuration", Type::Any).always().replace()],
    about: "The audit policy of the API server",
};
