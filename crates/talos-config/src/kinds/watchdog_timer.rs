//! `WatchdogTimerConfig`

use crate::schema::{Contract, DURATION, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "WatchdogTimerConfig",
    named: false,
    since: Contract::new(1, 7),
    fields: &[
        field("device", Type::Text).always(),
        field("timeout", DURATION).about("1m when unset, at least 10s"),
    ],
    about: "Restarts a machine that hangs",
};
