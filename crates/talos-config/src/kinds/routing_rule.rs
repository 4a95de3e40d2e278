//! `RoutingRuleConfig`

use super::choices::ROUTING_RULE_ACTION;
use crate::schema::{CIDR, Contract, Kind, ROUTING_TABLE, Type, U32, field};

pub(super) const KIND: Kind = Kind {
    name: "RoutingRuleConfig",
    named: true,
    since: Contract::new(1, 13),
    fields: &[
        field("name", Type::Text).always(),
        field("src", CIDR),
        field("dst", CIDR),
        field("table", ROUTING_TABLE).always(),
        field("action", Type::Choice(&ROUTING_RULE_ACTION)),
        field("iifName", Type::Text),
        field("oifName", Type::Text),
        field("fwMark", U32),
        field("fwMask", U32),
    ],
    about: "The choice of a routing table",
};
