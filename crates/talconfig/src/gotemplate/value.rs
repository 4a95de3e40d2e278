//! Values of templates.
//!
//! Go's templates are typed, and so are the values here: the type of a value decides which
//! operations are allowed and how errors name it.

mod url;

use std::collections::BTreeMap;

use talos_config::{Data, Value, yaml};

use super::fields::{Kind, Struct};

/// A value as Go's templates know it.
#[derive(Clone)]
pub(crate) enum GoValue<'a> {
    /// Nothing; with the name of the type that it could have pointed to, or none.
    Nil(&'static str),
    Bool(bool),
    /// A pointer to a boolean, which counts as true whenever it is there.
    Flag(bool),
    Int(i64),
    /// Go's `int64`, which is another type than its `int`.
    Long(i64),
    Float(f64),
    Text(String),
    /// A number that is printed as a word, with the name of its type.
    Named(&'static str, String),
    /// Seconds since 1970.
    Time(i64),
    /// Items, with the name of their type.
    List(&'static str, Vec<Self>),
    /// Entries, with the name of the type of their values.
    Map(&'static str, BTreeMap<String, Self>),
    /// Named fields, with the name of the type for errors.
    Record(&'static str, Vec<(&'static str, Self)>),
    Struct {
        ty: &'static Struct,
        fields: &'a BTreeMap<String, Value>,
        pointer: bool,
    },
    /// A URL: text that has fields.
    Url(String),
    /// A field of which no more is known than whether it is set.
    Opaque(bool),
}

impl GoValue<'_> {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Returns about how many bytes a copy takes; `None` for lists that are nested deeper than `depth`.
    pub(super) fn weight(&self, depth: usize) -> Option<usize> {
        let depth = depth.checked_sub(1)?;
        let inner = match self {
            Self::Text(text) | Self::Named(_, text) | Self::Url(text) => text.len(),
            Self::List(_, items) => {
                items.iter().try_fold(0, |sum, item| Some(item.weight(depth)? + sum))?
            }
            Self::Map(_, map) => map
                .iter()
                .try_fold(0, |sum, (key, item)| Some(item.weight(depth)? + key.len() + sum))?,
            Self::Record(_, fields) => {
                fields.iter().try_fold(0, |sum, (_, item)| Some(item.weight(depth)? + sum))?
            }
            Self::Nil(_)
            | Self::Bool(_)
            | Self::Flag(_)
            | Self::Int(_)
            | Self::Long(_)
            | Self::Float(_)
            | Self::Time(_)
            | Self::Struct { .. }
            | Self::Opaque(_) => 0,
        };
        Some(inner + size_of::<Self>())
    }

    /// Returns the value of a field, or an error.
    pub(super) fn field(&self, name: &str) -> Result<Self, String> {
        let missing = |ty: &str| Err(format!("can't evaluate field {name} in type {ty}"));
        match self {
            // A missing key of a map has no fields either, and Go does not report it.
            Self::Nil("") => Ok(Self::Nil("")),
            Self::Nil(ty) => Err(format!("nil pointer evaluating *{ty}.{name}")),
            Self::Map(_, map) => Ok(map.get(name).cloned().unwrap_or(Self::Nil(""))),
            Self::Record(ty, fields) => {
                let found = fields.iter().find(|(field, _)| *field == name);
                found.map_or_else(|| missing(ty), |(_, value)| Ok(value.clone()))
            }
            Self::Struct { ty, fields, .. } => {
                match ty.fields.iter().find(|(field, _, _)| *field == name) {
                    Some((_, key, kind)) => Ok(of(fields.get(*key), *kind)),
                    None => missing(&self.type_name()),
                }
            }
            Self::Url(url) => url::field(url, name),
            Self::Time(_) => Err(format!("{name}: {NO_METHODS}")),
            Self::Opaque(_) => Err(OPAQUE.to_owned()),
            other => missing(&other.type_name()),
        }
    }

    /// Returns the name of the type.
    pub(super) fn type_name(&self) -> String {
        let name = match self {
            Self::Nil("") => "nil",
            Self::Nil(ty) => return format!("*{ty}"),
            Self::Bool(_) => "bool",
            Self::Flag(_) => "*bool",
            Self::Int(_) => "int",
            Self::Long(_) => "int64",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
            Self::Time(_) => "time.Time",
            Self::List(of, _) => return format!("[]{of}"),
            Self::Map(of, _) => return format!("map[string]{of}"),
            Self::Named(ty, _) | Self::Record(ty, _) => *ty,
            Self::Struct { ty, pointer: true, .. } => return format!("*{}", ty.name),
            Self::Struct { ty, .. } => ty.name,
            Self::Url(_) => "*v1alpha1.Endpoint",
            Self::Opaque(_) => "unknown",
        };
        name.to_owned()
    }

    /// Returns the name of the type's kind.
    pub(super) fn kind_name(&self) -> &'static str {
        match self {
            Self::Nil("") => "invalid",
            Self::Nil(_) | Self::Flag(_) | Self::Url(_) | Self::Struct { pointer: true, .. } => {
                "ptr"
            }
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Named(..) => "int",
            Self::Long(_) => "int64",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
            Self::List(..) => "slice",
            Self::Map(..) => "map",
            Self::Time(_) | Self::Record(..) | Self::Struct { .. } => "struct",
            Self::Opaque(_) => "unknown",
        }
    }

    /// Returns true if `if` counts it as true, and `default` as set.
    pub(super) fn truth(&self) -> bool {
        match self {
            Self::Nil(_) => false,
            Self::Bool(value) => *value,
            Self::Int(number) | Self::Long(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            // Its number is zero.
            Self::Named(_, text) => text != UNKNOWN,
            Self::List(_, items) => !items.is_empty(),
            Self::Map(_, map) => !map.is_empty(),
            Self::Opaque(set) => *set,
            Self::Flag(_)
            | Self::Time(_)
            | Self::Record(..)
            | Self::Struct { .. }
            | Self::Url(_) => true,
        }
    }

    /// Returns the output of an action, which dereferences pointers.
    pub(super) fn written(&self) -> Result<String, String> {
        match self {
            Self::Nil("") => Ok("<no value>".to_owned()),
            Self::Flag(value) => Ok(value.to_string()),
            other => other.print(),
        }
    }

    /// Returns the output of functions that print, or an error if it is not defined.
    pub(super) fn print(&self) -> Result<String, String> {
        Ok(match self {
            Self::Nil(_) => "<nil>".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Int(number) | Self::Long(number) => number.to_string(),
            Self::Float(number) => yaml::float(*number),
            Self::Text(text) | Self::Url(text) | Self::Named(_, text) => text.clone(),
            Self::List(_, items) => {
                let items: Result<Vec<String>, String> = items.iter().map(Self::print).collect();
                format!("[{}]", items?.join(" "))
            }
            Self::Map(_, map) => {
                let entries = map
                    .iter()
                    .map(|(key, value)| value.print().map(|value| format!("{key}:{value}")));
                let entries: Result<Vec<String>, String> = entries.collect();
                format!("map[{}]", entries?.join(" "))
            }
            Self::Flag(_) => return Err(ADDRESS.to_owned()),
            Self::Time(_) => return Err(NO_TIME.to_owned()),
            Self::Opaque(_) => return Err(OPAQUE.to_owned()),
            Self::Record(..) | Self::Struct { .. } => {
                return Err(format!("a value of type {} has no text", self.type_name()));
            }
        })
    }
}

/// Returns a field of a kind, which may be unset.
fn of(value: Option<&Value>, kind: Kind) -> GoValue<'_> {
    static NONE: BTreeMap<String, Value> = BTreeMap::new();
    match (kind, value) {
        (Kind::Pointer(ty), None) => GoValue::Nil(ty.name),
        (Kind::Inner(ty), None) => GoValue::Struct { ty, fields: &NONE, pointer: false },
        (Kind::Pointer(ty), Some(value)) => {
            GoValue::Struct { ty, fields: value.as_map().unwrap_or(&NONE), pointer: true }
        }
        (Kind::Inner(ty), Some(value)) => {
            GoValue::Struct { ty, fields: value.as_map().unwrap_or(&NONE), pointer: false }
        }
        (Kind::Objects(ty), value) => {
            let items = value.and_then(Value::as_list).unwrap_or_default();
            let fields = items.iter().filter_map(Value::as_map);
            let objects = fields.map(|fields| GoValue::Struct { ty, fields, pointer: true });
            GoValue::List(ty.name, objects.collect())
        }
        (Kind::ObjectMap(ty), value) => {
            let entries = value.and_then(Value::as_map).into_iter().flatten();
            let entries = entries.filter_map(|(key, value)| {
                let fields = value.as_map()?;
                Some((key.clone(), GoValue::Struct { ty, fields, pointer: true }))
            });
            GoValue::Map(ty.name, entries.collect())
        }
        (Kind::Texts, value) => {
            let items = value.and_then(Value::as_list).unwrap_or_default();
            GoValue::List("string", items.iter().map(scalar).collect())
        }
        (Kind::TextMap, value) => {
            let entries = value.and_then(Value::as_map).into_iter().flatten();
            GoValue::Map(
                "string",
                entries.map(|(key, value)| (key.clone(), scalar(value))).collect(),
            )
        }
        (Kind::Url, Some(value)) => GoValue::Url(value.as_text().unwrap_or_default().to_owned()),
        (Kind::Url, None) => GoValue::Nil("v1alpha1.Endpoint"),
        (Kind::Flag, Some(Value { data: Data::Bool(value), .. })) => GoValue::Flag(*value),
        (Kind::Flag, _) => GoValue::Nil("bool"),
        (Kind::Role, value) => GoValue::Named("machine.Type", role(value)),
        (Kind::Free, value) => GoValue::Opaque(value.is_some_and(|value| scalar(value).truth())),
        (Kind::Text, None) => GoValue::Text(String::new()),
        (Kind::Bool, None) => GoValue::Bool(false),
        (Kind::Number, None) => GoValue::Int(0),
        (Kind::Text | Kind::Bool | Kind::Number, Some(value)) => scalar(value),
    }
}

