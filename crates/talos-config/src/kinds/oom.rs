//! `OOMConfig`

use crate::schema::{Contract, DURATION, EXPRESSION, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "OOMConfig",
    named: false,
    since: Contract::new(1, 12),
    fields: &[
        field("triggerExpression", EXPRESSION),
        field("cgroupRankingExpression", EXPRESSION),
        field("strictCgroupClassOrdering", Type::Bool).optional().since(1, 12),
        field("sampleInterval", DURATION),
    ],
    about: "The handling of low memory",
};
