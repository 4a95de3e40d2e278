//! From typed values to what is written: order, omission and the text of numbers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::format::url::{without_token, without_user};
use crate::natural_order;
use crate::schema::{self, ARGUMENT_LISTS, Field, Format, Type};
use crate::secret::REDACTED;
use crate::value::{Data, Value};
use crate::yaml::{self, Dialect, Tree};

/// The treatment of secrets in output.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Secrets {
    Shown,
    /// Hidden as Talos hides them.
    Redacted,
    /// Hidden together with the texts in which people keep their own.
    Hidden,
}

/// Returns the entries of an object with known fields, those that are written, in order.
pub(crate) fn object<'a>(
    object: &'a BTreeMap<String, Value>,
    fields: &'static [Field],
    secrets: Secrets,
    dialect: Dialect,
) -> Vec<(Cow<'a, str>, Tree<'a>)> {
    let mut entries = Vec::new();
    for field in schema::flat(fields) {
        let value = object.get(field.key);
        let always = field.is_always_written(dialect);
        let written = match value {
            Some(value) if field.optional || always || !is_empty(value, field, dialect) => {
                let secret = field.secret || field.private && secrets == Secrets::Hidden;
                Some(tree(value, field.ty, secrets, secret, dialect))
            }
            _ if always => Some(zero(field)),
            _ => None,
        };
        entries.extend(written.map(|tree| (Cow::Borrowed(field.key), tree)));
    }
    entries
}

/// Free-form data, keys in natural order.
pub(crate) fn any(value: &Value) -> Tree<'_> {
    any_tree(value, false)
}

/// Returns a value as it is shown to people: secrets hidden.
pub(crate) fn shown(value: &Value, ty: Type, secret: bool) -> Tree<'_> {
    tree(value, ty, Secrets::Hidden, secret, Dialect::default())
}

/// Returns whether a field that is left out when empty is left out.
pub(crate) fn is_empty(value: &Value, field: &Field, dialect: Dialect) -> bool {
    match (&value.data, field.ty) {
        (Data::Bool(set), _) => !set,
        (Data::Int(number), _) => *number == 0,
        (Data::Text(text), _) => text.is_empty(),
        (Data::List(items), _) => {
            items.is_empty() && field.keep_empty.is_none_or(|since| dialect < since)
        }
        (Data::Map(entries), Type::Encryption(_)) => {
            let keys =
                entries.get("keys").and_then(Value::as_list).is_some_and(|keys| !keys.is_empty());
            !keys && !entries.contains_key("provider")
        }
        (Data::Map(entries), Type::Object(fields)) => {
            schema::flat(fields).all(|field| match entries.get(field.key) {
                None => true,
                Some(value) => !field.optional && is_empty(value, field, dialect),
            })
        }
        (Data::Map(entries), _) => entries.is_empty(),
        (Data::Null | Data::Float(_), _) => false,
    }
}

fn tree(value: &Value, ty: Type, secrets: Secrets, secret: bool, dialect: Dialect) -> Tree<'_> {
    let hidden = secret && secrets != Secrets::Shown;
    match (&value.data, ty) {
        (Data::Text(text), Type::Format(Format::Url)) if secrets != Secrets::Shown => {
            let shown = without_user(text);
            Tree::Text(if secret { without_token(&shown) } else { shown }.into())
        }
        (Data::Text(text), Type::Any) => Tree::Text(text.into()),
        (Data::Text(text), _) if hidden && !text.is_empty() => Tree::Text(REDACTED.into()),
        (Data::Int(mode), Type::Format(Format::Octal)) => {
            Tree::Verbatim(format!("0o{mode:o}").into())
        }
        (Data::Text(text), Type::Arguments) if text.is_empty() => Tree::Verbatim("null".into()),
        (
            Data::Map(entries),
            Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields),
        ) => Tree::Map(object(entries, fields, secrets, dialect)),
        (Data::Map(entries), Type::Arguments) if !hidden => {
            Tree::Map(sorted(entries, |value| argument(value, dialect)))
        }
        (Data::Map(entries), Type::Map(element)) => {
            Tree::Map(sorted(entries, |value| tree(value, *element, secrets, secret, dialect)))
        }
        (
            Data::List(items),
            Type::List(element) | Type::StrictList(element) | Type::KeyedList(element, ..),
        ) => Tree::List(
            items.iter().map(|item| tree(item, *element, secrets, secret, dialect)).collect(),
        ),
        _ => any_tree(value, hidden),
    }
}

