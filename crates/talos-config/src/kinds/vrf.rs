//! `VRFConfig`

use super::shared::COMMON_LINK;
use crate::schema::{Contract, Kind, MAC, ROUTING_TABLE, TEXTS, Type, field, inline};

pub(super) const KIND: Kind = Kind {
    name: "VRFConfig",
    named: true,
    since: Contract::new(1, 13),
    fields: &[
        field("name", Type::Text).always(),
        field("hardwareAddr", MAC),
        field("links", TEXTS),
        field("table", ROUTING_TABLE).always(),
        inline(COMMON_LINK),
    ],
    about: "Links with a routing table of their own",
};
