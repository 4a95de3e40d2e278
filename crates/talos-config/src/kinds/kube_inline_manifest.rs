//! `KubeInlineManifestConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeInlineManifestConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[field("name", Type::Text).always(), field("manifest", Type::Text).always().private()],
    about: "A manifest to apply",
};
