//! `ImageVerificationConfig`

use crate::schema::{Contract, Kind, Match, Nulls, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "ImageVerificationConfig",
    named: false,
    since: Contract::new(1, 13),
    fields: &[field(
        "rules",
        Type::KeyedList(
            &Type::Object(&[
                field("image", Type::Text),
                field("skip", Type::Bool).optional(),
                field("deny", Type::Bool).optional(),
                field(
                    "keyless",
                    Type::Object(&[
                        field("issuer", Type::Text),
                        field("subject", Type::Text),
                        field("subjectRegex", Type::Text),
                    ]),
                )
                .optional(),
                field("publicKey", Type::Object(&[field("certificate", Type::Text)])).optional(),
            ]),
            Match::Replace("image"),
            Nulls::Dropped,
        ),
    )],
    about: "Whose signatures images must carry",
};
