//! The functions that templates may call: Go's own, and those of the library that talhelper adds.
//!
//! In: the name of a function and its arguments, which are as many and of such types as its signature says. Out: a
//! value, or why there is none, in Go's words where Go refuses it too. What Ichor cannot do as Go does is refused.

mod compare;
mod date;
mod format;
mod lists;
mod names;
mod numbers;
mod own;
mod texts;

use std::collections::BTreeMap;

use talos_config::rules::quoted;

use super::Surroundings;
use super::value::{ANY, Go, OPAQUE};
pub(super) use numbers::truncated;

/// The type of a parameter.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Text,
    Int,
    Bool,
    /// A map of anything.
    Map,
    Any,
    /// Anything, and all that is asked of it is whether it is true.
    Truth,
}

impl Type {
    /// A value in its place, if it has the type.
    pub(super) fn take(self, value: Go<'_>) -> Result<Go<'_>, String> {
        match (self, value) {
            (Self::Truth, value) => Ok(value),
            (_, Go::Opaque(_)) => Err(OPAQUE.to_owned()),
            (Self::Any, value)
            | (Self::Text, value @ Go::Text(_))
            | (Self::Int, value @ Go::Int(_))
            | (Self::Bool, value @ Go::Bool(_))
            | (Self::Map, value @ Go::Map(ANY, _)) => Ok(value),
            (Self::Map, Go::Nil("")) => self.nothing(),
            // Go looks behind one pointer.
            (Self::Bool, Go::Flag(value)) => Ok(Go::Bool(value)),
            (Self::Bool, Go::Nil("bool")) => {
                Err("dereference of nil pointer of type bool".to_owned())
            }
            (_, Go::Nil("")) => Err(format!("invalid value; expected {}", self.name())),
            (_, value) => {
                let (wanted, found) = (self.name(), value.type_name());
                Err(format!("wrong type for value; expected {wanted}; got {found}"))
            }
        }
    }

    /// The constant `nil` in its place.
    pub(super) fn nothing<'d>(self) -> Result<Go<'d>, String> {
        match self {
            Self::Any | Self::Truth => Ok(Go::Nil("")),
            Self::Map => Ok(Go::Map(ANY, BTreeMap::new())),
            Self::Text | Self::Int | Self::Bool => {
                Err(format!("cannot assign nil to {}", self.name()))
            }
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Int => "int",
            Self::Bool => "bool",
            Self::Map => "map[string]interface {}",
            Self::Any | Self::Truth => ANY,
        }
    }
}

/// What a function is given: the types of its parameters, and of those that may follow them.
#[derive(Clone, Copy)]
pub(super) struct Signature {
    fixed: &'static [Type],
    more: Option<Type>,
}

impl Signature {
    /// Whether there are as many arguments as there should be: those that are written, and perhaps the result of the
    /// command before.
    pub(super) fn check(self, name: &str, written: usize, piped: bool) -> Result<(), String> {
        let (want, got) = (self.fixed.len(), written + usize::from(piped));
        match self.more {
            // So Go counts here: what comes from the command before is left out.
            Some(_) if got < want => {
                Err(format!("wrong number of args for {name}: want at least {want} got {written}"))
            }
            None if got != want => {
                Err(format!("wrong number of args for {name}: want {want} got {got}"))
            }
            _ => Ok(()),
        }
    }

    /// The type of an argument.
    pub(super) fn parameter(self, index: usize) -> Type {
        self.fixed.get(index).copied().or(self.more).unwrap_or(Type::Any)
    }
}

/// The signature of a function, or that there is none of its name.
pub(super) fn find(name: &str, sprig: bool) -> Result<Signature, String> {
    let added: &[_] = if sprig { names::ADDED } else { &[] };
    let found = names::OWN.iter().chain(added).find(|(known, _, _)| *known == name);
    if let Some(&(_, fixed, more)) = found {
        return Ok(Signature { fixed, more });
    }
    let among = |all: &str| all.split_whitespace().any(|known| known == name);
    let name = quoted(name);
    if sprig && among(names::ALL_ADDED) {
        return Err(format!("function {name} is one of sprig's that Ichor does not have"));
    }
    if among(names::ALL_OWN) {
        return Err(format!("function {name} is one of Go's that Ichor does not have"));
    }
    Err(format!("function {name} not defined"))
}

/// Calls a function with arguments that its signature allows.
pub(super) fn call<'d>(
    name: &str,
    arguments: &[Go<'d>],
    surroundings: &Surroundings<'_>,
) -> Result<Go<'d>, String> {
    let arguments = Arguments(arguments);
    if let Some(value) = own::call(name, &arguments)? {
        return Ok(value);
    }
    if let Some(value) = texts::call(name, &arguments)? {
        return Ok(value);
    }
    if let Some(value) = lists::call(name, &arguments)? {
        return Ok(value);
    }
    if let Some(value) = numbers::call(name, &arguments)? {
        return Ok(value);
    }
    others(name, &arguments, surroundings)
}

