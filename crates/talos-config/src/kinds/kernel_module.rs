//! `KernelModuleConfig`

use crate::schema::{Contract, Kind, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KernelModuleConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[field("name", Type::Text).always(), field("parameters", TEXTS)],
    about: "A kernel module to load",
};
