//! `KubeTalosAPIAccessConfig`

use crate::schema::{Contract, Kind, TEXTS, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeTalosAPIAccessConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("allowedRoles", TEXTS), field("allowedKubernetesNamespaces", TEXTS)],
    about: "The pods that may use the Talos API",
};
