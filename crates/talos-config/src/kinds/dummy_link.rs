//! `DummyLinkConfig`

use super::shared::COMMON_LINK;
use crate::schema::{Contract, Kind, MAC, Type, field, inline};

pub(super) const KIND: Kind = Kind {
    name: "DummyLinkConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[field("name", Type::Text).always(), field("hardwareAddr", MAC), inline(COMMON_LINK)],
    about: "A link without a network behind it",
};
