//! `KubeAdmissionControlConfig`

use crate::schema::{Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeAdmissionControlConfig",
    named: true,
    since: Release(1, 14),
    fields: &[field("name", Type::Text).always(), field("configuration", Type::Any).always()],
    about: "An admission plug-in of the API server",
};
