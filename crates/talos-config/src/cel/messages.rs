//! Messages and constants of Talos' and other protocol definitions, as far as an expression can name
//! them. `disk`, `volume` and `link` are such messages, and what defines them defines many more.
//!
//! The table is a list of facts about Talos 1.14.1: `file`, its path and package, then `message` with
//! its fields and `enum` with its values, one a line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

use super::types::Type;

pub(super) type Fields = BTreeMap<&'static str, Type>;

/// Returns the fields of a message that one of the files defines.
pub(super) fn fields(files: &[&'static str], message: &str) -> Option<&'static Fields> {
    files.iter().find_map(|file| FILES.get(file)?.defines(message)?.messages.get(message))
}

/// Returns whether one of the files defines this value of an enumeration.
pub(super) fn is_constant(files: &[&'static str], name: &str) -> bool {
    let defines = |file| FILES.get(file)?.defines(name);
    files.iter().filter_map(defines).any(|definitions| definitions.constants.contains(name))
}

/// A file of the table. It is read on first use: an expression names few of them.
struct File {
    package: &'static str,
    lines: &'static str,
    definitions: OnceLock<Definitions>,
}

impl File {
    /// Returns its definitions, if a name can be among them.
    fn defines(&self, name: &str) -> Option<&Definitions> {
        let is_inside = name.strip_prefix(self.package)?.starts_with('.');
        let read = || Definitions::read(self.package, self.lines);
        is_inside.then(|| self.definitions.get_or_init(read))
    }
}

#[derive(Default)]
struct Definitions {
    messages: BTreeMap<String, Fields>,
    constants: BTreeSet<String>,
}

impl Definitions {
    fn read(package: &'static str, lines: &'static str) -> Self {
        let mut definitions = Self::default();
        let (mut message, mut enumeration) = (String::new(), "");
        for line in lines.lines() {
            let Some((first, rest)) = line.split_once(' ') else { continue };
            match (first, rest.split_once(' ')) {
                ("message", None) => {
                    message = format!("{package}.{rest}");
                    definitions.messages.entry(message.clone()).or_default();
                }
                ("enum", None) => enumeration = rest,
                // What belongs to a message or an enumeration begins with a space.
                (_, Some((field, of))) => {
                    let fields = definitions.messages.entry(message.clone()).or_default();
                    fields.insert(field, Type::read(of, package));
                }
                (_, None) => {
                    definitions.constants.insert(format!("{package}.{enumeration}.{rest}"));
                }
            }
        }
        definitions
    }
}

static FILES: LazyLock<BTreeMap<&'static str, File>> = LazyLock::new(|| {
    let parts = TABLE.strip_prefix("file ").unwrap_or(TABLE).split("\nfile ");
    let file = |part: &'static str| {
        let (head, lines) = part.split_once('\n')?;
        let (path, package) = head.split_once(' ')?;
        Some((path, File { package, lines, definitions: OnceLock::new() }))
    };
    parts.filter_map(file).collect()
});

const TABLE: &str = include_str!("messages.txt");

/// The messages of every environment.
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
