//! `CRIBaseRuntimeSpecConfig`

use crate::schema::{Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "CRIBaseRuntimeSpecConfig",
    named: false,
    since: Release(1, 14),
    fields: &[field("overrides", Type::Any).replace()],
    about: "Changes to what every container gets",
};
