//! `KmsgLogConfig`

use crate::schema::{Contract, Kind, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "KmsgLogConfig",
    named: true,
    since: Contract::new(1, 5),
    fields: &[field("name", Type::Text).always(), field("url", URL).always()],
    about: "The destination of the kernel log",
};
