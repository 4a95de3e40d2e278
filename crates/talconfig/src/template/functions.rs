//! The functions that templates may call: Go's own, and those of the library that talhelper adds.

use std::cmp::Ordering;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex_lite::Regex;

use super::Surroundings;
use super::value::Go;

/// Whether there is a function of a name.
pub(super) fn exists(name: &str, sprig: bool) -> bool {
    OWN.contains(&name) || (sprig && SPRIG.contains(&name))
}

/// Calls a function.
pub(super) fn call<'d>(
    name: &str,
    arguments: &[Go<'d>],
    surroundings: &Surroundings<'_>,
) -> Result<Go<'d>, String> {
    let count = arguments.len();
    let least = match name {
        "and" | "or" | "not" | "len" | "upper" | "lower" | "quote" | "first" | "last" | "index"
        | "get" | "keys" | "hasKey" | "has" => 1,
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "contains" | "splitList" | "join" | "default"
        | "trimPrefix" | "trimSuffix" | "hasPrefix" | "hasSuffix" | "trunc" | "date" => 2,
        "replace" | "regexReplaceAll" | "ternary" => 3,
        _ => 0,
    };
    if count < least {
        return Err(format!("wrong number of args for {name}: want at least {least} got {count}"));
    }
    let arguments = Arguments(arguments);
    if OWN.contains(&name) {
        return own(name, &arguments);
    }
    texts(name, &arguments)
        .or_else(|| lists(name, &arguments))
        .or_else(|| numbers(name, &arguments))
        .unwrap_or_else(|| others(name, &arguments, surroundings))
}

/// What a function is given; what is left out is empty.
struct Arguments<'a, 'd>(&'a [Go<'d>]);

impl<'d> Arguments<'_, 'd> {
    fn text(&self, index: usize) -> String {
        self.0.get(index).map(shown).unwrap_or_default()
    }

    fn number(&self, index: usize) -> i64 {
        self.0.get(index).map_or(0, whole)
    }

    fn value(&self, index: usize) -> Go<'d> {
        self.0.get(index).cloned().unwrap_or(Go::Nil(""))
    }

    fn last(&self) -> Go<'d> {
        self.0.last().cloned().unwrap_or(Go::Nil(""))
    }

    fn joined(&self, separator: &str) -> String {
        self.0.iter().map(shown).collect::<Vec<_>>().join(separator)
    }
}

/// Go's own functions.
fn own<'d>(name: &str, arguments: &Arguments<'_, 'd>) -> Result<Go<'d>, String> {
    let values = arguments.0;
    let ordered = || compare(&arguments.value(0), &arguments.value(1));
    Ok(match name {
        "and" => values.iter().find(|value| !value.truth()).cloned().unwrap_or(arguments.last()),
        "or" => values.iter().find(|value| value.truth()).cloned().unwrap_or(arguments.last()),
        "not" => Go::Bool(!values[0].truth()),
        "eq" => Go::Bool(values[1..].iter().any(|other| equal(&values[0], other))),
        "ne" => Go::Bool(!equal(&values[0], &values[1])),
        "lt" => Go::Bool(ordered()?.is_lt()),
        "le" => Go::Bool(ordered()?.is_le()),
        "gt" => Go::Bool(ordered()?.is_gt()),
        "ge" => Go::Bool(ordered()?.is_ge()),
        "len" => Go::Int(match &values[0] {
            Go::Text(text) => size(text.len()),
            Go::List(items) => size(items.len()),
            Go::Map(map) => size(map.len()),
            other => return Err(format!("len of type {}", other.type_name())),
        }),
        "index" => values[1..].iter().try_fold(values[0].clone(), |value, key| at(&value, key))?,
        "print" => Go::Text(arguments.joined("")),
        "println" => Go::Text(arguments.joined(" ") + "\n"),
        "printf" => Go::Text(format(&arguments.text(0), values.get(1..).unwrap_or_default())?),
        "html" => Go::Text(escape_html(&arguments.text(0))),
        _ => return Err("it is not supported".to_owned()),
    })
}

