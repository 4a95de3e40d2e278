//! `KubeSpanEndpointsConfig`

use crate::schema::{Contract, IP_PORT, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeSpanEndpointsConfig",
    named: false,
    since: Contract::new(1, 8),
    fields: &[field("extraAnnouncedEndpoints", Type::List(&IP_PORT)).always()],
    about: "Further addresses at which other machines reach this one",
};
