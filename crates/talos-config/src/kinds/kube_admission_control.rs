//! `KubeAdmissionControlConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeAdmissionControlConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[field("name", Type::Text).always(), field("configuration", Type::Any).always()],
    about: "An admission plug-in of the API server",
};