/// Functions that make text of text.
fn texts<'d>(name: &str, arguments: &Arguments<'_, 'd>) -> Option<Result<Go<'d>, String>> {
    let (first, second) = (arguments.text(0), arguments.text(1));
    let quoted = |quote: fn(&str) -> String| {
        let values = arguments.0.iter().filter(|value| !matches!(value, Go::Nil(_)));
        values.map(|value| quote(&shown(value))).collect::<Vec<_>>().join(" ")
    };
    Some(Ok(match name {
        "upper" => Go::Text(first.to_uppercase()),
        "lower" => Go::Text(first.to_lowercase()),
        "title" => Go::Text(title(&first)),
        "trim" => Go::text(first.trim()),
        "trimAll" => Go::text(second.trim_matches(|c| first.contains(c))),
        "trimPrefix" => Go::text(second.strip_prefix(&*first).unwrap_or(&second)),
        "trimSuffix" => Go::text(second.strip_suffix(&*first).unwrap_or(&second)),
        "trunc" => Go::Text(truncated(&second, arguments.number(0))),
        "contains" => Go::Bool(second.contains(&*first)),
        "hasPrefix" => Go::Bool(second.starts_with(&*first)),
        "hasSuffix" => Go::Bool(second.ends_with(&*first)),
        "replace" => Go::Text(arguments.text(2).replace(&*first, &second)),
        "repeat" => {
            let count = usize::try_from(arguments.number(0)).unwrap_or(0);
            Go::Text(second.repeat(count.min(LONGEST)))
        }
        "nospace" => Go::Text(first.split_whitespace().collect()),
        "quote" => Go::Text(quoted(talos_config::rules::quoted)),
        "squote" => Go::Text(quoted(|text| format!("'{text}'"))),
        "cat" => Go::Text(arguments.joined(" ")),
        "indent" => Go::Text(indented(&second, arguments.number(0))),
        "nindent" => Go::Text(format!("\n{}", indented(&second, arguments.number(0)))),
        "toString" => Go::Text(first),
        "b64enc" => Go::Text(STANDARD.encode(first)),
        "b64dec" => {
            let bytes = STANDARD.decode(first).unwrap_or_default();
            Go::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
        "regexMatch" => {
            return Some(pattern(&first).map(|found| Go::Bool(found.is_match(&second))));
        }
        "regexFind" => {
            let find = |pattern: Regex| {
                let found = pattern.find(&second).map(|found| found.as_str().to_owned());
                Go::Text(found.unwrap_or_default())
            };
            return Some(pattern(&first).map(find));
        }
        "regexReplaceAll" => {
            let with = arguments.text(2);
            let replace = |pattern: Regex| pattern.replace_all(&second, with.as_str()).into_owned();
            return Some(pattern(&first).map(replace).map(Go::Text));
        }
        _ => return None,
    }))
}

/// Functions of lists and maps.
fn lists<'d>(name: &str, arguments: &Arguments<'_, 'd>) -> Option<Result<Go<'d>, String>> {
    let (first, second) = (arguments.text(0), arguments.text(1));
    let of_texts = |items: Vec<String>| Go::List(items.into_iter().map(Go::Text).collect());
    let items_of = |value: &Go<'d>| match value {
        Go::List(items) => items.iter().map(shown).collect(),
        other => vec![shown(other)],
    };
    let of_last = |make: fn(Vec<Go<'d>>) -> Go<'d>| items(&arguments.last()).map(make);
    Some(Ok(match name {
        "splitList" => of_texts(second.split(&*first).map(str::to_owned).collect()),
        "split" => {
            let parts = second.split(&*first).enumerate();
            Go::Map(parts.map(|(index, part)| (format!("_{index}"), Go::text(part))).collect())
        }
        "join" => Go::Text(items_of(&arguments.value(1)).join(&first)),
        "sortAlpha" => {
            let mut texts: Vec<String> = items_of(&arguments.value(0));
            texts.sort();
            of_texts(texts)
        }
        "list" | "tuple" => Go::List(arguments.0.to_vec()),
        "first" => return Some(of_last(|items| items.into_iter().next().unwrap_or(Go::Nil("")))),
        "last" => {
            return Some(of_last(|items| items.into_iter().next_back().unwrap_or(Go::Nil(""))));
        }
        "rest" => return Some(of_last(|items| Go::List(items.into_iter().skip(1).collect()))),
        "initial" => {
            return Some(of_last(|mut items| {
                items.pop();
                Go::List(items)
            }));
        }
        "reverse" => return Some(of_last(|items| Go::List(items.into_iter().rev().collect()))),
        "uniq" => return Some(of_last(unique)),
        "has" => {
            let found = |items: Vec<Go<'d>>| items.iter().any(|item| equal(item, &arguments.0[0]));
            return Some(items(&arguments.last()).map(found).map(Go::Bool));
        }
        "dict" => {
            let pairs = arguments.0.chunks(2).filter(|pair| pair.len() == 2);
            Go::Map(pairs.map(|pair| (shown(&pair[0]), pair[1].clone())).collect())
        }
        "get" | "hasKey" | "keys" => match (name, &arguments.0[0]) {
            ("get", Go::Map(map)) => map.get(&second).cloned().unwrap_or(Go::text("")),
            ("hasKey", Go::Map(map)) => Go::Bool(map.contains_key(&second)),
            (_, Go::Map(map)) => of_texts(map.keys().cloned().collect()),
            (_, other) => return Some(Err(format!("{name} of type {}", other.type_name()))),
        },
        _ => return None,
    }))
}

/// Functions of numbers.
fn numbers<'d>(name: &str, arguments: &Arguments<'_, 'd>) -> Option<Result<Go<'d>, String>> {
    let (first, second) = (arguments.number(0), arguments.number(1));
    let all = || arguments.0.iter().map(whole);
    let divided = |result: Option<i64>| {
        result.map(Go::Int).ok_or_else(|| "integer divide by zero".to_owned())
    };
    Some(Ok(match name {
        "int" | "int64" | "atoi" => Go::Int(first),
        "add" => Go::Int(all().fold(0, i64::wrapping_add)),
        "add1" => Go::Int(first.wrapping_add(1)),
        "sub" => Go::Int(first.wrapping_sub(second)),
        "mul" => Go::Int(all().fold(1, i64::wrapping_mul)),
        "div" => return Some(divided(first.checked_div(second))),
        "mod" => return Some(divided(first.checked_rem(second))),
        "max" => Go::Int(all().max().unwrap_or(0)),
        "min" => Go::Int(all().min().unwrap_or(0)),
        "until" => Go::List((0..first.min(size(LONGEST))).map(Go::Int).collect()),
        _ => return None,
    }))
}

/// Defaults, variables and the time.
fn others<'d>(
    name: &str,
    arguments: &Arguments<'_, 'd>,
    surroundings: &Surroundings<'_>,
) -> Result<Go<'d>, String> {
    let pick = |first: bool| arguments.value(usize::from(!first));
    Ok(match name {
        "default" => pick(arguments.value(1).is_empty()),
        "empty" => Go::Bool(arguments.last().is_empty()),
        "coalesce" => {
            arguments.0.iter().find(|value| !value.is_empty()).cloned().unwrap_or(Go::Nil(""))
        }
        "ternary" => pick(arguments.value(2).truth()),
        "env" => Go::text(surroundings.environment.get(&arguments.text(0)).unwrap_or_default()),
        "now" => Go::Time(surroundings.now),
        "date" => Go::Text(dated(&arguments.text(0), arguments.number(1))),
        _ => return Err("it is not supported".to_owned()),
    })
}

