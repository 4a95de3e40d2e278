//! `ZswapConfig`

use crate::schema::{INT, Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "ZswapConfig",
    named: false,
    since: Release(1, 11),
    fields: &[
        field("maxPoolPercent", INT).optional(),
        field("shrinkerEnabled", Type::Bool).optional(),
    ],
    about: "Compressed memory in front of swap",
};
