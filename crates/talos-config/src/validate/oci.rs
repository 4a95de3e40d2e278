//! Whether free-form data can be laid over the runtime specification of containers.
//!
//! Only what Linux uses is looked into; of the sections for other systems it is known that they are
//! objects.

use super::cursor::Cursor;
use crate::value::Data;

/// Checks overrides of the specification as Talos does: keys that it does not know do not matter,
/// values of another type do.
pub(super) fn check(overrides: Cursor<'_>) -> Result<(), String> {
    fits(overrides, &Object(SPEC), "")
        .map_err(|wrong| format!("failed to unmarshal base runtime spec overrides: {wrong}"))
}

/// The type of a value.
enum Shape {
    Bool,
    Text,
    Number(i128, i128),
    List(&'static Self),
    Map(&'static Self),
    Object(&'static [(&'static str, Self)]),
}

use Shape::{Bool, List, Map, Number, Object, Text};

fn fits(cursor: Cursor<'_>, shape: &Shape, path: &str) -> Result<(), String> {
    let Some(data) = cursor.data() else { return Ok(()) };
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let wrong = |wanted: &str| Err(format!("{path} is {}, not {wanted}", name(data)));
    match (shape, data) {
        (_, Data::Null) | (Bool, Data::Bool(_)) | (Text, Data::Text(_)) => Ok(()),
        (Number(least, most), Data::Int(number)) if (least..=most).contains(&number) => Ok(()),
        // A float without a fraction is written as an integer.
        (Number(..), Data::Float(number)) if number.fract() == 0.0 && number.abs() < 1e15 => Ok(()),
        (List(element), Data::List(_)) => {
            let mut items = cursor.items().enumerate();
            items.try_for_each(|(index, item)| fits(item, element, &below(&index.to_string())))
        }
        (Map(element), Data::Map(_)) => {
            let mut entries = cursor.entries();
            entries.try_for_each(|(key, value)| fits(value, element, &below(key)))
        }
        (Object(fields), Data::Map(_)) => {
            let mut entries = cursor.entries();
            entries.try_for_each(|(key, value)| {
                let field = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
                field.map_or(Ok(()), |(name, shape)| fits(value, shape, &below(name)))
            })
        }
        (Bool, _) => wrong("true or false"),
        (Text, _) => wrong("text"),
        (Number(least, most), _) => wrong(&format!("a number from {least} to {most}")),
        (List(_), _) => wrong("a list"),
        (Map(_) | Object(_), _) => wrong("an object"),
    }
}

fn name(data: &Data) -> &'static str {
    match data {
        Data::Null => "null",
        Data::Bool(_) => "a boolean",
        Data::Int(_) | Data::Float(_) => "a number",
        Data::Text(_) => "text",
        Data::List(_) => "a list",
        Data::Map(_) => "an object",
    }
}

const U16: Shape = Number(0, u16::MAX as i128);
const I32: Shape = Number(i32::MIN as i128, i32::MAX as i128);
const U32: Shape = Number(0, u32::MAX as i128);
const I64: Shape = Number(i64::MIN as i128, i64::MAX as i128);
const U64: Shape = Number(0, u64::MAX as i128);
const TEXTS: Shape = List(&Text);

const SPEC: &[(&str, Shape)] = &[
    ("ociVersion", Text),
    ("process", Object(PROCESS)),
    ("root", Object(&[("path", Text), ("readonly", Bool)])),
    ("hostname", Text),
    ("domainname", Text),
    (
        "mounts",
        List(&Object(&[
            ("destination", Text),
            ("type", Text),
            ("source", Text),
            ("options", TEXTS),
            ("uidMappings", ID_MAPPINGS),
            ("gidMappings", ID_MAPPINGS),
        ])),
    ),
    (
        "hooks",
        Object(&[
            ("prestart", HOOKS),
            ("createRuntime", HOOKS),
            ("createContainer", HOOKS),
            ("startContainer", HOOKS),
            ("poststart", HOOKS),
            ("poststop", HOOKS),
        ]),
    ),
    ("annotations", Map(&Text)),
    ("linux", Object(LINUX)),
    ("solaris", Object(&[])),
    ("windows", Object(&[])),
    ("vm", Object(&[])),
    ("zos", Object(&[])),
    ("freebsd", Object(&[])),
];

const HOOKS: Shape =
    List(&Object(&[("path", Text), ("args", TEXTS), ("env", TEXTS), ("timeout", I64)]));

const ID_MAPPINGS: Shape = List(&Object(&[("containerID", U32), ("hostID", U32), ("size", U32)]));

