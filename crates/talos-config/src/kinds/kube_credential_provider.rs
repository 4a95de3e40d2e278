//! `KubeCredentialProviderConfig`

use crate::schema::{Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeCredentialProviderConfig",
    named: false,
    since: Release(1, 14),
    fields: &[field("configuration", Type::Any).always().replace()],
    about: "How the kubelet signs in to registries",
};
