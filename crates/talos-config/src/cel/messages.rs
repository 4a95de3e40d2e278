//! Messages and constants of Talos' and other protocol definitions, as far as an expression can name
//! them. `disk`, `volume` and `link` are such messages, and what defines them defines many more.
//!
//! The table is a list of facts about Talos 1.14.1: `file`, its path and package, then `message` with
//! its fields and `enum` with its values, one a line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::types::Type;

pub(super) type Fields = BTreeMap<&'static str, Type>;

/// The fields of a message that one of the files defines.
pub(super) fn fields(files: &[&'static str], message: &str) -> Option<&'static Fields> {
    files.iter().find_map(|file| FILES.get(file)?.messages.get(message))
}

/// Whether one of the files defines this value of an enumeration.
pub(super) fn is_constant(files: &[&'static str], name: &str) -> bool {
    files.iter().any(|file| FILES.get(file).is_some_and(|file| file.constants.contains(name)))
}

#[derive(Default)]
struct File {
    messages: BTreeMap<String, Fields>,
    constants: BTreeSet<String>,
}

static FILES: LazyLock<BTreeMap<&'static str, File>> = LazyLock::new(|| {
    let mut files: BTreeMap<&'static str, File> = BTreeMap::new();
    let (mut path, mut package, mut message, mut enumeration) = ("", "", String::new(), "");
    for line in TABLE.lines() {
        let Some((first, rest)) = line.split_once(' ') else { continue };
        let file = files.entry(path).or_default();
        match (first, rest.split_once(' ')) {
            ("file", Some(head)) => (path, package) = head,
            ("message", None) => {
                message = format!("{package}.{rest}");
                file.messages.entry(message.clone()).or_default();
            }
            ("enum", None) => enumeration = rest,
            // What belongs to a message or an enumeration begins with a space.
            (_, Some((field, of))) => {
                let fields = file.messages.entry(message.clone()).or_default();
                fields.insert(field, Type::read(of, package));
            }
            (_, None) => {
                file.constants.insert(format!("{package}.{enumeration}.{rest}"));
            }
        }
    }
    files
});

const TABLE: &str = include_str!("messages.txt");

/// What every environment knows.
pub(super) const WELL_KNOWN: [&str; 6] = [
    "google/protobuf/any.proto",
    "google/protobuf/duration.proto",
    "google/protobuf/empty.proto",
    "google/protobuf/timestamp.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/wrappers.proto",
];

/// The same, and what disks and volumes are defined with.
pub(super) const WITH_BLOCK: [&str; 10] = [
    "google/protobuf/any.proto",
    "google/protobuf/duration.proto",
    "google/protobuf/empty.proto",
    "google/protobuf/timestamp.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/wrappers.proto",
    "google/api/expr/v1alpha1/checked.proto",
    "google/api/expr/v1alpha1/syntax.proto",
    "resource/definitions/enums/enums.proto",
    "resource/definitions/block/block.proto",
];

/// The same for links.
pub(super) const WITH_NETWORK: [&str; 12] = [
    "google/protobuf/any.proto",
    "google/protobuf/duration.proto",
    "google/protobuf/empty.proto",
    "google/protobuf/timestamp.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/wrappers.proto",
    "google/protobuf/descriptor.proto",
    "google/rpc/status.proto",
    "common/common.proto",
    "resource/definitions/enums/enums.proto",
    "resource/definitions/runtime/runtime.proto",
    "resource/definitions/network/network.proto",
];
