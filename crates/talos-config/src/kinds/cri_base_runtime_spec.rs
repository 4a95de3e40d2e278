//! `CRIBaseRuntimeSpecConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "CRIBaseRuntimeSpecConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("overrides", Type::Any).replace()],
    about: "Changes to what every container gets",
};
