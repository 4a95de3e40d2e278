//! `HCloudVIPConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "HCloudVIPConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("link", Type::Text).always(),
        field("apiToken", Type::Text).always().secret(),
    ],
    about: "A floating address of Hetzner Cloud",
};
