//! `HTTPProbeConfig`

use crate::schema::{Contract, DURATION, INT, Kind, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "HTTPProbeConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field("interval", DURATION).about("1s when unset"),
        field("failureThreshold", INT).about("0 when unset"),
        field("url", URL).always(),
        field("timeout", DURATION).about("10s when unset"),
    ],
    about: "Watches whether a URL answers",
};
