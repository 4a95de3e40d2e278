//! `PCIDriverRebindConfig`

use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "PCIDriverRebindConfig",
    named: true,
    since: Contract::new(1, 10),
    fields: &[field("name", Type::Text).always(), field("targetDriver", Type::Text).always()],
    about: "The driver of a PCI device",
};
