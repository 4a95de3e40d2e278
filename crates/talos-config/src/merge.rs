//! Strategic merge: a partial document laid over another, field by field, by the rules of each type.
//!
//! Two rules surprise, and are kept because Talos has them: a zero value does not override a field that
//! cannot tell zero from unset, and byte sizes and expressions are *reset* by a patch that leaves them
//! out but touches their document.

use std::collections::BTreeMap;

use crate::format::url::Url;
use crate::schema::{self, ARGUMENT_LISTS, Field, Format, Match, Type};
use crate::value::{Data, Value};
use crate::yaml::Dialect;

type Object = BTreeMap<String, Value>;

/// Lays `right` over `left`. The error says which field cannot be merged and why.
pub(crate) fn object(
    left: &mut Object,
    mut right: Object,
    fields: &'static [Field],
    dialect: Dialect,
) -> Result<(), String> {
    for field in schema::flat(fields) {
        let given = right.remove(field.key);
        merge_field(left, given, field, dialect)
            .map_err(|reason| format!("merge field {}: {reason}", field.key))?;
    }
    Ok(())
}

fn merge_field(
    left: &mut Object,
    given: Option<Value>,
    field: &Field,
    dialect: Dialect,
) -> Result<(), String> {
    match (left.get_mut(field.key), given) {
        (None, None) => {}
        (None, Some(right)) => {
            left.insert(field.key.to_owned(), right);
        }
        (Some(_), None) if field.optional => {}
        (Some(present), None) => match (&mut present.data, field.ty) {
            (Data::Map(present), Type::Object(fields) | Type::Encryption(fields)) => {
                object(present, Object::new(), fields, dialect)?;
            }
            _ if field.ty.resets() => {
                left.remove(field.key);
            }
            _ => {}
        },
        (Some(present), Some(right)) => {
            value(present, right, field.ty, field.is_replaced(dialect), dialect)?;
        }
    }
    Ok(())
}

/// Lays a value over one that is there.
fn value(
    left: &mut Value,
    right: Value,
    ty: Type,
    replace: bool,
    dialect: Dialect,
) -> Result<(), String> {
    match (ty, &mut left.data, right.data) {
        (Type::Format(Format::Url), Data::Text(present), Data::Text(given)) => {
            let merged = url(present, &given)?;
            if merged != *present {
                *present = merged;
                left.origin = right.origin;
            }
        }
        (Type::Format(Format::SizeMatch), Data::Text(present), _) => {
            return Err(format!("merge not possible, left {present} is not settable"));
        }
        (Type::Format(Format::Size), Data::Text(present), Data::Text(given))
            if dialect == Dialect::V1_12 && given.ends_with('%') && present.ends_with('%') =>
        {
            return Err(format!("merge not possible, left {present} is not settable"));
        }
        // An amount and a share are kept side by side, and the amount wins.
        (Type::Format(Format::Size), Data::Text(present), Data::Text(given))
            if given.ends_with('%') && !present.ends_with('%') => {}
        (Type::Any, Data::Map(_), Data::Map(given)) if replace && given.is_empty() => {}
        (
            Type::List(_) | Type::StrictList(_) | Type::KeyedList(..),
            Data::List(present),
            Data::List(given),
        ) if !replace => match ty {
            Type::KeyedList(Type::Object(fields), by, _) => {
                keyed(present, given, fields, by, dialect)?;
            }
            _ => present.extend(given),
        },
        (Type::Map(element), Data::Map(present), Data::Map(given)) => {
            for (key, right) in given {
                match present.get_mut(&key) {
                    None => {
                        present.insert(key, right);
                    }
                    // An empty text does not override, here as elsewhere.
                    Some(_) if right.as_text() == Some("") => {}
                    Some(left) => {
                        value(left, right, *element, false, dialect)
                            .map_err(|reason| format!("merge map key {key}: {reason}"))?;
                    }
                }
            }
        }
        (Type::Arguments, Data::Map(present), Data::Map(given)) => {
            // Null was an empty text before lists, and an empty text does not override.
            let overrides = |key: &String, right: &Value| {
                dialect >= ARGUMENT_LISTS || right.data != Data::Null || !present.contains_key(key)
            };
            let given: Vec<_> =
                given.into_iter().filter(|(key, right)| overrides(key, right)).collect();
            present.extend(given);
        }
        (Type::Any, Data::Map(present), Data::Map(given)) if !replace => any_map(present, given)?,
        (Type::Object(fields) | Type::Encryption(fields), Data::Map(present), Data::Map(given)) => {
            object(present, given, fields, dialect)?;
        }
        (_, _, data) => *left = Value { data, origin: right.origin },
    }
    Ok(())
}

