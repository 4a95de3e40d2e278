//! `KubeAPIServerConfig`

use super::shared::RESOURCES;
use crate::schema::{Contract, INT, Kind, TEXT_MAP, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeAPIServerConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field("image", Type::Text).always(),
        field("extraArgs", Type::Arguments),
        field("env", TEXT_MAP).private(),
        field("resources", RESOURCES),
        field("apiPort", INT).optional(),
        field("certExtraSANs", TEXTS),
        field("startupProbes", Type::Bool).optional(),
    ],
    about: "The Kubernetes API server",
};
