//! `HostnameConfig`

use super::choices::AUTO_HOSTNAME_KIND;
use crate::schema::{Contract, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "HostnameConfig",
    named: false,
    since: Contract::new(1, 12),
    fields: &[
        field("auto", Type::Choice(&AUTO_HOSTNAME_KIND))
            .optional()
            .about("must be off when a hostname is given"),
        field("hostname", Type::Text),
    ],
    about: "The name of the machine, or how it is found",
};
