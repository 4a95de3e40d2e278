//! `KernelModuleConfig`

use crate::schema::{Kind, Release, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KernelModuleConfig",
    named: true,
    since: Release(1, 14),
    fields: &[field("name", Type::Text).always(), field("parameters", TEXTS)],
    about: "A kernel module to load",
};
