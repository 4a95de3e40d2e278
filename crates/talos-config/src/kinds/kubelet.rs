//! `KubeletConfig`

use crate::schema::{Kind, Release, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeletConfig",
    named: false,
    since: Release(1, 14),
    fields: &[
        field("image", Type::Text).always(),
        field("config", Type::Any).always(),
        field("extraArgs", Type::Arguments),
        field("clusterDNS", TEXTS),
        field("defaultRuntimeSeccompProfileEnabled", Type::Bool).optional(),
    ],
    about: "The kubelet",
};
