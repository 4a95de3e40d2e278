//! Names, labels, annotations and taints of Kubernetes.

use super::cursor::Cursor;
use super::{go_compat, list};

/// Finds the problems of a map, as one text.
pub(super) type Check = fn(Cursor<'_>) -> Option<String>;

/// The problems of labels, as one text.
pub(super) fn labels(map: Cursor<'_>) -> Option<String> {
    listed(&label_problems(texts(map)))
}

/// The problems of labels, one by one.
pub(super) fn label_problems<'a>(map: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let problems = map.flat_map(|(key, value)| {
        [qualified_name(key).err(), label_value(value).err()].into_iter().flatten()
    });
    problems.collect()
}

/// The problems of annotations, as one text.
pub(super) fn annotations(map: Cursor<'_>) -> Option<String> {
    listed(&annotation_problems(texts(map)))
}

/// The problems of annotations, one by one.
pub(super) fn annotation_problems<'a>(
    map: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<String> {
    let mut problems = Vec::new();
    let mut size = 0;
    for (key, value) in map {
        problems.extend(qualified_name(key).err());
        if OWNED.contains(&key) {
            problems.push(format!("annotation {} is reserved", go_compat::quoted(key)));
        }
        size += key.len() + value.len();
    }
    if size > ANNOTATIONS_LIMIT {
        problems.push(format!("total annotation size exceeds limit of {ANNOTATIONS_LIMIT} bytes"));
    }
    problems
}

/// The problems of taints, as one text.
pub(super) fn taints(map: Cursor<'_>) -> Option<String> {
    listed(&taint_problems(texts(map)))
}

/// The problems of taints, one by one.
pub(super) fn taint_problems<'a>(map: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let problems =
        map.filter_map(|(key, value)| qualified_name(key).and_then(|()| taint(value)).err());
    problems.collect()
}

fn texts(map: Cursor<'_>) -> impl Iterator<Item = (&str, &str)> {
    map.entries().map(|(key, value)| (key, value.text()))
}

fn taint(text: &str) -> Result<(), String> {
    let (value, effect) =
        text.split_once(':').map_or((None, text), |(value, effect)| (Some(value), effect));
    if !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
        return Err(format!("invalid taint effect: {}", go_compat::quoted(effect)));
    }
    value.map_or(Ok(()), label_value)
}

/// A name that may have a domain and a slash in front.
pub(super) fn qualified_name(text: &str) -> Result<(), String> {
    let mut parts = text.split('/');
    let first = parts.next().unwrap_or_default();
    let name = match (parts.next(), parts.next()) {
        (None, _) => first,
        (Some(_), None) if first.is_empty() => {
            return Err(format!("prefix cannot be empty: {}", go_compat::quoted(text)));
        }
        (Some(name), None) => {
            subdomain(first).map_err(|reason| {
                format!("prefix {} is invalid: {reason}", go_compat::quoted(first))
            })?;
            name
        }
        (Some(_), Some(_)) => {
            return Err(format!("invalid format: too many slashes: {}", go_compat::quoted(text)));
        }
    };
    if name.is_empty() {
        return Err(format!("name cannot be empty: {}", go_compat::quoted(text)));
    }
    if name.len() > NAME_LIMIT {
        return Err(format!(
            "name is too long: {} (limit is {NAME_LIMIT})",
            go_compat::quoted(text)
        ));
    }
    if !is_name(name) {
        return Err(format!("name {} is invalid", go_compat::quoted(name)));
    }
    Ok(())
}

fn label_value(text: &str) -> Result<(), String> {
    if text.len() > NAME_LIMIT {
        let text = go_compat::quoted(text);
        return Err(format!("label value length exceeds limit of {NAME_LIMIT}: {text}"));
    }
    if !text.is_empty() && !is_name(text) {
        return Err(format!("label value {} is invalid", go_compat::quoted(text)));
    }
    Ok(())
}

/// The name of a host in lower case, as in RFC 1123.
pub(super) fn subdomain(text: &str) -> Result<(), String> {
    if text.len() > DOMAIN_LIMIT {
        let text = go_compat::quoted(text);
        return Err(format!("domain name length exceeds limit of {DOMAIN_LIMIT}: {text}"));
    }
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let fine = text.split('.').all(|label| {
        !label.is_empty()
            && label.bytes().all(|byte| plain(byte) || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    });
    if fine {
        Ok(())
    } else {
        Err(format!("domain doesn't match required format: {}", go_compat::quoted(text)))
    }
}

fn is_name(text: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric();
    text.bytes().all(|byte| plain(&byte) || b"-_.".contains(&byte))
        && text.as_bytes().first().is_some_and(plain)
        && text.as_bytes().last().is_some_and(plain)
}

fn listed(problems: &[String]) -> Option<String> {
    (!problems.is_empty()).then(|| list(problems))
}

const NAME_LIMIT: usize = 63;
const DOMAIN_LIMIT: usize = 253;
const ANNOTATIONS_LIMIT: usize = 256 << 10;
const OWNED: [&str; 3] =
    ["talos.dev/owned-annotations", "talos.dev/owned-labels", "talos.dev/owned-taints"];
