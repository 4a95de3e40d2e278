//! `KubeAPIServerCAConfig`

use super::shared::PEM_PAIR;
use crate::schema::{Contract, Kind, TEXTS, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeAPIServerCAConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[field("issuingCA", PEM_PAIR).optional(), field("acceptedCAs", TEXTS)],
    about: "The authority that Kubernetes trusts",
};
