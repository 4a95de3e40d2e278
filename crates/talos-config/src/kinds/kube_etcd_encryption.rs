//! `KubeEtcdEncryptionConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeEtcdEncryptionConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("config", Type::Any).always().secret()],
    about: "The encryption of secrets in etcd",
};
