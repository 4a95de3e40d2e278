//! What the tables of kinds say about a field, without a configuration.

use crate::contract::Contract;
use crate::error::{Error, problem};
use crate::schema::{self, Choice, Field, Format, Kind, Type};
use crate::suggest::suggest;
use crate::{Diagnostic, Location, kinds};

/// A field of a kind.
#[derive(Clone, Debug)]
pub struct FieldDocs {
    /// The kind: `v1alpha1`, `LinkConfig`.
    pub kind: &'static str,
    /// The field; empty for the kind itself.
    pub path: String,
    /// The content: `text`, `list of text`, `one of: a, b`.
    pub content: String,
    /// The meaning, where there is something to say beyond the name.
    pub about: &'static str,
    /// The first release that knows it.
    pub since: Contract,
    /// It is never shown.
    pub secret: bool,
    /// Its own fields.
    pub fields: Vec<(&'static str, &'static str)>,
}

/// Looks up a field, by its path in the document without a kind or behind `KIND.` or `KIND/NAME.`
pub fn field_docs(path: &str) -> Result<FieldDocs, Error> {
    let (kind, rest) = kind_of(path);
    let mut docs = FieldDocs {
        kind: kind.name,
        path: rest.to_owned(),
        content: String::new(),
        about: kind.about,
        since: kind.since,
        secret: false,
        fields: Vec::new(),
    };
    let mut ty = Type::Object(kind.fields);
    let mut rest = rest;
    while !rest.is_empty() {
        // Selectors of elements, and keys of maps, lead to what all elements are.
        if let (Some((_, after)), Some(element)) =
            (rest.strip_prefix('[').and_then(|rest| rest.split_once(']')), element(ty))
        {
            (ty, rest) = (element, after);
            continue;
        }
        let word = rest.strip_prefix('.').unwrap_or(rest);
        let (key, after) = word.split_at(word.find(['.', '[']).unwrap_or(word.len()));
        match ty {
            Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields) => {
                let Some(field) = schema::find(fields, key) else {
                    return Err(unknown(path, key, fields));
                };
                ty = field.ty;
                docs.about = field.about;
                docs.since = field.since.unwrap_or(docs.since);
                docs.secret |= field.secret || field.private;
            }
            Type::Map(element) => ty = *element,
            // A list without a selector, as in the documentation of Talos.
            Type::List(_) | Type::StrictList(_) | Type::KeyedList(..) => {
                ty = element(ty).unwrap_or(Type::Any);
                continue;
            }
            _ => ty = Type::Any,
        }
        rest = after;
    }
    docs.content = content(ty);
    docs.fields = listed(fields_of(ty));
    Ok(docs)
}

/// Returns the kind that a path is in, and what is behind it.
fn kind_of(path: &str) -> (&'static Kind, &str) {
    let (first, rest) = path.split_at(path.find(['.', '/', '[']).unwrap_or(path.len()));
    let Some(kind) = kinds::ALL.iter().find(|kind| kind.name == first) else {
        return (kinds::V1ALPHA1, path);
    };
    // The names of documents have no dots but those of VLANs, whose numbers are no fields.
    let rest = match rest.strip_prefix('/') {
        Some(named) => {
            let mut parts = named.split('.').skip(1).peekable();
            while parts.next_if(|part| part.bytes().all(|byte| byte.is_ascii_digit())).is_some() {}
            let begin = parts
                .peek()
                .map_or(named.len(), |part| part.as_ptr().addr() - named.as_ptr().addr());
            &named[begin..]
        }
        None => rest.strip_prefix('.').unwrap_or(rest),
    };
    (kind, rest)
}

fn element(ty: Type) -> Option<Type> {
    match ty {
        Type::List(element) | Type::StrictList(element) | Type::KeyedList(element, ..) => {
            Some(*element)
        }
        _ => None,
    }
}

fn fields_of(ty: Type) -> &'static [Field] {
    match ty {
        Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields) => fields,
        Type::List(ty) | Type::StrictList(ty) | Type::KeyedList(ty, ..) | Type::Map(ty) => {
            fields_of(*ty)
        }
        _ => &[],
    }
}

fn listed(fields: &'static [Field]) -> Vec<(&'static str, &'static str)> {
    let mut listed = Vec::new();
    for field in fields {
        match field.ty {
            Type::Object(inner) if field.key.is_empty() => listed.extend(self::listed(inner)),
            _ => listed.push((field.key, field.about)),
        }
    }
    listed
}

fn content(ty: Type) -> String {
    match ty {
        Type::Bool => "true or false".to_owned(),
        Type::Int { .. } => "number".to_owned(),
        Type::Text => "text".to_owned(),
        Type::Format(format) => of_format(format).to_owned(),
        Type::Choice(Choice { words, .. }) => format!("one of: {}", words.join(", ")),
        Type::Arguments => "arguments of a program".to_owned(),
        Type::Any => "any content".to_owned(),
        Type::List(ty) | Type::StrictList(ty) | Type::KeyedList(ty, ..) => {
            format!("list of {}", content(*ty))
        }
        Type::Map(ty) => format!("map of {}", content(*ty)),
        Type::Object(_) | Type::WholeObject(_) | Type::Encryption(_) => "object".to_owned(),
    }
}

fn of_format(format: Format) -> &'static str {
    match format {
        Format::Duration => "duration, such as 1m30s",
        Format::Octal => "permissions, such as 0o644",
        Format::Ip => "IP address",
        Format::Cidr => "IP address and prefix length",
        Format::IpPort => "IP address and port",
        Format::Mac => "hardware address",
        Format::Url => "URL",
        Format::ByteSize | Format::DiskSize => "size, such as 10GiB",
        Format::Size => "size, such as 10GiB or 50%",
        Format::SizeMatch => "size with a comparison, such as <= 2TB",
        Format::PortRange => "port, or first-last",
        Format::RoutingTable => "routing table",
        Format::Base64 => "base64",
        Format::Word | Format::Manifest => "text",
        Format::Expression => "expression",
    }
}

fn unknown(path: &str, key: &str, fields: &'static [Field]) -> Error {
    let known = listed(fields);
    let near = suggest(key, known.iter().map(|(name, _)| *name));
    let hint = near.map(|near| format!("did you mean {near:?}?"));
    let message = format!("nothing is at {path:?}");
    Error::Document(vec![Diagnostic { hint, ..problem(Location::default(), message) }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_docs_follow_lists_maps_and_names() {
        for (path, content) in [
            ("machine.network.interfaces", "list of object"),
            ("machine.network.interfaces[eth0].mtu", "number"),
            ("machine.network.interfaces.mtu", "number"),
            ("machine.sysctls", "map of text"),
            ("machine.sysctls.net.core.somaxconn", "any content"),
            ("LinkConfig/eth0.up", "true or false"),
            ("LinkConfig/eth0.100.up", "true or false"),
            ("LinkConfig.up", "true or false"),
            ("LinkConfig", "object"),
        ] {
            let docs = field_docs(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(docs.content, content, "{path}");
        }
        assert!(field_docs("machine").unwrap().fields.iter().any(|(name, _)| *name == "network"));
        assert!(field_docs("machine.token").unwrap().secret);
        let wrong = field_docs("machine.netwrok").unwrap_err();
        assert_eq!(wrong.to_string(), "nothing is at \"machine.netwrok\"");
    }

    #[test]
    fn every_field_of_every_kind_has_docs() {
        for kind in kinds::ALL {
            for (field, _) in field_docs(kind.name).unwrap().fields {
                let path = format!("{}.{field}", kind.name);
                assert!(field_docs(&path).is_ok(), "{path}");
            }
        }
    }
}
