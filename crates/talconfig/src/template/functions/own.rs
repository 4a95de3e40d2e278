//! Go's own functions, but for `and` and `or`, which do not look at all of their arguments.

use super::{Arguments, compare, format};
use crate::template::value::{ANY, Go};

pub(super) fn call<'d>(
    name: &str,
    arguments: &Arguments<'_, 'd>,
) -> Result<Option<Go<'d>>, String> {
    let values = arguments.0;
    let ordered = || compare::order(&arguments.value(0), &arguments.value(1));
    Ok(Some(match name {
        "not" => Go::Bool(!arguments.value(0).truth()),
        "eq" => Go::Bool(compare::equals_one(values)?),
        "ne" => Go::Bool(!compare::equals_one(values)?),
        "lt" => Go::Bool(ordered()?.is_lt()),
        "le" => Go::Bool(ordered()?.is_le()),
        "gt" => Go::Bool(ordered()?.is_gt()),
        "ge" => Go::Bool(ordered()?.is_ge()),
        "len" => Go::Int(length(&arguments.value(0))?),
        "index" => indexed(values)?,
        "print" => Go::Text(format::joined(values)?),
        "println" => Go::Text(format::line(values)?),
        "printf" => {
            let rest = values.get(1..).unwrap_or_default();
            Go::Text(format::formatted(arguments.text(0), rest)?)
        }
        "html" => Go::Text(html(values)?),
        _ => return Ok(None),
    }))
}

fn length(value: &Go<'_>) -> Result<i64, String> {
    let length = match value {
        Go::Text(text) => text.len(),
        Go::List(_, items) => items.len(),
        Go::Map(_, map) => map.len(),
        Go::Nil("") => return Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
        Go::Nil(_) => return Err("len of nil pointer".to_owned()),
        other => return Err(format!("len of type {}", behind(other))),
    };
    Ok(i64::try_from(length).unwrap_or(i64::MAX))
}

fn indexed<'d>(values: &[Go<'d>]) -> Result<Go<'d>, String> {
    match values.split_first() {
        None | Some((Go::Nil(""), _)) => Err("index of untyped nil".to_owned()),
        Some((item, keys)) => keys.iter().try_fold(item.clone(), |item, key| at(&item, key)),
    }
}

fn at<'d>(item: &Go<'d>, key: &Go<'_>) -> Result<Go<'d>, String> {
    match (item, key) {
        (Go::Nil(_), _) => Err("index of nil pointer".to_owned()),
        (Go::List(_, items), Go::Int(index) | Go::Long(index)) => {
            let place = usize::try_from(*index).ok().filter(|place| *place <= items.len());
            let place = place.ok_or_else(|| format!("index out of range: {index}"))?;
            // Go finds out later that there is nothing right behind the last one.
            let found = items.get(place).cloned();
            found.ok_or_else(|| "reflect: slice index out of range".to_owned())
        }
        (Go::Text(_), Go::Int(_) | Go::Long(_)) => {
            Err("Ichor does not have the bytes of a text".to_owned())
        }
        (Go::List(..) | Go::Text(_), Go::Nil("")) => {
            Err("cannot index slice/array with nil".to_owned())
        }
        (Go::List(..) | Go::Text(_), key) => {
            Err(format!("cannot index slice/array with type {}", key.type_name()))
        }
        (Go::Map(of, map), Go::Text(key)) => Ok(map.get(key).cloned().unwrap_or_else(|| zero(of))),
        (Go::Map(..), Go::Nil("")) => Err("value is nil; should be of type string".to_owned()),
        (Go::Map(..), key) => Err(format!("value has type {}; should be string", key.type_name())),
        (other, _) => Err(format!("can't index item of type {}", behind(other))),
    }
}

/// What is not there, of the type of what could be.
fn zero<'d>(of: &'static str) -> Go<'d> {
    match of {
        "string" => Go::text(""),
        ANY => Go::Nil(""),
        pointed => Go::Nil(pointed),
    }
}

/// The name of a type, or of the one that it points to.
fn behind(value: &Go<'_>) -> String {
    value.type_name().trim_start_matches('*').to_owned()
}

fn html(values: &[Go<'_>]) -> Result<String, String> {
    // It sees what an action would write.
    let values = values.iter().map(|value| match value {
        Go::Nil("") => Go::text("<no value>"),
        Go::Flag(value) => Go::Bool(*value),
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
