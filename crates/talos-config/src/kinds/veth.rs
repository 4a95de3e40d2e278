//! `VethConfig`

use super::shared::COMMON_LINK;
use crate::schema::{Contract, Kind, Type, field, inline};

pub(super) const KIND: Kind = Kind {
    name: "VethConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field("peer", Type::Object(&[field("name", Type::Text).always(), inline(COMMON_LINK)]))
            .always(),
        inline(COMMON_LINK),
    ],
    about: "A pair of links joined to each other",
};
