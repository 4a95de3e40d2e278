//! Parts that several kinds have.

use super::choices::ENCRYPTION_PROVIDER_TYPE;
use crate::schema::{
    BASE64, BYTE_SIZE, CIDR, DURATION, EXPRESSION, Field, INT, IP, ROUTING_TABLE, SIZE, TEXTS,
    Type, U32, U64, field,
};

/// A certificate and its key, each as base64 of a PEM file.
pub(crate) const KEY_PAIR: Type =
    Type::WholeObject(&[field("crt", BASE64).always(), field("key", BASE64).always().secret()]);

/// A certificate as base64 of a PEM file.
pub(super) const CERTIFICATE: Type = Type::WholeObject(&[field("crt", BASE64).always()]);

/// A key as base64 of a PEM file.
pub(crate) const KEY: Type = Type::WholeObject(&[field("key", BASE64).always().secret()]);

/// A certificate and its key as PEM text.
pub(super) const PEM_PAIR: Type =
    Type::Object(&[field("cert", Type::Text), field("key", Type::Text).secret()]);

/// The fields of all links.
pub(super) const COMMON_LINK: &[Field] = &[
    field("up", Type::Bool).optional(),
    field("mtu", U32),
    field(
        "addresses",
        Type::List(&Type::Object(&[
            field("address", CIDR).always(),
            field("routePriority", U32).optional(),
        ])),
    ),
    field(
        "routes",
        Type::List(&Type::Object(&[
            field("destination", CIDR),
            field("gateway", IP),
            field("source", IP),
            field("metric", U32),
            field("mtu", U32),
            field("table", ROUTING_TABLE),
        ])),
    ),
    field("multicast", Type::Bool).optional(),
];

/// Encryption of a volume.
pub(super) const ENCRYPTION: Type = Type::Encryption(&[
    field("provider", Type::Choice(&ENCRYPTION_PROVIDER_TYPE)).always(),
    field(
        "keys",
        Type::List(&Type::Object(&[
            field("slot", INT).always(),
            field("static", Type::Object(&[field("passphrase", Type::Text).secret()])).optional(),
            field("nodeID", Type::Object(&[])).optional(),
            field("kms", Type::Object(&[field("endpoint", Type::Text).always()])).optional(),
            field(
                "tpm",
                Type::Object(&[
                    field("options", Type::Object(&[field("pcrs", Type::List(&INT))])).optional(),
                    field("checkSecurebootStatusOnEnroll", Type::Bool).optional(),
                ]),
            )
            .optional(),
            field("lockToState", Type::Bool).optional(),
        ])),
    )
    .always(),
    field("cipher", Type::Text),
    field("keySize", U64),
    field("blockSize", U64),
    field("options", TEXTS),
    field("allowDiscards", Type::Bool).optional().since(1, 14),
]);

/// The disk of a volume, and its size.
pub(super) const DISK_PROVISIONING: Type = Type::Object(&[
    field("diskSelector", Type::Object(&[field("match", EXPRESSION)])),
    field("grow", Type::Bool).optional(),
    field("minSize", BYTE_SIZE),
    field("maxSize", SIZE),
]);

/// Regular care of a file system.
pub(super) const UPKEEP: Type =
    Type::Object(&[field("enabled", Type::Bool).optional(), field("interval", DURATION)]);

/// The resources that a pod asks for and may use.
pub(super) const RESOURCES: Type =
    Type::Object(&[field("requests", Type::Any), field("limits", Type::Any)]);
