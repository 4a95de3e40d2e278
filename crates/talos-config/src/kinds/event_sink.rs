//! `EventSinkConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "EventSinkConfig",
    named: false,
    since: Contract::new(1, 5),
    fields: &[field("endpoint", Type::Text).always()],
    about: "The destination of events",
};