/// Elements that are told apart by a key are merged one by one; new ones are appended.
fn keyed(
    left: &mut Vec<Value>,
    right: Vec<Value>,
    fields: &'static [Field],
    by: Match,
    dialect: Dialect,
) -> Result<(), String> {
    for element in right {
        let found = left.iter().position(|present| same_element(present, &element, by));
        match (found, by) {
            (None, _) => left.push(element),
            (Some(index), Match::Replace(_)) => left[index] = element,
            (Some(index), _) => {
                if let (Data::Map(present), Data::Map(given)) =
                    (&mut left[index].data, element.data)
                {
                    object(present, given, fields, dialect)?;
                }
            }
        }
    }
    Ok(())
}

fn same_element(left: &Value, right: &Value, by: Match) -> bool {
    match by {
        Match::Merge(key) | Match::Replace(key) => left.get(key) == right.get(key),
        Match::Interface => match right.get("interface") {
            Some(name) => left.get("interface") == Some(name),
            None => right.get("deviceSelector").is_some_and(|selector| {
                // Talos compares pointers here, so a selector with this key equals none, itself included.
                selector.get("physical").is_none() && left.get("deviceSelector") == Some(selector)
            }),
        },
    }
}

fn any_map(left: &mut Object, right: Object) -> Result<(), String> {
    for (key, given) in right {
        match left.get_mut(&key) {
            None => {
                left.insert(key, given);
            }
            Some(present) => {
                any(present, given).map_err(|reason| format!("merge map key {key}: {reason}"))?;
            }
        }
    }
    Ok(())
}

fn any(left: &mut Value, right: Value) -> Result<(), String> {
    let mismatch = (go_type(&left.data), go_type(&right.data));
    match (&mut left.data, right.data) {
        (Data::Null, data) => *left = Value { data, origin: right.origin },
        (Data::Map(present), Data::Map(given)) => any_map(present, given)?,
        (Data::List(present), Data::List(given)) => present.extend(given),
        (_, Data::Null) => return Err("null cannot override a value".to_owned()),
        (_, data) if mismatch.0 == mismatch.1 => {
            let zero = match &data {
                Data::Int(number) => *number == 0,
                Data::Float(number) => *number == 0.0,
                Data::Text(text) => text.is_empty(),
                _ => false,
            };
            if !zero {
                *left = Value { data, origin: right.origin };
            }
        }
        _ => return Err(format!("merge type mismatch left {} right {}", mismatch.0, mismatch.1)),
    }
    Ok(())
}

/// Returns the name of a type as users know it from the messages of talosctl.
fn go_type(data: &Data) -> &'static str {
    match data {
        Data::Null => "<nil>",
        Data::Bool(_) => "bool",
        Data::Int(number) if i64::try_from(*number).is_ok() => "int",
        Data::Int(_) => "uint64",
        Data::Float(_) => "float64",
        Data::Text(_) => "string",
        Data::List(_) => "[]interface {}",
        Data::Map(_) => "map[string]interface {}",
    }
}

/// URLs are merged part by part: what the patch leaves empty stays.
fn url(left: &str, right: &str) -> Result<String, String> {
    let (Ok(mut url), Ok(given)) = (Url::parse(left), Url::parse(right)) else {
        return Ok(right.to_owned());
    };
    if url.user.is_some() && given.user.is_some() {
        return Err("merge field url.Userinfo.username: merge not possible, left is not settable"
            .to_owned());
    }
    let take = |left: &mut String, right: String| {
        if !right.is_empty() {
            *left = right;
        }
    };
    take(&mut url.scheme, given.scheme);
    take(&mut url.opaque, given.opaque);
    take(&mut url.host, given.host);
    take(&mut url.path, given.path);
    take(&mut url.query, given.query);
    take(&mut url.fragment, given.fragment);
    url.user = url.user.or(given.user);
    url.force_query = given.force_query;
    url.omit_host = given.omit_host;
    Ok(url.to_string())
}
