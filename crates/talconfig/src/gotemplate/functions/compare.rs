//! Equality and order of values.

use std::cmp::Ordering;

use crate::gotemplate::value::GoValue;

/// Returns true if the first value equals one of the others.
pub(super) fn equals_one(values: &[GoValue<'_>]) -> Result<bool, String> {
    let Some((first, others)) = values.split_first().filter(|(_, others)| !others.is_empty())
    else {
        return Err("missing argument for comparison".to_owned());
    };
    for other in others {
        if equal(first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Compares two values.
pub(super) fn order(left: &GoValue<'_>, right: &GoValue<'_>) -> Result<Ordering, String> {
    let sorts = (sort(left), sort(right));
    if sorts.0 == Sort::Other || sorts.1 == Sort::Other {
        return Err("invalid type for comparison".to_owned());
    }
    if sorts.0 != sorts.1 {
        return Err(incompatible(left, right));
    }
    match (left, right) {
        (GoValue::Text(left), GoValue::Text(right)) => Ok(left.cmp(right)),
        (GoValue::Int(left) | GoValue::Long(left), GoValue::Int(right) | GoValue::Long(right)) => {
            Ok(left.cmp(right))
        }
        (GoValue::Float(left), GoValue::Float(right)) => {
            left.partial_cmp(right).ok_or_else(|| refused(&GoValue::Float(*left)))
        }
        (GoValue::Bool(_), _) => Err("invalid type for comparison".to_owned()),
        _ => Err(refused(left)),
    }
}

/// Returns true if two values are equal for functions of lists, which also compare their types.
pub(super) fn same(left: &GoValue<'_>, right: &GoValue<'_>) -> bool {
    match (left, right) {
        (GoValue::Nil(left), GoValue::Nil(right)) => left == right,
        (GoValue::Bool(left), GoValue::Bool(right))
        | (GoValue::Flag(left), GoValue::Flag(right)) => left == right,
        (GoValue::Int(left), GoValue::Int(right))
        | (GoValue::Long(left), GoValue::Long(right))
        | (GoValue::Time(left), GoValue::Time(right)) => left == right,
        (GoValue::Float(left), GoValue::Float(right)) => left.total_cmp(right).is_eq(),
        (GoValue::Text(left), GoValue::Text(right)) | (GoValue::Url(left), GoValue::Url(right)) => {
            left == right
        }
        (GoValue::Named(one, left), GoValue::Named(other, right)) => (one, left) == (other, right),
        (GoValue::List(one, left), GoValue::List(other, right)) => {
            let mut pairs = left.iter().zip(right);
            one == other && left.len() == right.len() && pairs.all(|(l, r)| same(l, r))
        }
        (GoValue::Map(one, left), GoValue::Map(other, right)) => {
            let mut pairs = left.iter().zip(right);
            one == other
                && left.len() == right.len()
                && pairs.all(|((key, l), (other, r))| key == other && same(l, r))
        }
        (
            GoValue::Struct { ty: one, fields: left, pointer: points },
            GoValue::Struct { ty: other, fields: right, pointer },
        ) => one.name == other.name && left == right && points == pointer,
        _ => false,
    }
}

/// The sorts of values that can be compared with each other.
#[derive(PartialEq)]
enum Sort {
    Bool,
    Whole,
    Float,
    Text,
    Other,
}

fn sort(value: &GoValue<'_>) -> Sort {
    match value {
        GoValue::Bool(_) => Sort::Bool,
        GoValue::Int(_) | GoValue::Long(_) | GoValue::Named(..) => Sort::Whole,
        GoValue::Float(_) => Sort::Float,
        GoValue::Text(_) => Sort::Text,
        _ => Sort::Other,
    }
}

fn equal<'v, 'd>(left: &'v GoValue<'d>, right: &'v GoValue<'d>) -> Result<bool, String> {
    let missing = matches!(left, GoValue::Nil("")) || matches!(right, GoValue::Nil(""));
    match (left, right) {
        (GoValue::Nil(_), GoValue::Nil(_)) => Ok(true),
        // Nothing at all may be compared with everything.
        _ if sort(left) != sort(right) && missing => Ok(false),
        _ if sort(left) != sort(right) => Err(incompatible(left, right)),
        (GoValue::Bool(left), GoValue::Bool(right)) => Ok(left == right),
        (GoValue::Int(left) | GoValue::Long(left), GoValue::Int(right) | GoValue::Long(right)) => {
            Ok(left == right)
        }
        (GoValue::Float(left), GoValue::Float(right)) => {
            Ok(left.partial_cmp(right) == Some(Ordering::Equal))
        }
        (GoValue::Text(left), GoValue::Text(right)) => Ok(left == right),
        (GoValue::Named(one, left), GoValue::Named(other, right)) if one == other => {
            Ok(left == right)
        }
        (GoValue::List(_, items), GoValue::Nil(""))
        | (GoValue::Nil(""), GoValue::List(_, items)) => nothing(items.is_empty()),
        (GoValue::Map(_, map), GoValue::Nil("")) | (GoValue::Nil(""), GoValue::Map(_, map)) => {
            nothing(map.is_empty())
        }
        (GoValue::Nil(_), other) | (other, GoValue::Nil(_))
            if missing || other.kind_name() == "ptr" =>
        {
            Ok(false)
        }
        (GoValue::List(..), GoValue::List(..)) | (GoValue::Map(..), GoValue::Map(..)) => {
            Err(format!("non-comparable type {}: {}", right.print()?, right.type_name()))
        }
        _ => Err(refused(left)),
    }
}

/// Returns whether a list or a map is nil. An empty one may be either.
fn nothing(empty: bool) -> Result<bool, String> {
    if empty {
        return Err("Ichor does not tell what is empty from nil: use `empty`".to_owned());
    }
    Ok(false)
}

fn incompatible(left: &GoValue<'_>, right: &GoValue<'_>) -> String {
    let (left, right) = (left.type_name(), right.type_name());
    format!("incompatible types for comparison: {left} and {right}")
}

fn refused(value: &GoValue<'_>) -> String {
    format!("Ichor does not compare values of type {}", value.type_name())
}

#[cfg(test)]
mod tests {
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn values_are_compared_as_go_does() {
        check(COMPARED);
    }

    const COMPARED: &[(&str, &str)] = &[
        (
            "{{ eq 1 \"1\" }}",
            "ERR 1:3: executing \"template\" at <eq 1 \"1\">: error calling eq: incompatible types for comparison: int and string",
        ),
        (
            "{{ eq 1 1.0 }}",
            "ERR 1:3: executing \"template\" at <eq 1 1.0>: error calling eq: incompatible types for comparison: int and float64",
        ),
        (
            "{{ eq true \"true\" }}",
            "ERR 1:3: executing \"template\" at <eq true \"true\">: error calling eq: incompatible types for comparison: bool and string",
        ),
        (
            "{{ eq \"a\" 1 }}",
            "ERR 1:3: executing \"template\" at <eq \"a\" 1>: error calling eq: incompatible types for comparison: string and int",
        ),
        (
            "{{ eq \"a\" \"a\" }} {{ eq \"a\" \"b\" \"a\" }} {{ eq 1 2 1 }} {{ eq 1 2 }} {{ eq 1.5 1.5 }} {{ eq true true }} {{ eq (add 0 1) 1 }}",
            "true true true false true true true",
        ),
        ("{{ eq nil nil }} {{ eq 1 nil }} {{ eq nil 1 }}", "true false false"),
        (
            "{{ eq .MachineConfig.MachineNodeLabels.none \"a\" }} {{ eq \"a\" .MachineConfig.MachineNodeLabels.none }}",
            "false false",
        ),
        (
            "{{ eq .MachineConfig.MachineNetwork nil }} {{ eq .MachineConfig.MachineInstall nil }} {{ eq .MachineConfig.MachineCertSANs nil }} {{ eq nil .MachineConfig.MachineNodeLabels }}",
            "true false false false",
        ),
        (
            "{{ eq .MachineConfig.MachineNetwork \"a\" }}",
            "ERR 1:3: executing \"template\" at <eq .MachineConfig.MachineNetwork \"a\">: error calling eq: incompatible types for comparison: *v1alpha1.NetworkConfig and string",
        ),
        (
            "{{ eq .MachineConfig.MachineInstall.InstallWipe false }}",
            "ERR 1:3: executing \"template\" at <eq .MachineConfig.MachineInstall.InstallWipe false>: error calling eq: incompatible types for comparison: *bool and bool",
        ),
        (
            "{{ eq .MachineConfig.MachineCertSANs \"a\" }}",
            "ERR 1:3: executing \"template\" at <eq .MachineConfig.MachineCertSANs \"a\">: error calling eq: incompatible types for comparison: []string and string",
        ),
        (
            "{{ eq .MachineConfig.MachineCertSANs .MachineConfig.MachineCertSANs }}",
            "ERR 1:3: executing \"template\" at <eq .MachineConfig.MachineCertSANs .MachineConfig.MachineCertSANs>: error calling eq: non-comparable type [a.lan b.lan]: []string",
        ),
        (
            "{{ eq .MachineConfig.MachineNodeLabels .MachineConfig.MachineNodeLabels }}",
            "ERR 1:3: executing \"template\" at <eq .MachineConfig.MachineNodeLabels .MachineConfig.MachineNodeLabels>: error calling eq: non-comparable type map[one:1 zone:z]: map[string]string",
        ),
        (
            "{{ eq .Machine.Type \"worker\" }}",
            "ERR 1:3: executing \"template\" at <eq .Machine.Type \"worker\">: error calling eq: incompatible types for comparison: machine.Type and string",
        ),
        (
            "{{ eq .Machine.Type .Machine.Type }} {{ eq .MachineConfig.MachineType \"worker\" }}",
            "true true",
        ),
        ("{{ ne 1 2 }} {{ ne \"a\" \"a\" }}", "true false"),
        (
            "{{ ne 1 \"1\" }}",
            "ERR 1:3: executing \"template\" at <ne 1 \"1\">: error calling ne: incompatible types for comparison: int and string",
        ),
        (
            "{{ lt 1 2 }} {{ lt 1.5 2.5 }} {{ lt \"a\" \"b\" }} {{ le 1 1 }} {{ gt 2 1 }} {{ ge 1 1 }} {{ lt 2 1 }} {{ le (add 1 0) 1 }}",
            "true true true true true true false true",
        ),
        ("{{ gt .MachineConfig.MachineFeatures.KubePrismSupport.ServerPort 7000 }}", "true"),
        (
            "{{ lt 1 \"2\" }}",
            "ERR 1:3: executing \"template\" at <lt 1 \"2\">: error calling lt: incompatible types for comparison: int and string",
        ),
        (
            "{{ lt 1 1.5 }}",
            "ERR 1:3: executing \"template\" at <lt 1 1.5>: error calling lt: incompatible types for comparison: int and float64",
        ),
        (
            "{{ gt \"a\" 1 }}",
            "ERR 1:3: executing \"template\" at <gt \"a\" 1>: error calling gt: incompatible types for comparison: string and int",
        ),
        (
            "{{ lt true false }}",
            "ERR 1:3: executing \"template\" at <lt true false>: error calling lt: invalid type for comparison",
        ),
        (
            "{{ ge true true }}",
            "ERR 1:3: executing \"template\" at <ge true true>: error calling ge: invalid type for comparison",
        ),
        (
            "{{ lt nil 1 }}",
            "ERR 1:3: executing \"template\" at <lt nil 1>: error calling lt: invalid type for comparison",
        ),
        (
            "{{ lt 1 nil }}",
            "ERR 1:3: executing \"template\" at <lt 1 nil>: error calling lt: invalid type for comparison",
        ),
        (
            "{{ lt (list) 1 }}",
            "ERR 1:3: executing \"template\" at <lt (list) 1>: error calling lt: invalid type for comparison",
        ),
        ("{{ not 0 }} {{ not nil }} {{ not \"a\" }}", "true true false"),
    ];
}
