//! `ImageCacheConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "ImageCacheConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("local", Type::Object(&[field("enabled", Type::Bool).optional()])).always()],
    about: "Images kept on the machine",
};