/// One argument of a program.
fn argument(value: &Value, dialect: Dialect) -> Tree<'_> {
    match &value.data {
        // Arguments were texts before they could be lists, and null was an empty one.
        Data::Null if dialect < ARGUMENT_LISTS => Tree::Text("".into()),
        Data::Text(text) if dialect >= ARGUMENT_LISTS => Tree::Argument(text.into()),
        Data::List(items) => Tree::List(items.iter().map(|item| argument(item, dialect)).collect()),
        _ => any_tree(value, false),
    }
}

/// `hidden`: every `secret` in it is redacted, at any depth.
fn any_tree(value: &Value, hidden: bool) -> Tree<'_> {
    match &value.data {
        Data::Null => Tree::Verbatim("null".into()),
        Data::Bool(true) => Tree::Verbatim("true".into()),
        Data::Bool(false) => Tree::Verbatim("false".into()),
        Data::Int(number) => Tree::Verbatim(number.to_string().into()),
        Data::Float(number) => Tree::Verbatim(yaml::float(*number).into()),
        Data::Text(text) => Tree::Text(text.into()),
        Data::List(items) => Tree::List(items.iter().map(|item| any_tree(item, hidden)).collect()),
        Data::Map(entries) => {
            let mut tree = sorted(entries, |value| any_tree(value, hidden));
            if hidden {
                for (_, value) in tree.iter_mut().filter(|(key, _)| key == "secret") {
                    *value = Tree::Text(REDACTED.into());
                }
            }
            Tree::Map(tree)
        }
    }
}

fn sorted<'a>(
    entries: &'a BTreeMap<String, Value>,
    tree: impl Fn(&'a Value) -> Tree<'a>,
) -> Vec<(Cow<'a, str>, Tree<'a>)> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by(|(left, _), (right, _)| natural_order::compare(left, right));
    sorted.into_iter().map(|(key, value)| (key.into(), tree(value))).collect()
}

/// Returns the tree of an unset field, where it must be written.
fn zero(field: &Field) -> Tree<'static> {
    if field.optional {
        return Tree::Verbatim("null".into());
    }
    match field.ty {
        Type::Bool => Tree::Verbatim("false".into()),
        Type::Int { .. } => Tree::Verbatim("0".into()),
        Type::Format(Format::Octal) => Tree::Verbatim("0o0".into()),
        Type::Format(Format::Duration) => Tree::Text("0s".into()),
        Type::Format(Format::RoutingTable) => Tree::Text("unspec".into()),
        Type::Text | Type::Format(_) => Tree::Text("".into()),
        Type::Choice(choice) => Tree::Text(choice.unset.unwrap_or(choice.words[0]).into()),
        Type::List(_) | Type::StrictList(_) | Type::KeyedList(..) => Tree::List(Vec::new()),
        Type::Arguments | Type::Any | Type::Map(_) => Tree::Map(Vec::new()),
        Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields) => {
            let zeros = schema::flat(fields).filter(|field| field.always);
            Tree::Map(zeros.map(|field| (field.key.into(), zero(field))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::yaml::Dialect;
    use crate::{Config, SourceId};

    #[test]
    fn empty_search_domains_are_written_since_1_14() {
        let head = "apiVersion: v1alpha1\nkind: ResolverConfig\n";
        let list = "searchDomains:\n    domains: []\n";
        let config = Config::parse(&format!("{head}{list}"), SourceId(1)).unwrap();
        for (dialect, rest) in [(Dialect::V1_12, ""), (Dialect::V1_13, ""), (Dialect::V1_14, list)]
        {
            assert_eq!(
                config.encode(dialect).into_exposed(),
                format!("{head}{rest}"),
                "{dialect:?}"
            );
        }
    }
}
