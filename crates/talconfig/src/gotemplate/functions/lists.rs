//! Functions of lists and maps.

use std::collections::BTreeMap;

use super::{Arguments, compare};
use crate::gotemplate::value::{ANY, GoValue};

pub(super) fn call<'d>(
    name: &str,
    arguments: &Arguments<'_, 'd>,
) -> Result<Option<GoValue<'d>>, String> {
    let values = arguments.0;
    let first = arguments.value(0);
    let any = |items: Vec<GoValue<'d>>| GoValue::List(ANY, items);
    Ok(Some(match name {
        "splitList" => texts(parts(arguments)),
        "split" => {
            let parts = parts(arguments).into_iter().enumerate();
            let entries = parts.map(|(index, part)| (format!("_{index}"), GoValue::Text(part)));
            GoValue::Map("string", entries.collect())
        }
        "join" => GoValue::Text(words(&arguments.value(1))?.join(arguments.text(0))),
        "sortAlpha" => {
            let mut words =
                if let GoValue::List(..) = first { words(&first)? } else { vec![first.print()?] };
            words.sort();
            texts(words)
        }
        "list" | "tuple" => any(values.to_vec()),
        "first" => items(name, first)?.into_iter().next().unwrap_or(GoValue::Nil("")),
        "last" => items(name, first)?.pop().unwrap_or(GoValue::Nil("")),
        "rest" => any(items(name, first)?.into_iter().skip(1).collect()),
        "initial" => {
            let mut items = items(name, first)?;
            items.pop();
            any(items)
        }
        "reverse" => any(items(name, first)?.into_iter().rev().collect()),
        "uniq" => any(unique(items(name, first)?)),
        "has" => match arguments.value(1) {
            GoValue::Nil("") => GoValue::Bool(false),
            list => {
                let items = items(name, list)?;
                GoValue::Bool(items.iter().any(|item| compare::same(item, &first)))
            }
        },
        "dict" => {
            let mut map = BTreeMap::new();
            for pair in values.chunks(2) {
                // A key without a value has an empty one.
                let value = pair.get(1).cloned().unwrap_or(GoValue::text(""));
                map.insert(pair[0].print()?, value);
            }
            GoValue::Map(ANY, map)
        }
        "get" => match first {
            GoValue::Map(_, mut map) => map.remove(arguments.text(1)).unwrap_or(GoValue::text("")),
            _ => GoValue::text(""),
        },
        "hasKey" => GoValue::Bool(
            matches!(&first, GoValue::Map(_, map) if map.contains_key(arguments.text(1))),
        ),
        // Go gives them in any order.
        "keys" => {
            let maps = values.iter().filter_map(|value| match value {
                GoValue::Map(_, map) => Some(map.keys().cloned()),
                _ => None,
            });
            texts(maps.flatten().collect())
        }
        _ => return Ok(None),
    }))
}

fn texts<'d>(items: Vec<String>) -> GoValue<'d> {
    GoValue::List("string", items.into_iter().map(GoValue::Text).collect())
}

/// Splits a text; without a separator, into its letters.
fn parts(arguments: &Arguments<'_, '_>) -> Vec<String> {
    let (separator, text) = (arguments.text(0), arguments.text(1));
    if separator.is_empty() {
        return text.chars().map(String::from).collect();
    }
    text.split(separator).map(str::to_owned).collect()
}

/// Returns the items of a list as text, without nils; a single value is a list of one.
fn words(value: &GoValue<'_>) -> Result<Vec<String>, String> {
    match value {
        GoValue::List(_, items) => items
            .iter()
            .filter(|item| !matches!(item, GoValue::Nil("")))
            .map(GoValue::print)
            .collect(),
        GoValue::Nil("") => Ok(Vec::new()),
        other => Ok(vec![other.print()?]),
    }
}

fn items<'d>(name: &str, list: GoValue<'d>) -> Result<Vec<GoValue<'d>>, String> {
    match list {
        GoValue::List(_, items) => Ok(items),
        GoValue::Nil("") => {
            Err("runtime error: invalid memory address or nil pointer dereference".to_owned())
        }
        other => Err(format!("Cannot find {name} on type {}", other.kind_name())),
    }
}

