//! Go's own functions, but for `and` and `or`, which do not look at all of their arguments.

use super::{Arguments, compare, format};
use crate::gotemplate::value::{ANY, GoValue};

pub(super) fn call<'d>(
    name: &str,
    arguments: &Arguments<'_, 'd>,
) -> Result<Option<GoValue<'d>>, String> {
    let values = arguments.0;
    let ordered = || compare::order(&arguments.value(0), &arguments.value(1));
    Ok(Some(match name {
        "not" => GoValue::Bool(!arguments.value(0).truth()),
        "eq" => GoValue::Bool(compare::equals_one(values)?),
        "ne" => GoValue::Bool(!compare::equals_one(values)?),
        "lt" => GoValue::Bool(ordered()?.is_lt()),
        "le" => GoValue::Bool(ordered()?.is_le()),
        "gt" => GoValue::Bool(ordered()?.is_gt()),
        "ge" => GoValue::Bool(ordered()?.is_ge()),
        "len" => GoValue::Int(length(&arguments.value(0))?),
        "index" => indexed(values)?,
        "print" => GoValue::Text(format::joined(values)?),
        "println" => GoValue::Text(format::line(values)?),
        "printf" => {
            let rest = values.get(1..).unwrap_or_default();
            GoValue::Text(format::formatted(arguments.text(0), rest)?)
        }
        "html" => GoValue::Text(html(values)?),
        _ => return Ok(None),
    }))
}

fn length(value: &GoValue<'_>) -> Result<i64, String> {
    let length = match value {
        GoValue::Text(text) => text.len(),
        GoValue::List(_, items) => items.len(),
        GoValue::Map(_, map) => map.len(),
        GoValue::Nil("") => {
            return Err("reflect: call of reflect.Value.Type on zero Value".to_owned());
        }
        GoValue::Nil(_) => return Err("len of nil pointer".to_owned()),
        other => return Err(format!("len of type {}", behind(other))),
    };
    Ok(i64::try_from(length).unwrap_or(i64::MAX))
}

fn indexed<'d>(values: &[GoValue<'d>]) -> Result<GoValue<'d>, String> {
    match values.split_first() {
        None | Some((GoValue::Nil(""), _)) => Err("index of untyped nil".to_owned()),
        Some((item, keys)) => keys.iter().try_fold(item.clone(), |item, key| at(&item, key)),
    }
}

fn at<'d>(item: &GoValue<'d>, key: &GoValue<'_>) -> Result<GoValue<'d>, String> {
    match (item, key) {
        (GoValue::Nil(_), _) => Err("index of nil pointer".to_owned()),
        (GoValue::List(_, items), GoValue::Int(index) | GoValue::Long(index)) => {
            let place = usize::try_from(*index).ok().filter(|place| *place <= items.len());
            let place = place.ok_or_else(|| format!("index out of range: {index}"))?;
            // An index one past the end is an error only later in Go.
            let found = items.get(place).cloned();
            found.ok_or_else(|| "reflect: slice index out of range".to_owned())
        }
        (GoValue::Text(_), GoValue::Int(_) | GoValue::Long(_)) => {
            Err("Ichor does not have the bytes of a text".to_owned())
        }
        (GoValue::List(..) | GoValue::Text(_), GoValue::Nil("")) => {
            Err("cannot index slice/array with nil".to_owned())
        }
        (GoValue::List(..) | GoValue::Text(_), key) => {
            Err(format!("cannot index slice/array with type {}", key.type_name()))
        }
        (GoValue::Map(of, map), GoValue::Text(key)) => {
            Ok(map.get(key).cloned().unwrap_or_else(|| zero(of)))
        }
        (GoValue::Map(..), GoValue::Nil("")) => {
            Err("value is nil; should be of type string".to_owned())
        }
        (GoValue::Map(..), key) => {
            Err(format!("value has type {}; should be string", key.type_name()))
        }
        (other, _) => Err(format!("can't index item of type {}", behind(other))),
    }
}

/// Returns the zero value of a type.
fn zero<'d>(of: &'static str) -> GoValue<'d> {
    match of {
        "string" => GoValue::text(""),
        ANY => GoValue::Nil(""),
        pointed => GoValue::Nil(pointed),
    }
}

/// Returns the name of a value's type, dereferenced.
fn behind(value: &GoValue<'_>) -> String {
    value.type_name().trim_start_matches('*').to_owned()
}

fn html(values: &[GoValue<'_>]) -> Result<String, String> {
    // It sees what an action would write.
    let values = values.iter().map(|value| match value {
        GoValue::Nil("") => GoValue::text("<no value>"),
        GoValue::Flag(value) => GoValue::Bool(*value),
        other => other.clone(),
    });
    let text = format::joined(&values.collect::<Vec<_>>())?;
    let mut output = String::new();
    for character in text.chars() {
        match character {
            '&' => output.push_str("&amp;"),
            '<' => output.push_str("&lt;"),
            '>' => output.push_str("&gt;"),
            '"' => output.push_str("&#34;"),
            '\'' => output.push_str("&#39;"),
            '\0' => output.push('\u{fffd}'),
            _ => output.push(character),
        }
    }
    Ok(output)
}
