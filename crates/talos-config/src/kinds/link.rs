//! `LinkConfig`

use super::shared::COMMON_LINK;
use crate::schema::{Contract, Kind, Type, field, inline};

pub(super) const KIND: Kind = Kind {
    name: "LinkConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[field("name", Type::Text).always(), inline(COMMON_LINK)],
    about: "Addresses and routes of a link",
};
