//! The names by which templates speak of a machine's configuration: those of the Go types behind the keys.

mod cluster;
mod machine;
mod network;

use cluster::CLUSTER_CONFIG;
use machine::MACHINE_CONFIG;

/// A Go type, its fields, the keys that they stand for, and what they hold.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [(&'static str, &'static str, Kind)],
}

/// What a field holds, as far as a template can tell.
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
        // What follows the fields of a type are methods that say the same.
        ("Machine", "machine", Kind::Pointer(&MACHINE_CONFIG)),
        ("Cluster", "cluster", Kind::Pointer(&CLUSTER_CONFIG)),
    ],
};

static CERTIFICATE_AND_KEY: Struct = Struct {
    name: "x509.PEMEncodedCertificateAndKey",
    fields: &[("Crt", "crt", Kind::Free), ("Key", "key", Kind::Free)],
};

/// What has no type of its own; Go takes it for true even where it is unset.
static UNSTRUCTURED: Struct = Struct { name: "meta.Unstructured", fields: &[] };
