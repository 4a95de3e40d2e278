//! The fields of machine configuration in templates: the names of Go's types.

mod cluster;
mod machine;
mod network;

use cluster::CLUSTER_CONFIG;
use machine::MACHINE_CONFIG;

/// A Go type with its fields: their names, their keys and their kinds.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [(&'static str, &'static str, Kind)],
}

/// The kind of a field's value, as far as a template can observe it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Bool,
    /// A boolean that can also be unset.
    Flag,
    /// The machine's type: a number that is printed as a word.
    Role,
    Number,
    Url,
    Texts,
    TextMap,
    /// Anything else, of which no more is known than whether it is set.
    Free,
    Inner(&'static Struct),
    Pointer(&'static Struct),
    Objects(&'static Struct),
    ObjectMap(&'static Struct),
}

pub(super) static CONFIG: Struct = Struct {
    name: "v1alpha1.Config",
    fields: &[
        ("ConfigVersion", "version", Kind::Text),
        ("ConfigDebug", "debug", Kind::Flag),
        ("ConfigPersist", "persist", Kind::Flag),
        ("MachineConfig", "machine", Kind::Pointer(&MACHINE_CONFIG)),
        ("ClusterConfig", "cluster", Kind::Pointer(&CLUSTER_CONFIG)),
        // The following ones are methods of the type, which return fields.
        ("Machine", "machine", Kind::Pointer(&MACHINE_CONFIG)),
        ("Cluster", "cluster", Kind::Pointer(&CLUSTER_CONFIG)),
    ],
};

static CERTIFICATE_AND_KEY: Struct = Struct {
    name: "x509.PEMEncodedCertificateAndKey",
    fields: &[("Crt", "crt", Kind::Free), ("Key", "key", Kind::Free)],
};

/// A value without a type of its own; Go counts it as true even where it is unset.
static UNSTRUCTURED: Struct = Struct { name: "meta.Unstructured", fields: &[] };
