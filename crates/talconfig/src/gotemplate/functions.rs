//! The functions that templates may call: Go's own, and those of the library that talhelper adds.
//!
//! In: the name of a function and its arguments, which are as many and of such types as its signature says. Out: a
//! value, or why there is none, in Go's words where Go refuses it too. What Ichor cannot do as Go does is refused.

mod builtins;
mod compare;
mod date;
mod format;
mod lists;
mod names;
mod numbers;
mod strings;

use std::collections::BTreeMap;

use talos_config::rules::quoted;
use talos_config::yaml::Limits;

use super::TemplateContext;
use super::value::{ANY, GoValue, OPAQUE};
pub(super) use numbers::truncated;

/// The type of a parameter.
#[derive(Clone, Copy)]
pub(super) enum ParameterType {
    Text,
    Int,
    Bool,
    /// A map of anything.
    Map,
    Any,
    /// Anything, and all that is asked of it is whether it is true.
    Truth,
}

impl ParameterType {
    /// Converts an argument, if the type allows it.
    pub(super) fn take(self, value: GoValue<'_>) -> Result<GoValue<'_>, String> {
        match (self, value) {
            (Self::Truth, value) => Ok(value),
            (_, GoValue::Opaque(_)) => Err(OPAQUE.to_owned()),
            (Self::Any, value)
            | (Self::Text, value @ GoValue::Text(_))
            | (Self::Int, value @ GoValue::Int(_))
            | (Self::Bool, value @ GoValue::Bool(_))
            | (Self::Map, value @ GoValue::Map(ANY, _)) => Ok(value),
            (Self::Map, GoValue::Nil("")) => self.nothing(),
            // Go dereferences one pointer.
            (Self::Bool, GoValue::Flag(value)) => Ok(GoValue::Bool(value)),
            (Self::Bool, GoValue::Nil("bool")) => {
                Err("dereference of nil pointer of type bool".to_owned())
            }
            (_, GoValue::Nil("")) => Err(format!("invalid value; expected {}", self.name())),
            (_, value) => {
                let (wanted, found) = (self.name(), value.type_name());
                Err(format!("wrong type for value; expected {wanted}; got {found}"))
            }
        }
    }

    /// Converts the constant `nil`.
    pub(super) fn nothing<'d>(self) -> Result<GoValue<'d>, String> {
        match self {
            Self::Any | Self::Truth => Ok(GoValue::Nil("")),
            Self::Map => Ok(GoValue::Map(ANY, BTreeMap::new())),
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

/// The types of a function's parameters, and of variadic ones.
#[derive(Clone, Copy)]
pub(super) struct Signature {
    fixed: &'static [ParameterType],
    more: Option<ParameterType>,
}

impl Signature {
    /// Checks the number of arguments: the written ones, and perhaps the result of the previous
    /// command.
    pub(super) fn check(self, name: &str, written: usize, piped: bool) -> Result<(), String> {
        let (want, got) = (self.fixed.len(), written + usize::from(piped));
        match self.more {
            // Go leaves the piped argument out of this count.
            Some(_) if got < want => {
                Err(format!("wrong number of args for {name}: want at least {want} got {written}"))
            }
            None if got != want => {
                Err(format!("wrong number of args for {name}: want {want} got {got}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the type of an argument.
    pub(super) fn parameter(self, index: usize) -> ParameterType {
        self.fixed.get(index).copied().or(self.more).unwrap_or(ParameterType::Any)
    }
}

/// Returns the signature of a function, or the error that it does not exist.
pub(super) fn find(name: &str, sprig: bool) -> Result<Signature, String> {
    let added: &[_] = if sprig { names::SPRIG } else { &[] };
    let found = names::BUILTINS.iter().chain(added).find(|(known, _, _)| *known == name);
    if let Some(&(_, fixed, more)) = found {
        return Ok(Signature { fixed, more });
    }
    let among = |all: &str| all.split_whitespace().any(|known| known == name);
    let name = quoted(name);
    if sprig && among(names::ALL_SPRIG) {
        return Err(format!("function {name} is one of sprig's that Ichor does not have"));
    }
    if among(names::ALL_BUILTINS) {
        return Err(format!("function {name} is one of Go's that Ichor does not have"));
    }
    Err(format!("function {name} not defined"))
}

/// Calls a function with arguments that its signature allows.
pub(super) fn call<'d>(
    name: &str,
    arguments: &[GoValue<'d>],
    context: &TemplateContext<'_>,
) -> Result<GoValue<'d>, String> {
    let arguments = Arguments(arguments);
    if let Some(value) = builtins::call(name, &arguments)? {
        return Ok(value);
    }
    if let Some(value) = strings::call(name, &arguments)? {
        return Ok(value);
    }
    if let Some(value) = lists::call(name, &arguments)? {
        return Ok(value);
    }
    if let Some(value) = numbers::call(name, &arguments)? {
        return Ok(value);
    }
    others(name, &arguments, context)
}

/// The arguments of a call.
struct Arguments<'a, 'd>(&'a [GoValue<'d>]);

impl<'a, 'd> Arguments<'a, 'd> {
    /// Returns the text of a text argument.
    fn text(&self, index: usize) -> &'a str {
        match self.0.get(index) {
            Some(GoValue::Text(text)) => text.as_str(),
            _ => "",
        }
    }

    /// Returns the number of an integer argument.
    fn number(&self, index: usize) -> i64 {
        match self.0.get(index) {
            Some(GoValue::Int(number)) => *number,
            _ => 0,
        }
    }

    fn value(&self, index: usize) -> GoValue<'d> {
        self.0.get(index).cloned().unwrap_or(GoValue::Nil(""))
    }
}

/// Defaults, variables and the time.
fn others<'d>(
    name: &str,
    arguments: &Arguments<'_, 'd>,
    context: &TemplateContext<'_>,
) -> Result<GoValue<'d>, String> {
    let values = arguments.0;
    Ok(match name {
        "default" => {
            let given = values.get(1).filter(|value| value.truth());
            given.cloned().unwrap_or_else(|| arguments.value(0))
        }
        "empty" => GoValue::Bool(!arguments.value(0).truth()),
        "coalesce" => {
            values.iter().find(|value| value.truth()).cloned().unwrap_or(GoValue::Nil(""))
        }
        "ternary" => arguments.value(usize::from(!arguments.value(2).truth())),
        "env" => GoValue::text(context.environment.get(arguments.text(0)).unwrap_or_default()),
        "now" => GoValue::Time(context.now),
        "date" => {
            let seconds = match arguments.value(1) {
                GoValue::Int(seconds) | GoValue::Long(seconds) | GoValue::Time(seconds) => seconds,
                // Anything else is now.
                _ => context.now,
            };
            GoValue::Text(date::written(arguments.text(0), seconds)?)
        }
        _ => return Err("Ichor does not have it".to_owned()),
    })
}

/// Far more than a configuration can use, and little enough to be harmless.
pub(super) const MOST: i64 = 100_000;

/// Refuses a text that would be longer than any file may be.
fn check_length(length: usize) -> Result<(), String> {
    let most = Limits::default().bytes;
    if length > most {
        return Err(format!("Ichor does not make more than {most} bytes of it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::door::environment::Environment;

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
        let context = TemplateContext { environment: &environment, now: 0, sprig: true };
        let named = |all: &str, name: &str| all.split_whitespace().any(|known| known == name);
        for (name, fixed, _) in names::BUILTINS {
            assert!(named(names::ALL_BUILTINS, name) && !named(names::ALL_SPRIG, name), "{name}");
            is_there(name, fixed, &context);
        }
        for (name, fixed, _) in names::SPRIG {
            assert!(named(names::ALL_SPRIG, name), "{name}");
            is_there(name, fixed, &context);
        }
    }

    fn is_there(name: &str, fixed: &[ParameterType], context: &TemplateContext<'_>) {
        // These are called elsewhere, since they do not look at all of their arguments.
        if matches!(name, "and" | "or") {
            return;
        }
        let given = fixed.iter().map(|wanted| match wanted {
            ParameterType::Text => GoValue::text("x"),
            ParameterType::Int | ParameterType::Any | ParameterType::Truth => GoValue::Int(1),
            ParameterType::Bool => GoValue::Bool(true),
            ParameterType::Map => GoValue::Map(ANY, BTreeMap::new()),
        });
        let given: Vec<GoValue<'_>> = given.collect();
        let problem = call(name, &given, context).err().unwrap_or_default();
        assert!(!problem.contains("Ichor"), "{name}: {problem}");
    }
}