/// Converts a scalar.
fn scalar(value: &Value) -> GoValue<'_> {
    match &value.data {
        Data::Null => GoValue::Nil(""),
        Data::Bool(value) => GoValue::Bool(*value),
        Data::Int(number) => i64::try_from(*number).map_or(GoValue::Opaque(true), GoValue::Int),
        Data::Float(number) => GoValue::Float(*number),
        Data::Text(text) => GoValue::Text(text.clone()),
        Data::List(items) => GoValue::Opaque(!items.is_empty()),
        Data::Map(entries) => GoValue::Opaque(!entries.is_empty()),
    }
}

/// Returns the machine's type, with older names replaced.
fn role(value: Option<&Value>) -> String {
    let name = match value.and_then(Value::as_text) {
        None | Some("" | "join" | "worker") => "worker",
        Some(name @ ("controlplane" | "init")) => name,
        Some(_) => UNKNOWN,
    };
    name.to_owned()
}

/// The name of the type that has all values.
pub(super) const ANY: &str = "interface {}";

/// The error of looking into a [`GoValue::Opaque`].
pub(super) const OPAQUE: &str = "of this field Ichor knows no more than whether it is set: use it in a condition, or write its value out";

const UNKNOWN: &str = "unknown";
const NO_METHODS: &str =
    "Ichor does not have the methods of a time: `now | date \"2006-01-02\"` writes it";