fn unique(items: Vec<Go<'_>>) -> Go<'_> {
    let mut kept: Vec<Go<'_>> = Vec::new();
    for item in items {
        if !kept.iter().any(|known| equal(known, &item)) {
            kept.push(item);
        }
    }
    Go::List(kept)
}

/// A value as text; what has none is empty.
fn shown(value: &Go<'_>) -> String {
    value.print().unwrap_or_default()
}

fn size(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_possible_truncation, reason = "so Go has it")]
fn whole(value: &Go<'_>) -> i64 {
    match value {
        Go::Int(number) | Go::Time(number) => *number,
        Go::Float(number) => *number as i64,
        Go::Bool(value) | Go::Flag(value) => i64::from(*value),
        Go::Text(text) => text.parse().unwrap_or(0),
        _ => 0,
    }
}

fn items<'d>(value: &Go<'d>) -> Result<Vec<Go<'d>>, String> {
    match value {
        Go::List(items) => Ok(items.clone()),
        other => Err(format!("cannot find items of type {}", other.type_name())),
    }
}

fn at<'d>(value: &Go<'d>, key: &Go<'d>) -> Result<Go<'d>, String> {
    match (value, key) {
        (Go::List(items), Go::Int(index)) => {
            let item = usize::try_from(*index).ok().and_then(|index| items.get(index));
            item.cloned().ok_or_else(|| format!("index out of range: {index}"))
        }
        (Go::Map(map), key) => Ok(map.get(&shown(key)).cloned().unwrap_or(Go::Text(String::new()))),
        (other, _) => Err(format!("can't index item of type {}", other.type_name())),
    }
}

fn equal(left: &Go<'_>, right: &Go<'_>) -> bool {
    match (left, right) {
        (Go::Nil(_), Go::Nil(_)) => true,
        (Go::Nil(_), _) | (_, Go::Nil(_)) => false,
        _ => shown(left) == shown(right),
    }
}

