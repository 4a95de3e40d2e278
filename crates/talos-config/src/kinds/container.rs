//! `ContainerConfig`

use crate::schema::{Contract, I32, Kind, TEXTS, Type, WORD, field};

pub(super) const KIND: Kind = Kind {
    name: "ContainerConfig",
    named: true,
    since: Contract::new(1, 14),
    fields: &[
        field("name", Type::Text).always(),
        field("image", Type::Text).always(),
        field("entrypoint", TEXTS),
        field("args", TEXTS),
        field("workingDir", Type::Text),
        field("runAs", Type::Object(&[field("uid", I32).optional(), field("gid", I32).optional()]))
            .optional(),
        field("environment", TEXTS).private(),
        field(
            "mounts",
            Type::List(&Type::Object(&[
                field(
                    "userVolume",
                    Type::Object(&[
                        field("name", Type::Text).always(),
                        field("destination", Type::Text).always(),
                        field("options", TEXTS),
                    ]),
                )
                .optional(),
                field(
                    "tmpfs",
                    Type::Object(&[
                        field("destination", Type::Text).always(),
                        field("size", Type::Text),
                        field("options", TEXTS),
                    ]),
                )
                .optional(),
                field(
                    "hostPath",
                    Type::Object(&[
                        field("source", Type::Text).always(),
                        field("destination", Type::Text).always(),
                        field("options", TEXTS),
                    ]),
                )
                .optional(),
            ])),
        ),
        field(
            "security",
            Type::Object(&[
                field("profile", WORD).about("restricted when unset"),
                field("capabilities", Type::Object(&[field("add", TEXTS), field("drop", TEXTS)]))
                    .optional(),
                field("machinedAccess", Type::Bool),
            ]),
        )
        .optional(),
        field("network", Type::Object(&[field("mode", WORD).about("none when unset")])).optional(),
        field(
            "resources",
            Type::Object(&[field(
                "limits",
                Type::Object(&[field("cpu", Type::Text), field("memory", Type::Text)]),
            )
            .optional()]),
        )
        .optional(),
        field(
            "dependsOn",
            Type::Object(&[
                field("paths", TEXTS),
                field("networks", TEXTS),
                field("time", Type::Bool).optional(),
                field("containers", TEXTS),
            ]),
        )
        .optional(),
    ],
    about: "A container that the machine runs by itself",
};
