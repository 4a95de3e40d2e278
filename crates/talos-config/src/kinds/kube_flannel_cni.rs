//! `KubeFlannelCNIConfig`

use super::shared::RESOURCES;
use crate::schema::{Contract, Kind, TEXTS, Type, U16, U32, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeFlannelCNIConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field("backendType", Type::Text).always(),
        field("backendPort", U16),
        field("backendMTU", U32),
        field("backendExtraConfig", Type::Any),
        field("resources", RESOURCES),
        field("extraArgs", TEXTS),
        field("kubeNetworkPoliciesEnabled", Type::Bool).optional(),
    ],
    about: "The network between pods",
};
