//! JSON Schema, as far as the schemas of this workspace go: a keyword that is not known is a problem.

use serde_json::Value;

/// Returns what is wrong with data by its schema, each behind its path.
pub fn problems(schema: &Value, data: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    check(schema, data, "$", &mut problems);
    problems
}

fn check(schema: &Value, data: &Value, path: &str, problems: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        problems.push(format!("{path}: the schema is not an object: {schema}"));
        return;
    };
    for (keyword, rule) in keywords {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" => true,
            "type" => types(rule).any(|name| is_of(name, data)),
            "enum" => rule.as_array().is_some_and(|words| words.contains(data)),
            "const" => rule == data,
            "minimum" => data.as_u64().is_some() || !data.is_number(),
            "format" => rule == "date-time" && data.as_str().is_none_or(is_time),
            "anyOf" => {
                let mut ways = rule.as_array().into_iter().flatten();
                ways.any(|way| self::problems(way, data).is_empty())
            }
            "required" => {
                let mut names = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
                names.all(|name| data.as_object().is_none_or(|data| data.contains_key(name)))
            }
            "items" => {
                for (index, item) in data.as_array().into_iter().flatten().enumerate() {
                    check(rule, item, &format!("{path}[{index}]"), problems);
                }
                true
            }
            "properties" => {
                for (name, schema) in rule.as_object().into_iter().flatten() {
                    if let Some(value) = data.get(name) {
                        check(schema, value, &format!("{path}.{name}"), problems);
                    }
                }
                true
            }
            "additionalProperties" => {
                for (name, value) in data.as_object().into_iter().flatten() {
                    let is_known =
                        keywords.get("properties").is_some_and(|known| known.get(name).is_some());
                    match rule {
                        _ if is_known => {}
                        Value::Bool(true) => {}
                        Value::Bool(false) => problems.push(format!("{path}: {name} is unknown")),
                        schema => check(schema, value, &format!("{path}.{name}"), problems),
                    }
                }
                true
            }
            _ => false,
        };
        if !holds {
            problems.push(format!("{path}: {keyword} {rule} does not hold for {data}"));
        }
    }
}

fn types(rule: &Value) -> impl Iterator<Item = &str> {
    let several = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
    rule.as_str().into_iter().chain(several)
}

fn is_of(name: &str, data: &Value) -> bool {
    match name {
        "null" => data.is_null(),
        "boolean" => data.is_boolean(),
        "integer" => data.is_i64() || data.is_u64(),
        "number" => data.is_number(),
        "string" => data.is_string(),
        "array" => data.is_array(),
        "object" => data.is_object(),
        _ => false,
    }
}

/// Returns whether a text is a time as RFC 3339 writes it in UTC.
fn is_time(text: &str) -> bool {
    let shape = text.bytes().enumerate().all(|(index, byte)| match index {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        0..19 => byte.is_ascii_digit(),
        19 => matches!(byte, b'.' | b'Z'),
        _ => byte.is_ascii_digit() || byte == b'Z',
    });
    shape && text.len() >= 20 && text.ends_with('Z')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_that_does_not_fit_is_found_with_its_path() {
        let schema = json!({
            "type": "object",
            "properties": {
                "at": {"type": "string", "format": "date-time"},
                "rows": {"type": "array", "items": {"enum": ["a", "b"]}},
                "count": {"type": ["integer", "null"], "minimum": 0},
            },
            "required": ["at"],
            "additionalProperties": false,
        });
        for (data, wrong) in [
            (json!({"at": "2026-01-02T03:04:05Z"}), vec![]),
            (json!({"at": "2026-01-02T03:04:05.123Z", "rows": ["a"], "count": null}), vec![]),
            (json!([]), vec!["$: type"]),
            (json!({}), vec!["$: required"]),
            (json!({"at": 1_794_857_784}), vec!["$.at: type"]),
            (json!({"at": "yesterday"}), vec!["$.at: format"]),
            (json!({"at": "2026-01-02T03:04:05Z", "rows": ["a", "c"]}), vec!["$.rows[1]: enum"]),
            (json!({"at": "2026-01-02T03:04:05Z", "count": -1}), vec!["$.count: minimum"]),
            (json!({"at": "2026-01-02T03:04:05Z", "more": 1}), vec!["$: more is unknown"]),
        ] {
            let found = problems(&schema, &data);
            assert_eq!(found.len(), wrong.len(), "{data}: {found:?}");
            for (found, wrong) in found.iter().zip(wrong) {
                assert!(found.starts_with(wrong), "{found}");
            }
        }
        assert_eq!(problems(&json!({"pattern": "a"}), &json!("a")).len(), 1);
    }
}
