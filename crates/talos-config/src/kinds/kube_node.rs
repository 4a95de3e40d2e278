//! `KubeNodeConfig`

use crate::schema::{Contract, Kind, TEXT_MAP, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeNodeConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field("skipNodeRegistration", Type::Bool).optional(),
        field("registerWithFQDN", Type::Bool).optional(),
        field("nodeIP", Type::Object(&[field("validSubnets", TEXTS)])).always(),
        field("labels", TEXT_MAP),
        field("annotations", TEXT_MAP),
        field("taints", TEXT_MAP),
    ],
    about: "The node that the machine registers",
};