/// What a function is given.
struct Arguments<'a, 'd>(&'a [Go<'d>]);

impl<'a, 'd> Arguments<'a, 'd> {
    /// The text of a parameter whose type it is.
    fn text(&self, index: usize) -> &'a str {
        match self.0.get(index) {
            Some(Go::Text(text)) => text.as_str(),
            _ => "",
        }
    }

    /// The number of a parameter whose type it is.
    fn number(&self, index: usize) -> i64 {
        match self.0.get(index) {
            Some(Go::Int(number)) => *number,
            _ => 0,
        }
    }

    fn value(&self, index: usize) -> Go<'d> {
        self.0.get(index).cloned().unwrap_or(Go::Nil(""))
    }
}

/// Defaults, variables and the time.
fn others<'d>(
    name: &str,
    arguments: &Arguments<'_, 'd>,
    surroundings: &Surroundings<'_>,
) -> Result<Go<'d>, String> {
    let values = arguments.0;
    Ok(match name {
        "default" => {
            let given = values.get(1).filter(|value| value.truth());
            given.cloned().unwrap_or_else(|| arguments.value(0))
        }
        "empty" => Go::Bool(!arguments.value(0).truth()),
        "coalesce" => values.iter().find(|value| value.truth()).cloned().unwrap_or(Go::Nil("")),
        "ternary" => arguments.value(usize::from(!arguments.value(2).truth())),
        "env" => Go::text(surroundings.environment.get(arguments.text(0)).unwrap_or_default()),
        "now" => Go::Time(surroundings.now),
        "date" => {
            let seconds = match arguments.value(1) {
                Go::Int(seconds) | Go::Long(seconds) | Go::Time(seconds) => seconds,
                // Anything else is now.
                _ => surroundings.now,
            };
            Go::Text(date::written(arguments.text(0), seconds)?)
        }
        _ => return Err("Ichor does not have it".to_owned()),
    })
}

/// Far more than a configuration can use, and little enough to be harmless.
pub(super) const MOST: i64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;

    #[test]
    fn a_function_that_is_missing_is_told_from_one_that_nobody_has() {
        let told = |name: &str, sprig: bool| find(name, sprig).err().unwrap_or_default();
        assert_eq!(told("upper", true), "");
        assert_eq!(told("upper", false), "function \"upper\" not defined");
        assert_eq!(told("toYaml", true), "function \"toYaml\" not defined");
        let urlquery = "function \"urlquery\" is one of Go's that Ichor does not have";
        assert_eq!(told("urlquery", true), urlquery);
        assert_eq!(told("urlquery", false), urlquery);
        let substr = "function \"substr\" is one of sprig's that Ichor does not have";
        assert_eq!(told("substr", true), substr);
        // Both have one of this name, and the later one counts.
        let whose = |sprig: bool| told("slice", sprig).contains("sprig");
        assert_eq!((whose(true), whose(false)), (true, false));
    }

    #[test]
    fn every_function_that_is_named_is_there() {
        let environment = Environment::default();
        let surroundings = Surroundings { environment: &environment, now: 0, sprig: true };
        let named = |all: &str, name: &str| all.split_whitespace().any(|known| known == name);
        for (name, fixed, _) in names::OWN {
            assert!(named(names::ALL_OWN, name) && !named(names::ALL_ADDED, name), "{name}");
            is_there(name, fixed, &surroundings);
        }
        for (name, fixed, _) in names::ADDED {
            assert!(named(names::ALL_ADDED, name), "{name}");
            is_there(name, fixed, &surroundings);
        }
    }

    fn is_there(name: &str, fixed: &[Type], surroundings: &Surroundings<'_>) {
        // These are called elsewhere, since they do not look at all of their arguments.
        if matches!(name, "and" | "or") {
            return;
        }
        let given = fixed.iter().map(|wanted| match wanted {
            Type::Text => Go::text("x"),
            Type::Int | Type::Any | Type::Truth => Go::Int(1),
            Type::Bool => Go::Bool(true),
            Type::Map => Go::Map(ANY, BTreeMap::new()),
        });
        let given: Vec<Go<'_>> = given.collect();
        let problem = call(name, &given, surroundings).err().unwrap_or_default();
        assert!(!problem.contains("Ichor"), "{name}: {problem}");
    }
}
