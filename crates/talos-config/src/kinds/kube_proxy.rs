//! `KubeProxyConfig`

use super::shared::RESOURCES;
use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeProxyConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field("enabled", Type::Bool).optional(),
        field("image", Type::Text),
        field("mode", Type::Text),
        field("config", Type::Any).always(),
        field("extraArgs", Type::Arguments),
        field("resources", RESOURCES),
    ],
    about: "The service proxy",
};
