//! `NetworkRuleConfig`

use super::choices::PROTOCOL;
use crate::schema::{CIDR, Contract, Kind, PORT_RANGE, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "NetworkRuleConfig",
    named: true,
    since: Contract::new(1, 6),
    fields: &[
        field("name", Type::Text).always(),
        field(
            "portSelector",
            Type::Object(&[
                field("ports", Type::List(&PORT_RANGE)).always().replace(),
                field("protocol", Type::Choice(&PROTOCOL)).always(),
            ]),
        )
        .always(),
        field(
            "ingress",
            Type::List(&Type::Object(&[field("subnet", CIDR).always(), field("except", CIDR)])),
        )
        .always()
        .replace(),
    ],
    about: "Traffic that may come in",
};
