//! `KubeStaticPodConfig`

use crate::schema::{Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeStaticPodConfig",
    named: true,
    since: Release(1, 14),
    fields: &[field("name", Type::Text).always(), field("pod", Type::Any).always().replace()],
    about: "A pod that the kubelet runs by itself",
};