fn unique(items: Vec<GoValue<'_>>) -> Vec<GoValue<'_>> {
    let mut kept: Vec<GoValue<'_>> = Vec::new();
    for item in items {
        if !kept.iter().any(|known| compare::same(known, &item)) {
            kept.push(item);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn lists_and_maps_become_what_sprig_makes_of_them() {
        check(LISTS);
    }

    const LISTS: &[(&str, &str)] = &[
        (
            "{{ splitList \"\" \"abé\" }} {{ splitList \",\" \"\" }} {{ splitList \",\" \"a,b\" }} {{ split \"\" \"ab\" }} {{ split \",\" \"a,b\" }}",
            "[a b é] [] [a b] map[_0:a _1:b] map[_0:a _1:b]",
        ),
        (
            "{{ join \",\" (list 1 nil \"a\" (list 2)) }} {{ join \",\" \"abc\" }} {{ join \",\" nil }} {{ join \",\" 5 }}",
            "1,a,[2] abc  5",
        ),
        (
            "{{ sortAlpha (list \"b\" 1 nil \"a\") }} {{ sortAlpha \"b\" }} {{ sortAlpha nil }}",
            "[1 a b] [b] [<nil>]",
        ),
        (
            "{{ first (list 1 2) }} {{ last (list 1 2) }} {{ rest (list 1 2 3) }} {{ initial (list 1 2 3) }} {{ reverse (list 1 2 3) }} {{ uniq (list 1 1 2) }}",
            "1 2 [2 3] [1 2] [3 2 1] [1 2]",
        ),
        (
            "{{ last (list) }}|{{ rest (list) }}|{{ initial (list) }}|{{ reverse (list) }}|{{ uniq (list) }}",
            "<no value>|[]|[]|[]|[]",
        ),
        (
            "{{ first \"abc\" }}",
            "ERR 1:3: executing \"template\" at <first \"abc\">: error calling first: Cannot find first on type string",
        ),
        (
            "{{ last 1 }}",
            "ERR 1:3: executing \"template\" at <last 1>: error calling last: Cannot find last on type int",
        ),
        (
            "{{ rest \"a\" }}",
            "ERR 1:3: executing \"template\" at <rest \"a\">: error calling rest: Cannot find rest on type string",
        ),
        (
            "{{ initial true }}",
            "ERR 1:3: executing \"template\" at <initial true>: error calling initial: Cannot find initial on type bool",
        ),
        (
            "{{ reverse 1.5 }}",
            "ERR 1:3: executing \"template\" at <reverse 1.5>: error calling reverse: Cannot find reverse on type float64",
        ),
        (
            "{{ uniq (dict) }}",
            "ERR 1:3: executing \"template\" at <uniq (dict)>: error calling uniq: Cannot find uniq on type map",
        ),
        (
            "{{ first (add 1) }}",
            "ERR 1:3: executing \"template\" at <first (add 1)>: error calling first: Cannot find first on type int64",
        ),
        (
            "{{ first .ClusterConfig.ControlPlane.Endpoint }}",
            "ERR 1:3: executing \"template\" at <first .ClusterConfig.ControlPlane.Endpoint>: error calling first: Cannot find first on type ptr",
        ),
        (
            "{{ first nil }}",
            "ERR 1:3: executing \"template\" at <first nil>: error calling first: runtime error: invalid memory address or nil pointer dereference",
        ),
        (
            "{{ has 1 \"a\" }}",
            "ERR 1:3: executing \"template\" at <has 1 \"a\">: error calling has: Cannot find has on type string",
        ),
        (
            "{{ has 1 nil }} {{ has \"a\" (list \"a\") }} {{ has 1 (list (add 0 1)) }} {{ has 1 (list \"1\") }} {{ has \"a.lan\" .MachineConfig.MachineCertSANs }}",
            "false true false false true",
        ),
        (
            "{{ uniq (list 1 (add 0 1) \"1\" 1) }} {{ uniq (list (list 1) (list 1) (dict \"a\" 1) (dict \"a\" 2) nil nil) }}",
            "[1 1 1] [[1] map[a:1] map[a:2] <nil>]",
        ),
        (
            "{{ dict \"a\" 1 \"b\" }} {{ dict 1 2 }} {{ get (dict \"a\" 1) \"a\" }} {{ get (dict \"a\" 1) \"b\" }} {{ hasKey (dict \"a\" 1) \"a\" }} {{ hasKey (dict) \"a\" }}",
            "map[a:1 b:] map[1:2] 1  true false",
        ),
        ("{{ keys (dict \"a\" 1) (dict \"b\" 2) | sortAlpha }} {{ tuple 1 2 }}", "[a b] [1 2]"),
        ("{{ len \"é\" }} {{ len (list 1 2) }} {{ len (dict \"a\" 1) }}", "2 2 1"),
        (
            "{{ len 1 }}",
            "ERR 1:3: executing \"template\" at <len 1>: error calling len: len of type int",
        ),
        (
            "{{ len nil }}",
            "ERR 1:3: executing \"template\" at <len nil>: error calling len: reflect: call of reflect.Value.Type on zero Value",
        ),
        (
            "{{ len .MachineConfig.MachineNetwork }}",
            "ERR 1:3: executing \"template\" at <len .MachineConfig.MachineNetwork>: error calling len: len of nil pointer",
        ),
        (
            "{{ len .MachineConfig.MachineInstall.InstallWipe }}",
            "ERR 1:3: executing \"template\" at <len .MachineConfig.MachineInstall.InstallWipe>: error calling len: len of type bool",
        ),
        (
            "{{ len .MachineConfig.MachineInstall }}",
            "ERR 1:3: executing \"template\" at <len .MachineConfig.MachineInstall>: error calling len: len of type v1alpha1.InstallConfig",
        ),
        (
            "{{ index .MachineConfig.MachineCertSANs 1 }} {{ index (list (list 1 2)) 0 1 }} {{ index (list 1) (add 0 0) }}",
            "b.lan 2 1",
        ),
        (
            "{{ index .MachineConfig.MachineCertSANs 2 }}",
            "ERR 1:3: executing \"template\" at <index .MachineConfig.MachineCertSANs 2>: error calling index: reflect: slice index out of range",
        ),
        (
            "{{ index .MachineConfig.MachineCertSANs 3 }}",
            "ERR 1:3: executing \"template\" at <index .MachineConfig.MachineCertSANs 3>: error calling index: index out of range: 3",
        ),
        (
            "{{ index .MachineConfig.MachineCertSANs -1 }}",
            "ERR 1:3: executing \"template\" at <index .MachineConfig.MachineCertSANs -1>: error calling index: index out of range: -1",
        ),
        (
            "{{ index .MachineConfig.MachineCertSANs \"a\" }}",
            "ERR 1:3: executing \"template\" at <index .MachineConfig.MachineCertSANs \"a\">: error calling index: cannot index slice/array with type string",
        ),
        (
            "{{ index .MachineConfig.MachineCertSANs nil }}",
            "ERR 1:3: executing \"template\" at <index .MachineConfig.MachineCertSANs nil>: error calling index: cannot index slice/array with nil",
        ),
        (
            "{{ index .MachineConfig.MachineNodeLabels \"one\" }} {{ index .MachineConfig.MachineNodeLabels \"x\" }} {{ index (dict \"a\" 1) \"x\" }} {{ index .MachineConfig.MachineRegistries.RegistryMirrors \"x\" }}",
            "1  <no value> <nil>",
        ),
        (
            "{{ index .MachineConfig.MachineNodeLabels 1 }}",
            "ERR 1:3: executing \"template\" at <index .MachineConfig.MachineNodeLabels 1>: error calling index: value has type int; should be string",
        ),
        (
            "{{ index .MachineConfig.MachineNodeLabels nil }}",
            "ERR 1:3: executing \"template\" at <index .MachineConfig.MachineNodeLabels nil>: error calling index: value is nil; should be of type string",
        ),
        (
            "{{ index nil 1 }}",
            "ERR 1:3: executing \"template\" at <index nil 1>: error calling index: index of untyped nil",
        ),
        (
            "{{ index .MachineConfig.MachineNetwork 1 }}",
            "ERR 1:3: executing \"template\" at <index .MachineConfig.MachineNetwork 1>: error calling index: index of nil pointer",
        ),
        (
            "{{ index 1 2 }}",
            "ERR 1:3: executing \"template\" at <index 1 2>: error calling index: can't index item of type int",
        ),
        (
            "{{ index \"a\" \"b\" }}",
            "ERR 1:3: executing \"template\" at <index \"a\" \"b\">: error calling index: cannot index slice/array with type string",
        ),
        (
            "{{ default \"d\" 0 }} {{ default \"d\" false }} {{ default \"d\" (list) }} {{ default \"d\" \"x\" }} {{ default \"a\" \"\" \"b\" }} {{ \"\" | default \"d\" }}",
            "d d d x a d",
        ),
        (
            "{{ default true .MachineConfig.MachineInstall.InstallWipe }} {{ empty .MachineConfig.MachineRegistries }} {{ empty \"\" }} {{ empty nil }} {{ empty .MachineConfig.MachineNetwork }} {{ empty now }}",
            "false false true true true false",
        ),
        (
            "{{ coalesce \"\" 0 \"a\" }} {{ coalesce \"\" }} {{ ternary \"a\" \"b\" true }} {{ env \"NAME\" }} {{ env \"NOBODY\" }}|",
            "a <no value> a value |",
        ),
    ];
}
