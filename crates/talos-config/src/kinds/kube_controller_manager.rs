//! `KubeControllerManagerConfig`

use super::shared::RESOURCES;
use crate::schema::{Contract, Kind, TEXT_MAP, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeControllerManagerConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field("enabled", Type::Bool).optional(),
        field("image", Type::Text).always(),
        field("extraArgs", Type::Arguments),
        field("env", TEXT_MAP).private(),
        field("resources", RESOURCES),
    ],
    about: "The controller manager",
};
