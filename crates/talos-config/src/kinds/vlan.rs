//! `VLANConfig`

use super::choices::VLAN_PROTOCOL;
use super::shared::COMMON_LINK;
use crate::schema::{Contract, Kind, Type, U16, field, inline};

pub(super) const KIND: Kind = Kind {
    name: "VLANConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("vlanID", U16),
        field("vlanMode", Type::Choice(&VLAN_PROTOCOL)).optional(),
        field("parent", Type::Text),
        inline(COMMON_LINK),
    ],
    about: "A tagged network on a link",
};
