//! `KubeStaticPodConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeStaticPodConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[field("name", Type::Text).always(), field("pod", Type::Any).always().replace()],
    about: "A pod that the kubelet runs by itself",
};
