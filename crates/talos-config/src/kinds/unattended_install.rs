//! `UnattendedInstallConfig`

use crate::schema::{Contract, EXPRESSION, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "UnattendedInstallConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field("reboot", Type::Bool).optional(),
        field("installer", Type::Object(&[field("image", Type::Text)])).always(),
        field(
            "provisioning",
            Type::Object(&[
                field("diskSelector", Type::Object(&[field("match", EXPRESSION)])),
                field("wipe", Type::Bool).optional(),
            ]),
        )
        .always(),
    ],
    about: "Installs to disk without being asked",
};