fn compare(left: &Go<'_>, right: &Go<'_>) -> Result<Ordering, String> {
    match (left, right) {
        (Go::Text(left), Go::Text(right)) => Ok(left.cmp(right)),
        (Go::Int(left), Go::Int(right)) => Ok(left.cmp(right)),
        _ => Err("incompatible types for comparison".to_owned()),
    }
}

fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| format!("error parsing regexp: {error}"))
}

/// `%s`, `%d`, `%v`, `%q`, `%t` and `%%`.
fn format(form: &str, arguments: &[Go<'_>]) -> Result<String, String> {
    let mut output = String::new();
    let mut arguments = arguments.iter();
    let mut characters = form.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            output.push(character);
            continue;
        }
        match characters.next() {
            Some('%') => output.push('%'),
            Some(verb @ ('s' | 'd' | 'v' | 't')) => match arguments.next() {
                Some(value) => output.push_str(&shown(value)),
                // Writing to a string cannot fail.
                None => {
                    let _ = write!(output, "%!{verb}(MISSING)");
                }
            },
            Some('q') => {
                let value = arguments.next().map(shown).unwrap_or_default();
                output.push_str(&talos_config::rules::quoted(&value));
            }
            Some(verb) => return Err(format!("%{verb} is not supported")),
            None => output.push_str("%!(NOVERB)"),
        }
    }
    Ok(output)
}

fn escape_html(text: &str) -> String {
    let mut output = String::new();
    for character in text.chars() {
        match character {
            '&' => output.push_str("&amp;"),
            '<' => output.push_str("&lt;"),
            '>' => output.push_str("&gt;"),
            '"' => output.push_str("&#34;"),
            '\'' => output.push_str("&#39;"),
            _ => output.push(character),
        }
    }
    output
}

fn title(text: &str) -> String {
    let mut output = String::new();
    let mut begins = true;
    for character in text.chars() {
        if begins {
            output.extend(character.to_uppercase());
        } else {
            output.push(character);
        }
        begins = !character.is_alphanumeric() && character != '\'';
    }
    output
}

fn truncated(text: &str, length: i64) -> String {
    let bytes = text.len();
    let wanted = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
    let cut = if length < 0 {
        text.get(bytes.saturating_sub(wanted)..)
    } else {
        text.get(..wanted.min(bytes))
    };
    cut.unwrap_or(text).to_owned()
}

fn indented(text: &str, columns: i64) -> String {
    let pad = " ".repeat(usize::try_from(columns).unwrap_or(0).min(LONGEST));
    pad.clone() + &text.replace('\n', &format!("\n{pad}"))
}

/// A moment in the words of Go's layout, in UTC.
fn dated(layout: &str, seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // The calendar counted from March of the year 0, whose years end with the leap day.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    layout
        .replace("2006", &format!("{year:04}"))
        .replace("01", &format!("{month:02}"))
        .replace("02", &format!("{day:02}"))
        .replace("15", &format!("{:02}", second / 3_600))
        .replace("04", &format!("{:02}", second / 60 % 60))
        .replace("05", &format!("{:02}", second % 60))
}

const OWN: &[&str] = &[
    "and", "eq", "ge", "gt", "html", "index", "le", "len", "lt", "ne", "not", "or", "print",
    "printf", "println",
];

const SPRIG: &[&str] = &[
    "add",
    "add1",
    "atoi",
    "b64dec",
    "b64enc",
    "cat",
    "coalesce",
    "contains",
    "date",
    "default",
    "dict",
    "div",
    "empty",
    "env",
    "first",
    "get",
    "has",
    "hasKey",
    "hasPrefix",
    "hasSuffix",
    "indent",
    "initial",
    "int",
    "int64",
    "join",
    "keys",
    "last",
    "list",
    "lower",
    "max",
    "min",
    "mod",
    "mul",
    "nindent",
    "nospace",
    "now",
    "quote",
    "regexFind",
    "regexMatch",
    "regexReplaceAll",
    "repeat",
    "replace",
    "rest",
    "reverse",
    "sortAlpha",
    "split",
    "splitList",
    "squote",
    "sub",
    "ternary",
    "title",
    "toString",
    "trim",
    "trimAll",
    "trimPrefix",
    "trimSuffix",
    "trunc",
    "tuple",
    "uniq",
    "until",
    "upper",
];

/// Far more than a configuration can use, and little enough to be harmless.
const LONGEST: usize = 100_000;
