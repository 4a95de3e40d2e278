//! `CRICustomizationConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "CRICustomizationConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[field("name", Type::Text).always(), field("content", Type::Text).always().private()],
    about: "A piece of configuration of the container runtime",
};