const PROCESS: &[(&str, Shape)] = &[
    ("terminal", Bool),
    ("consoleSize", Object(&[("height", U64), ("width", U64)])),
    (
        "user",
        Object(&[
            ("uid", U32),
            ("gid", U32),
            ("umask", U32),
            ("additionalGids", List(&U32)),
            ("username", Text),
        ]),
    ),
    ("args", TEXTS),
    ("commandLine", Text),
    ("env", TEXTS),
    ("cwd", Text),
    (
        "capabilities",
        Object(&[
            ("bounding", TEXTS),
            ("effective", TEXTS),
            ("inheritable", TEXTS),
            ("permitted", TEXTS),
            ("ambient", TEXTS),
        ]),
    ),
    ("rlimits", List(&Object(&[("type", Text), ("hard", U64), ("soft", U64)]))),
    ("noNewPrivileges", Bool),
    ("apparmorProfile", Text),
    ("oomScoreAdj", I64),
    (
        "scheduler",
        Object(&[
            ("policy", Text),
            ("nice", I32),
            ("priority", I32),
            ("flags", TEXTS),
            ("runtime", U64),
            ("deadline", U64),
            ("period", U64),
        ]),
    ),
    ("selinuxLabel", Text),
    ("ioPriority", Object(&[("class", Text), ("priority", I64)])),
    ("execCPUAffinity", Object(&[("initial", Text), ("final", Text)])),
];

const LINUX: &[(&str, Shape)] = &[
    ("uidMappings", ID_MAPPINGS),
    ("gidMappings", ID_MAPPINGS),
    ("sysctl", Map(&Text)),
    ("resources", Object(RESOURCES)),
    ("cgroupsPath", Text),
    ("namespaces", List(&Object(&[("type", Text), ("path", Text)]))),
    (
        "devices",
        List(&Object(&[
            ("path", Text),
            ("type", Text),
            ("major", I64),
            ("minor", I64),
            ("fileMode", U32),
            ("uid", U32),
            ("gid", U32),
        ])),
    ),
    ("netDevices", Map(&Object(&[("name", Text)]))),
    (
        "seccomp",
        Object(&[
            ("defaultAction", Text),
            ("defaultErrnoRet", U64),
            ("architectures", TEXTS),
            ("flags", TEXTS),
            ("listenerPath", Text),
            ("listenerMetadata", Text),
            (
                "syscalls",
                List(&Object(&[
                    ("names", TEXTS),
                    ("action", Text),
                    ("errnoRet", U64),
                    (
                        "args",
                        List(&Object(&[
                            ("index", U64),
                            ("value", U64),
                            ("valueTwo", U64),
                            ("op", Text),
                        ])),
                    ),
                ])),
            ),
        ]),
    ),
    ("rootfsPropagation", Text),
    ("maskedPaths", TEXTS),
    ("readonlyPaths", TEXTS),
    ("mountLabel", Text),
    (
        "intelRdt",
        Object(&[
            ("closID", Text),
            ("schemata", TEXTS),
            ("l3CacheSchema", Text),
            ("memBwSchema", Text),
            ("enableMonitoring", Bool),
        ]),
    ),
    ("memoryPolicy", Object(&[("mode", Text), ("nodes", Text), ("flags", TEXTS)])),
    ("personality", Object(&[("domain", Text), ("flags", TEXTS)])),
    ("timeOffsets", Map(&Object(&[("secs", I64), ("nanosecs", U32)]))),
];

const RESOURCES: &[(&str, Shape)] = &[
    (
        "devices",
        List(&Object(&[
            ("allow", Bool),
            ("type", Text),
            ("major", I64),
            ("minor", I64),
            ("access", Text),
        ])),
    ),
    (
        "memory",
        Object(&[
            ("limit", I64),
            ("reservation", I64),
            ("swap", I64),
            ("kernel", I64),
            ("kernelTCP", I64),
            ("swappiness", U64),
            ("disableOOMKiller", Bool),
            ("useHierarchy", Bool),
            ("checkBeforeUpdate", Bool),
        ]),
    ),
    (
        "cpu",
        Object(&[
            ("shares", U64),
            ("quota", I64),
            ("burst", U64),
            ("period", U64),
            ("realtimeRuntime", I64),
            ("realtimePeriod", U64),
            ("cpus", Text),
            ("mems", Text),
            ("idle", I64),
        ]),
    ),
    ("pids", Object(&[("limit", I64)])),
    (
        "blockIO",
        Object(&[
            ("weight", U16),
            ("leafWeight", U16),
            (
                "weightDevice",
                List(&Object(&[
                    ("major", I64),
                    ("minor", I64),
                    ("weight", U16),
                    ("leafWeight", U16),
                ])),
            ),
            ("throttleReadBpsDevice", THROTTLES),
            ("throttleWriteBpsDevice", THROTTLES),
            ("throttleReadIOPSDevice", THROTTLES),
            ("throttleWriteIOPSDevice", THROTTLES),
        ]),
    ),
    ("hugepageLimits", List(&Object(&[("pageSize", Text), ("limit", U64)]))),
    (
        "network",
        Object(&[
            ("classID", U32),
            ("priorities", List(&Object(&[("name", Text), ("priority", U32)]))),
        ]),
    ),
    ("rdma", Map(&Object(&[("hcaHandles", U32), ("hcaObjects", U32)]))),
    ("unified", Map(&Text)),
];

const THROTTLES: Shape = List(&Object(&[("major", I64), ("minor", I64), ("rate", U64)]));
