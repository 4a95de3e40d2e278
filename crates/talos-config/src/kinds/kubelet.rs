//! `KubeletConfig`

use crate::schema::{Contract, Kind, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeletConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field("image", Type::Text).always(),
        field("config", Type::Any).always(),
        field("extraArgs", Type::Arguments),
        field("clusterDNS", TEXTS),
        field("defaultRuntimeSeccompProfileEnabled", Type::Bool).optional(),
    ],
    about: "The kubelet",
};
