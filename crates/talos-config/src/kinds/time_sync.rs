//! `TimeSyncConfig`

use crate::schema::{Contract, DURATION, Kind, TEXTS, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "TimeSyncConfig",
    named: false,
    since: Contract::new(1, 12),
    fields: &[
        field("enabled", Type::Bool).optional().about("true when unset"),
        field("bootTimeout", DURATION),
        field(
            "ntp",
            Type::Object(&[
                field("servers", TEXTS).about("time.cloudflare.com when unset"),
                field("useNTS", Type::Bool).optional().since(1, 14),
            ]),
        )
        .optional(),
        field("ptp", Type::Object(&[field("devices", TEXTS)])).optional(),
    ],
    about: "The sources of time",
};
