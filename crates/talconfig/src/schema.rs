//! The JSON schema of a talconfig, from the same tables that it is read by.

use serde_json::{Map, Value, json};

use crate::shape::{Key, Object, Shape, TALCONFIG};

/// The schema, for editors that check while one types.
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
    let mut schema = of_shape(key.shape);
    if !key.about.is_empty() {
        schema["description"] = json!(key.about);
    }
    schema
}

fn of_shape(shape: Shape) -> Value {
    match shape {
        Shape::Text
        | Shape::Duration
        | Shape::DiskSize
        | Shape::SizeMatch
        | Shape::Size { .. }
        | Shape::Prefix => json!({ "type": "string" }),
        Shape::Bool | Shape::Flag => json!({ "type": "boolean" }),
        Shape::Int { .. } => json!({ "type": "integer" }),
        Shape::Word { words, .. } => json!({ "type": "string", "enum": words }),
        Shape::Ports => json!({ "type": ["integer", "string"] }),
        Shape::Any => json!({ "type": "object" }),
        Shape::TextMap => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Shape::List { item, .. } => json!({ "type": "array", "items": of_shape(*item) }),
        Shape::Objects { item, .. } => json!({ "type": "array", "items": object(item) }),
        Shape::Part(inner) | Shape::Whole(inner) => object(inner),
    }
}
