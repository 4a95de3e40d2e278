//! `KubeCredentialProviderConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeCredentialProviderConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("configuration", Type::Any).always().replace()],
    about: "The kubelet's credentials for registries",
};
