//! `EthernetConfig`

use super::choices::WOL_MODE;
use crate::schema::{Contract, Kind, Type, U32, field};

pub(super) const KIND: Kind = Kind {
    name: "EthernetConfig",
    named: true,
    since: Contract::new(1, 10),
    fields: &[
        field("name", Type::Text).always(),
        field("features", Type::Map(&Type::Bool)),
        field(
            "rings",
            Type::Object(&[
                field("rx", U32).optional(),
                field("tx", U32).optional(),
                field("rx-mini", U32).optional(),
                field("rx-jumbo", U32).optional(),
                field("rx-buf-len", U32).optional(),
                field("cqe-size", U32).optional(),
                field("tx-push", Type::Bool).optional(),
                field("rx-push", Type::Bool).optional(),
                field("tx-push-buf-len", U32).optional(),
                field("tcp-data-split", Type::Bool).optional(),
            ]),
        )
        .optional(),
        field(
            "channels",
            Type::Object(&[
                field("rx", U32).optional(),
                field("tx", U32).optional(),
                field("other", U32).optional(),
                field("combined", U32).optional(),
            ]),
        )
        .optional(),
        field("wakeOnLan", Type::List(&Type::Choice(&WOL_MODE))).since(1, 12),
    ],
    about: "Settings of a network card",
};
