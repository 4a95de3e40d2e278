//! `ZswapConfig`

use crate::schema::{Contract, INT, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "ZswapConfig",
    named: false,
    since: Contract::new(1, 11),
    fields: &[
        field("maxPoolPercent", INT).optional(),
        field("shrinkerEnabled", Type::Bool).optional(),
    ],
    about: "Compressed memory in front of swap",
};
