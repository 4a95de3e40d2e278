//! `EventSinkConfig`

use crate::schema::{Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "EventSinkConfig",
    named: false,
    since: Release(1, 5),
    fields: &[field("endpoint", Type::Text).always()],
    about: "Where events are sent",
};
