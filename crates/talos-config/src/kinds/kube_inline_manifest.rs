//! `KubeInlineManifestConfig`

use crate::schema::{Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeInlineManifestConfig",
    named: true,
    since: Release(1, 14),
    fields: &[field("name", Type::Text).always(), field("manifest", Type::Text).always().private()],
    about: "A manifest to apply",
};
