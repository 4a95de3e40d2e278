//! The variables and functions of an expression, by the field it stands in.

use super::library::{self, Functions, Overload};
use super::messages;
use super::types::Type;

/// The fields of a configuration that hold expressions, as far as their variables differ.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Environment {
    /// Selectors of disks: volumes, installation.
    Disk,
    /// The selector of an existing volume.
    Volume,
    /// The selectors of the members of LVM volume groups and RAID arrays.
    MemberVolume,
    /// The selector of a link that is given an alias.
    Link,
    /// The trigger: memory is short enough to kill.
    OomTrigger,
    /// The ranking: the control group that is killed first.
    OomRanking,
}

impl Environment {
    pub(crate) const ALL: [Self; 6] = [
        Self::Disk,
        Self::Volume,
        Self::MemberVolume,
        Self::Link,
        Self::OomTrigger,
        Self::OomRanking,
    ];

    /// Returns the type that the expression has to give.
    pub(super) fn result(self) -> Type {
        match self {
            Self::OomRanking => Type::DOUBLE,
            Self::Disk | Self::Volume | Self::MemberVolume | Self::Link | Self::OomTrigger => {
                Type::BOOL
            }
        }
    }

    pub(super) fn has_optional_types(self) -> bool {
        matches!(self, Self::OomTrigger | Self::OomRanking)
    }

    pub(super) fn function(self, name: &str) -> Option<&'static [Overload]> {
        let own: &[&'static Functions] = match self {
            Self::Disk | Self::MemberVolume => &[&library::STANDARD, &library::GLOB],
            Self::Volume => &[&library::STANDARD],
            Self::Link => &[&library::STANDARD, &library::GLOB, &library::MAC],
            Self::OomTrigger => &[&library::WITH_OPTIONALS, &library::MULTIPLY_QOS_VECTORS],
            Self::OomRanking => &[&library::WITH_OPTIONALS],
        };
        own.iter().find_map(|functions| functions.get(name)).map(Vec::as_slice)
    }

    /// Returns the type of a variable or constant, or of a name of a type.
    pub(super) fn name(self, name: &str) -> Option<Type> {
        if let Some(of) = self.variable(name) {
            return Some(of);
        }
        match self.type_named(name) {
            Some(of) => Some(Type::type_of(of)),
            None => messages::is_constant(self.files(), name).then_some(Type::INT),
        }
    }

    /// Returns the type that a name stands for.
    pub(super) fn type_named(self, name: &str) -> Option<Type> {
        match name {
            "bool" => Some(Type::BOOL),
            "bytes" => Some(Type::BYTES),
            "double" => Some(Type::DOUBLE),
            "int" => Some(Type::INT),
            "list" => Some(Type::list(Type::Dyn)),
            "map" => Some(Type::map(Type::Dyn, Type::Dyn)),
            "null_type" => Some(Type::Null),
            "optional_type" if self.has_optional_types() => Some(Type::optional(Type::Dyn)),
            "string" => Some(Type::STRING),
            "type" => Some(Type::Meta(None)),
            "uint" => Some(Type::UINT),
            _ => self.has_message(name).then(|| Type::message(name)),
        }
    }

    pub(super) fn has_message(self, name: &str) -> bool {
        messages::fields(self.files(), name).is_some()
    }

    pub(super) fn field(self, message: &str, field: &str) -> Option<Type> {
        messages::fields(self.files(), message)?.get(field).cloned()
    }

    fn variable(self, name: &str) -> Option<Type> {
        let disk = || Type::message("talos.resource.definitions.block.DiskSpec");
        let volume = || Type::message("talos.resource.definitions.block.DiscoveredVolumeSpec");
        let own = match (self, name) {
            (Self::Disk | Self::Volume | Self::MemberVolume, "disk") => Some(disk()),
            (Self::Volume | Self::MemberVolume, "volume") => Some(volume()),
            (Self::Disk | Self::MemberVolume, "system_disk") => Some(Type::BOOL),
            (Self::MemberVolume, "volume_id") => Some(Type::STRING),
            (Self::Link, "link") => {
                Some(Type::message("talos.resource.definitions.network.LinkStatusSpec"))
            }
            (Self::OomTrigger, _) => pressure(name),
            (Self::OomRanking, "memory_max" | "memory_current" | "memory_peak") => {
                Some(Type::optional(Type::UINT))
            }
            (Self::OomRanking, "path") => Some(Type::STRING),
            (Self::OomRanking, "class") => Some(Type::INT),
            _ => None,
        };
        own.or_else(|| (self != Self::Link && UNITS.contains(&name)).then_some(Type::UINT))
            .or_else(|| (self.has_optional_types() && CLASSES.contains(&name)).then_some(Type::INT))
    }

    /// Returns the files that define the messages that can be named.
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Disk | Self::Volume | Self::MemberVolume => &messages::WITH_BLOCK,
            Self::Link => &messages::WITH_NETWORK,
            Self::OomTrigger | Self::OomRanking => &messages::WELL_KNOWN,
        }
    }
}

/// Returns the variables about memory and its pressure.
fn pressure(name: &str) -> Option<Type> {
    if name == "time_since_trigger" {
        return Some(Type::Duration);
    }
    // The change since the last time has the same name with this prefix.
    let name = name.strip_prefix("d_").unwrap_or(name);
    let stall = |rest: &str| {
        matches!(
            rest.strip_prefix("some_").or_else(|| rest.strip_prefix("full_")),
            Some("avg10" | "avg60" | "avg300" | "total")
        )
    };
    if let Some(rest) = name.strip_prefix("qos_memory_") {
        let known = stall(rest) || matches!(rest, "current" | "peak" | "max");
        return known.then(|| Type::map(Type::INT, Type::DOUBLE));
    }
    name.strip_prefix("memory_").filter(|rest| stall(rest)).map(|_| Type::DOUBLE)
}

/// Constants for sizes.
const UNITS: [&str; 12] =
    ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "kB", "MB", "GB", "TB", "PB", "EB"];

/// Constants for the classes of control groups.
const CLASSES: [&str; 5] = ["Besteffort", "Burstable", "Guaranteed", "Podruntime", "System"];
