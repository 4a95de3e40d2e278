//! `NetworkDefaultActionConfig`

use super::choices::DEFAULT_ACTION;
use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "NetworkDefaultActionConfig",
    named: false,
    since: Contract::new(1, 6),
    fields: &[field("ingress", Type::Choice(&DEFAULT_ACTION)).always()],
    about: "The action for traffic that no rule names",
};
