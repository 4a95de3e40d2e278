//! `KmsgLogConfig`

use crate::schema::{Kind, Release, Type, URL, field};

pub(super) const KIND: Kind = Kind {
    name: "KmsgLogConfig",
    named: true,
    since: Release(1, 5),
    fields: &[field("name", Type::Text).always(), field("url", URL).always()],
    about: "Where the kernel log is sent",
};
