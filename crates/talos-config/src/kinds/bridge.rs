//! `BridgeConfig`

use super::shared::COMMON_LINK;
use crate::schema::{Contract, Kind, MAC, TEXTS, Type, field, inline};

pub(super) const KIND: Kind = Kind {
    name: "BridgeConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("hardwareAddr", MAC),
        field("links", TEXTS),
        field("stp", Type::Object(&[field("enabled", Type::Bool).optional()])),
        field("vlan", Type::Object(&[field("filtering", Type::Bool).optional()])),
        inline(COMMON_LINK),
    ],
    about: "Links joined to one network",
};
