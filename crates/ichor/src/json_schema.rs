//! JSON Schemas of what commands print with `-o json`.
//!
//! In: the types that are printed. Out: a schema for each command, which `cargo xtask gen` writes to `docs/reference/schemas`.
//!
//! Always holds: a field that is added to a type is missing in its [`schema!`] and does not compile; the type of a property
//! is that of the field.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::table::{NodeRow, Rows};
use crate::timestamp::Timestamp;

/// A type with a JSON Schema.
pub(crate) trait JsonSchema {
    fn json_schema() -> Value;
}

/// What makes a schema.
pub(crate) type SchemaOf = fn() -> Value;

/// Schema of a struct: fields that are always there, then those that are left out where there is nothing to say, those whose
/// own fields stand in their place, and those that are not printed. Names are as they are written, or `camel`.
macro_rules! schema {
    (
        $type:ty, $case:ident { $($field:ident $(as $name:literal)?),* $(,)? }
        $(optional { $($optional:ident),* $(,)? })?
        $(flatten { $($flat:ident),* })?
        $(skip { $($skipped:ident),* })?
    ) => {
        impl $crate::json_schema::JsonSchema for $type {
            fn json_schema() -> serde_json::Value {
                use $crate::json_schema::Object;
                let _ = |all: &Self| {
                    let Self { $($field: _,)* $($($optional: _,)*)? $($($flat: _,)*)? $($($skipped: _,)*)? } = all;
                };
                let mut object = Object::default();
                $($(object.flatten(|all: &Self| &all.$flat);)*)?
                $(object.required($crate::json_schema::name_of!($case, $field $(, $name)?), |all: &Self| &all.$field);)*
                $($(object.optional($crate::json_schema::name_of!($case, $optional), |all: &Self| &all.$optional);)*)?
                object.into_schema()
            }
        }
    };
}

/// Name of a field in JSON.
macro_rules! name_of {
    ($case:ident, $field:ident, $name:literal) => {
        $name.to_owned()
    };
    (plain, $field:ident) => {
        stringify!($field).trim_start_matches("r#").to_owned()
    };
    (camel, $field:ident) => {
        $crate::json_schema::camel_case(stringify!($field).trim_start_matches("r#"))
    };
}

/// Schema of an enum without data: its words.
macro_rules! words {
    ($type:ty { $($variant:ident),* $(,)? }) => {
        impl $crate::json_schema::JsonSchema for $type {
            fn json_schema() -> serde_json::Value {
                let _ = |all: &Self| match all { $(Self::$variant => (),)* };
                let words = [$(serde_json::to_value(Self::$variant)),*];
                serde_json::json!({"enum": words.into_iter().flatten().collect::<Vec<_>>()})
            }
        }
    };
}

pub(crate) use {name_of, schema, words};

/// The properties of an object.
#[derive(Default)]
pub(crate) struct Object {
    properties: BTreeMap<String, Value>,
    required: Vec<String>,
}

impl Object {
    pub(crate) fn required<T, F: JsonSchema>(&mut self, name: String, _: fn(&T) -> &F) {
        self.properties.insert(name.clone(), F::json_schema());
        self.required.push(name);
    }

    pub(crate) fn optional<T, F: JsonSchema>(&mut self, name: String, _: fn(&T) -> &F) {
        self.properties.insert(name, F::json_schema());
    }

    pub(crate) fn flatten<T, F: JsonSchema>(&mut self, _: fn(&T) -> &F) {
        let mut schema = F::json_schema();
        if let Ok(properties) = serde_json::from_value(schema["properties"].take()) {
            let properties: BTreeMap<String, Value> = properties;
            self.properties.extend(properties);
        }
        let required: Vec<String> =
            serde_json::from_value(schema["required"].take()).unwrap_or_default();
        self.required.extend(required);
    }

    pub(crate) fn into_schema(self) -> Value {
        let Self { properties, required } = self;
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

/// The words of a name in the form that JSON has them in: `busPath`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |camel, word| {
        let mut letters = word.chars();
        let capital = letters.next().map(|letter| letter.to_ascii_uppercase());
        camel + &capital.into_iter().chain(letters).collect::<String>()
    })
}

impl<T: JsonSchema> JsonSchema for Option<T> {
    /// Unknown is null.
    fn json_schema() -> Value {
        let mut schema = T::json_schema();
        match schema["type"].as_str().map(str::to_owned) {
            Some(known) => {
                schema["type"] = json!([known, "null"]);
                schema
            }
            None => json!({"anyOf": [schema, {"type": "null"}]}),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Vec<T> {
    fn json_schema() -> Value {
        json!({"type": "array", "items": T::json_schema()})
    }
}

impl<T: JsonSchema> JsonSchema for BTreeMap<String, T> {
    fn json_schema() -> Value {
        json!({"type": "object", "additionalProperties": T::json_schema()})
    }
}

impl JsonSchema for Timestamp {
    fn json_schema() -> Value {
        json!({"type": "string", "format": "date-time"})
    }
}

impl<R: JsonSchema> JsonSchema for NodeRow<R> {
    fn json_schema() -> Value {
        let mut object = Object::default();
        object.required("node".to_owned(), |row: &Self| &row.node);
        object.flatten(|row: &Self| &row.what);
        object.into_schema()
    }
}

impl<R: JsonSchema> JsonSchema for Rows<R> {
    fn json_schema() -> Value {
        Vec::<NodeRow<R>>::json_schema()
    }
}

/// Schemas of values without parts.
macro_rules! plain {
    ($($type:ty => $schema:tt),* $(,)?) => {
        $(impl JsonSchema for $type {
            fn json_schema() -> Value {
                json!($schema)
            }
        })*
    };
}

plain! {
    bool => {"type": "boolean"},
    &str => {"type": "string"},
    String => {"type": "string"},
    f64 => {"type": "number"},
    i32 => {"type": "integer"},
    i64 => {"type": "integer"},
    u32 => {"type": "integer", "minimum": 0},
    u64 => {"type": "integer", "minimum": 0},
    usize => {"type": "integer", "minimum": 0},
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(dead_code, reason = "only its fields matter")]
    struct Row {
        bus_path: Option<&'static str>,
        count: u32,
        expires: Timestamp,
        note: String,
        hidden: (),
    }

    schema!(Row, camel { bus_path, count as "N", expires } optional { note } skip { hidden });

    #[test]
    fn a_schema_has_the_fields_of_its_type() {
        let expected = json!({
            "type": "object",
            "properties": {
                "N": {"type": "integer", "minimum": 0},
                "busPath": {"type": ["string", "null"]},
                "expires": {"type": "string", "format": "date-time"},
                "node": {"type": "string"},
                "note": {"type": "string"},
            },
            "required": ["node", "busPath", "N", "expires"],
            "additionalProperties": false,
        });
        assert_eq!(Rows::<Row>::json_schema(), json!({"type": "array", "items": expected}));
    }
}