const NO_TIME: &str = "Go writes a time with its clock's readings, which Ichor does not: `now | date \"2006-01-02\"` writes the day";
const ADDRESS: &str = "Go would print the address of this boolean: print it by an action of its own, or ask for it with `if`";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn what_cannot_be_said_as_go_says_it_is_refused() {
        let at = |shown: &str, problem: &str| {
            format!("ERR 1:3: executing \"template\" at <{shown}>: {problem}")
        };
        let cases = [
            ("{{ now }}", at("{{now}}", NO_TIME)),
            ("{{ print now }}", at("print now", &format!("error calling print: {NO_TIME}"))),
            ("{{ now.Year }}", at("now", &format!("Year: {NO_METHODS}"))),
            (
                "{{ $.MachineConfig.MachineInstall.InstallWipe | print }}",
                format!(
                    "ERR 1:48: executing \"template\" at <print>: error calling print: {ADDRESS}"
                ),
            ),
            ("{{ . }}", at("{{.}}", "a value of type *v1alpha1.Config has no text")),
        ];
        for (template, expected) in &cases {
            check(&[(*template, expected.as_str())]);
        }
    }

    #[test]
    fn of_a_field_that_is_not_known_only_its_being_set_is_told() {
        let error = |place: &str, shown: &str| {
            format!("ERR {place}: executing \"template\" at <{shown}>: {OPAQUE}")
        };
        let cases = [
            ("{{ if .MachineConfig.MachinePods }}y{{ else }}n{{ end }}", "n".to_owned()),
            ("{{ default 1 .MachineConfig.MachinePods }}", "1".to_owned()),
            ("{{ if .MachineConfig.MachineBaseRuntimeSpecOverrides }}y{{ end }}", "y".to_owned()),
            ("{{ .MachineConfig.MachinePods }}", error("1:3", "{{.MachineConfig.MachinePods}}")),
            ("{{ .MachineConfig.MachinePods | len }}", error("1:32", "len")),
            (
                "{{ range .MachineConfig.MachinePods }}{{ end }}",
                error("1:23", ".MachineConfig.MachinePods"),
            ),
        ];
        for (template, expected) in &cases {
            check(&[(*template, expected.as_str())]);
        }
    }
}
