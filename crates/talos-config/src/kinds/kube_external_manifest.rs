//! `KubeExternalManifestConfig`

use crate::schema::{Contract, Kind, TEXT_MAP, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeExternalManifestConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field("headers", TEXT_MAP).private(),
        field("url", URL).always(),
    ],
    about: "A manifest to fetch and apply",
};
