//! The JSON Schema of the native file, from the table that reads it.

use serde_json::{Map, Value, json};

use super::file::FILE;
use super::table::{Key, Literal, Need, Type};

/// The schema as text, for editors.
pub fn json_schema() -> String {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ichor.yaml",
        "description": "A Kubernetes cluster on Talos Linux",
    });
    if let (Some(schema), Value::Object(object)) = (schema.as_object_mut(), object(FILE)) {
        schema.extend(object);
    }
    // Writing a value that was just made cannot fail.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

fn object(keys: &'static [Key]) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> =
        keys.iter().filter(|key| matches!(key.need, Need::Required)).map(|key| key.name).collect();
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    for key in keys {
        if let Need::RequiredWithout(other) = key.need {
            schema["anyOf"] = json!([{"required": [key.name]}, {"required": [other]}]);
        }
    }
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = of_type(key.ty);
    let default = match &key.need {
        Need::Default(literal) => Some(value(literal, key.ty)),
        Need::Required | Need::RequiredWithout(_) | Need::Derived(_) => None,
    };
    let about = match &key.need {
        Need::Derived(what) => format!("{}. Default: {what}.", key.about),
        Need::Required | Need::RequiredWithout(_) | Need::Default(_) => key.about.to_owned(),
    };
    schema["description"] = json!(about);
    if let Some(default) = default {
        schema["default"] = default;
    }
    schema
}

fn of_type(ty: Type) -> Value {
    match ty {
        Type::Boolean => json!({"type": "boolean"}),
        Type::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Type::Choice(words) => json!({"enum": words}),
        Type::Text(format) => json!({"type": "string", "pattern": format.pattern}),
        Type::List(element) => json!({"type": "array", "items": of_type(*element)}),
        Type::Object(keys) => object(keys),
    }
}

fn value(literal: &Literal, ty: Type) -> Value {
    match (literal, ty) {
        (Literal::Text(text), _) => json!(text),
        (Literal::Integer(number), _) => json!(number),
        (Literal::Boolean(set), _) => json!(set),
        (Literal::Texts(texts), _) => json!(texts),
        (Literal::Object, _) => json!({}),
    }
}
