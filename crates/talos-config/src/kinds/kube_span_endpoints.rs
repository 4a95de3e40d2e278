//! `KubeSpanEndpointsConfig`

use crate::schema::{IP_PORT, Kind, Release, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeSpanEndpointsConfig",
    named: false,
    since: Release(1, 8),
    fields: &[field("extraAnnouncedEndpoints", Type::List(&IP_PORT)).always()],
    about: "Further addresses at which other machines reach this one",
};
