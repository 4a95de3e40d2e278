//! The JSON schema of a talconfig, from the same tables that it is read by.

use serde_json::{Map, Value, json};

use crate::door::schema::{Key, Object, TALCONFIG, Type};

/// Returns the schema, for editors.
pub fn json_schema() -> Value {
    let mut schema = object(&TALCONFIG);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("talconfig.yaml");
    schema
}

fn object(object: &Object) -> Value {
    let mut properties = Map::new();
    for key in object.keys() {
        properties.insert(key.name.to_owned(), property(key));
    }
    let required: Vec<&str> =
        object.keys().filter(|key| key.required).map(|key| key.name).collect();
    let mut schema =
        json!({ "type": "object", "additionalProperties": false, "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = of_type(key.ty);
    if !key.about.is_empty() {
        schema["description"] = json!(key.about);
    }
    schema
}

fn of_type(ty: Type) -> Value {
    match ty {
        Type::Text
        | Type::Duration
        | Type::DiskSize
        | Type::SizeMatch
        | Type::Size { .. }
        | Type::Prefix => json!({ "type": "string" }),
        Type::Bool | Type::Flag => json!({ "type": "boolean" }),
        Type::Int { .. } => json!({ "type": "integer" }),
        Type::Word { words, .. } => json!({ "type": "string", "enum": words }),
        Type::Ports => json!({ "type": ["integer", "string"] }),
        Type::Any => json!({ "type": "object" }),
        Type::TextMap => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Type::List { item, .. } => json!({ "type": "array", "items": of_type(*item) }),
        Type::Objects { item, .. } => json!({ "type": "array", "items": object(item) }),
        Type::Part(inner) | Type::Whole(inner) => object(inner),
    }
}
