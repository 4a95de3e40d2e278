//! A tree to the type of its result.
//!
//! Always holds: what is wrong in one place does not hide what is wrong in another, because the type
//! of the first becomes one that fits everything.

use super::bindings::Bindings;
use super::environment::Environment;
use super::library::Overload;
use super::source::{Errors, Position};
use super::syntax::{Comprehension, Element, Entry, Field, Id, Kind, Literal, Name, Tree};
use super::types::{Scalar, Type};

/// The type of the result; errors are reported. Nothing when the types are too large to say.
pub(super) fn check(
    tree: &Tree,
    root: Id,
    environment: Environment,
    errors: &mut Errors,
) -> Option<Type> {
    let mut checker = Checker {
        tree,
        environment,
        errors,
        bindings: Bindings::default(),
        scopes: Vec::new(),
        mixed_numbers: false,
    };
    let result = checker.check(root);
    let result = checker.bindings.substitute(&result, true);
    (!checker.bindings.exhausted()).then_some(result)
}

struct Checker<'a> {
    tree: &'a Tree,
    environment: Environment,
    errors: &'a mut Errors,
    bindings: Bindings,
    /// The variables of macros, the innermost last.
    scopes: Vec<(&'a Name, Type)>,
    /// Whether numbers of different types can be compared. They cannot, except that the reference
    /// forgets about it at the first macro that declares a variable.
    mixed_numbers: bool,
}

impl<'a> Checker<'a> {
    fn check(&mut self, id: Id) -> Type {
        // Types that grow without end are not worth going on.
        if self.bindings.exhausted() {
            return Type::Error;
        }
        let tree = self.tree;
        let node = tree.get(id);
        match &node.kind {
            Kind::Invalid => Type::Error,
            Kind::Literal(literal) => of_literal(*literal),
            Kind::Name(name) => self.name(name, node.at),
            Kind::Select { operand, field, test } => {
                self.select(id, *operand, field, *test, node.at)
            }
            Kind::OptionalSelect { operand, field } => {
                let result = self.field(*operand, field, true, node.at);
                self.bindings.substitute(&result, false)
            }
            Kind::Call { function, target, arguments } => {
                self.call(function, *target, arguments, node.at)
            }
            Kind::List(elements) => self.list(elements),
            Kind::Map(entries) => self.map(entries),
            Kind::Message { name, fields } => self.message(name, fields, node.at),
            Kind::Comprehension(comprehension) => self.comprehension(comprehension),
        }
    }

    fn name(&mut self, name: &Name, at: usize) -> Type {
        if !name.rooted
            && let Some(local) = self.local(&name.text)
        {
            return local;
        }
        match self.environment.name(&name.text) {
            Some(of) => of,
            None => self.undeclared(&name.written(), at),
        }
    }

    fn local(&self, name: &str) -> Option<Type> {
        let found = self.scopes.iter().rev().find(|(own, _)| !own.rooted && own.text == name);
        found.map(|(_, of)| of.clone())
    }

    fn select(&mut self, id: Id, operand: Id, field: &str, test: bool, at: usize) -> Type {
        if let Some(name) = self.tree.qualified(id) {
            let first = name.text.split('.').next().unwrap_or_default();
            let local = !name.rooted && self.local(first).is_some();
            if !local && let Some(of) = self.environment.name(&name.text) {
                return of;
            }
        }
        let result = self.field(operand, field, false, at);
        if test { Type::BOOL } else { self.bindings.substitute(&result, false) }
    }

    fn field(&mut self, operand: Id, field: &str, optional: bool, at: usize) -> Type {
        let operand = self.check(operand);
        let operand = self.bindings.substitute(&operand, false);
        let (of, was_optional) = operand.unwrap_optional();
        let result = match &of {
            Type::Map(pair) => pair.1.clone(),
            Type::Message(message) => self.message_field(message, field, at),
            Type::Parameter(_) => {
                self.bindings.assign(&Type::Dyn, &of);
                Type::Dyn
            }
            Type::Dyn | Type::Any | Type::Error => Type::Dyn,
            _ => {
                let message = format!("type '{}' does not support field selection", of.shown());
                self.errors.report(Position::At(at), message);
                Type::Dyn
            }
        };
        if optional || was_optional { Type::optional(result) } else { result }
    }

    fn message_field(&mut self, message: &str, field: &str, at: usize) -> Type {
        if let Some(of) = self.environment.field(message, field) {
            return of;
        }
        let problem = if self.environment.has_message(message) {
            format!("undefined field '{field}'")
        } else {
            format!("unexpected failed resolution of '{message}'")
        };
        self.errors.report(Position::At(at), problem);
        Type::Error
    }

    fn call(&mut self, function: &Name, target: Option<Id>, arguments: &[Id], at: usize) -> Type {
        let mut types: Vec<Type> = Vec::with_capacity(arguments.len() + 1);
        for argument in arguments {
            types.push(self.check(*argument));
        }
        if let Some(target) = target {
            // `a.b.c()` may be the function `a.b.c`.
            if let Some(prefix) = self.tree.qualified(target) {
                let name = format!("{}.{}", prefix.text, function.text);
                if let Some(overloads) = self.environment.function(&name) {
                    return self.resolve(&name, overloads, &types, arguments, false, at);
                }
            }
            types.insert(0, self.check(target));
        }
        match self.environment.function(&function.text) {
            Some(overloads) => {
                self.resolve(&function.text, overloads, &types, arguments, target.is_some(), at)
            }
            None => self.undeclared(&function.written(), at),
        }
    }

    fn resolve(
        &mut self,
        name: &str,
        overloads: &[Overload],
        types: &[Type],
        arguments: &[Id],
        member: bool,
        at: usize,
    ) -> Type {
        if matches!(name, "_&&_" | "_||_") {
            return self.logical(types, arguments);
        }
        let mut result: Option<Type> = None;
        for overload in overloads {
            let hidden = !self.mixed_numbers && overload.mixes_numbers();
            if hidden || overload.member != member {
                continue;
            }
            let mut fresh = Vec::new();
            let candidate: Vec<Type> = overload
                .arguments
                .iter()
                .map(|argument| self.bindings.instantiate(argument, &mut fresh))
                .collect();
            let of = self.bindings.instantiate(&overload.result, &mut fresh);
            if !self.bindings.assign_all(types, &candidate) {
                continue;
            }
            let of = self.bindings.substitute(&of, false);
            // Several that fit decide nothing, unless they agree about the result.
            result = Some(match result {
                None => of,
                Some(before) => {
                    if before.is_dyn() || self.bindings.exact(&of, &before) {
                        before
                    } else {
                        Type::Dyn
                    }
                }
            });
        }
        result.unwrap_or_else(|| {
            let mut shown = types
                .iter()
                .map(|of| self.bindings.substitute(of, true).shown())
                .collect::<Vec<String>>();
            let target = if member { format!("{}.", shown.remove(0)) } else { String::new() };
            let message = format!(
                "found no matching overload for '{name}' applied to '{target}({})'",
                shown.join(", ")
            );
            self.errors.report(Position::At(at), message);
            Type::Error
        })
    }

    /// `&&` and `||` say which of their sides is wrong.
    fn logical(&mut self, types: &[Type], arguments: &[Id]) -> Type {
        let mut result = Type::BOOL;
        for (of, argument) in types.iter().zip(arguments) {
            if !self.bindings.assign(of, &Type::BOOL) {
                self.mismatch(self.tree.get(*argument).at, &Type::BOOL, of);
                result = Type::Error;
            }
        }
        result
    }

    fn list(&mut self, elements: &[Element]) -> Type {
        let mut joined = None;
        for Element { value, optional } in elements {
            let mut of = self.check(*value);
            if *optional {
                of = self.unwrapped(*value, &of);
            }
            joined = Some(self.join(joined, of));
        }
        Type::list(joined.unwrap_or_else(|| self.bindings.fresh()))
    }

    fn map(&mut self, entries: &[Entry]) -> Type {
        let mut joined = None;
        for Entry { key, value, optional } in entries {
            let key_type = self.check(*key);
            let (keys, values) = joined.unzip();
            let keys = self.join(keys, key_type);
            let mut of = self.check(*value);
            if *optional {
                of = self.unwrapped(*value, &of);
            }
            joined = Some((keys, self.join(values, of)));
        }
        let (key, value) = joined.unwrap_or_else(|| (self.bindings.fresh(), self.bindings.fresh()));
        Type::map(key, value)
    }

    /// What an optional entry holds.
    fn unwrapped(&mut self, value: Id, of: &Type) -> Type {
        let (inner, is_optional) = of.unwrap_optional();
        if !is_optional && !inner.is_dyn() {
            let wanted = Type::optional(inner.clone());
            self.mismatch(self.tree.get(value).at, &wanted, &inner);
        }
        inner
    }

    /// The type of elements of both types.
    fn join(&mut self, before: Option<Type>, of: Type) -> Type {
        let Some(before) = before else { return of };
        if self.bindings.assign(&before, &of) {
            self.bindings.most_general(&before, &of)
        } else {
            Type::Dyn
        }
    }

    fn message(&mut self, name: &Name, fields: &[Field], at: usize) -> Type {
        let Some(of) = self.environment.type_named(&name.text) else {
            return self.undeclared(&name.written(), at);
        };
        let (of, message) = match message_name(&of) {
            Some(message) => (of, message),
            None => {
                let message = format!("'{}' is not a message type", bare_name(&of));
                self.errors.report(Position::At(at), message);
                (Type::Error, name.text.clone())
            }
        };
        for Field { at, name, value, optional } in fields {
            let mut value_type = self.check(*value);
            let field = self.message_field(&message, name, *at);
            if *optional {
                value_type = self.unwrapped(*value, &value_type);
            }
            if !self.bindings.assign(&field, &value_type) {
                let message = format!(
                    "expected type of field '{name}' is '{}' but provided type is '{}'",
                    field.shown(),
                    value_type.shown()
                );
                self.errors.report(Position::At(*at), message);
            }
        }
        of
    }

    fn comprehension(&mut self, comprehension: &'a Comprehension) -> Type {
        let Comprehension { range, variable, accumulator, start, condition, step, result } =
            comprehension;
        let range_type = self.check(*range);
        let accumulated = self.check(*start);
        let range_type = self.bindings.substitute(&range_type, false);
        let element = match &range_type {
            Type::List(element) => element.as_ref().clone(),
            Type::Map(pair) => pair.0.clone(),
            Type::Dyn | Type::Error | Type::Parameter(_) => {
                self.bindings.assign(&Type::Dyn, &range_type);
                Type::Dyn
            }
            _ => {
                let message = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    range_type.shown()
                );
                self.errors.report(Position::At(self.tree.get(*range).at), message);
                Type::Error
            }
        };
        self.mixed_numbers = true;
        self.scopes.push((accumulator, accumulated.clone()));
        self.scopes.push((variable, element));
        self.must_be(*condition, &Type::BOOL);
        self.must_be(*step, &accumulated);
        self.scopes.pop();
        let result = self.check(*result);
        self.scopes.pop();
        self.bindings.substitute(&result, false)
    }

    fn must_be(&mut self, id: Id, wanted: &Type) {
        let of = self.check(id);
        if !self.bindings.assign(wanted, &of) {
            self.mismatch(self.tree.get(id).at, wanted, &of);
        }
    }

    fn mismatch(&mut self, at: usize, wanted: &Type, found: &Type) {
        let message = format!("expected type '{}' but found '{}'", wanted.shown(), found.shown());
        self.errors.report(Position::At(at), message);
    }

    fn undeclared(&mut self, name: &str, at: usize) -> Type {
        let message = format!("undeclared reference to '{name}' (in container '')");
        self.errors.report(Position::At(at), message);
        Type::Error
    }
}

fn of_literal(literal: Literal) -> Type {
    match literal {
        Literal::Bool => Type::BOOL,
        Literal::Bytes => Type::BYTES,
        Literal::Double => Type::DOUBLE,
        Literal::Int => Type::INT,
        Literal::Null => Type::Null,
        Literal::String => Type::STRING,
        Literal::Uint => Type::UINT,
    }
}

/// The message whose fields a type has when it is written as a message.
fn message_name(of: &Type) -> Option<String> {
    let known = match of {
        Type::Message(name) => return Some(name.as_ref().to_owned()),
        Type::Any => "Any",
        Type::Duration => "Duration",
        Type::Timestamp => "Timestamp",
        Type::Dyn => "Value",
        Type::Null => "NullValue",
        Type::Scalar { scalar, wrapper: true } => match scalar {
            Scalar::Bool => "BoolValue",
            Scalar::Bytes => "BytesValue",
            Scalar::Double => "DoubleValue",
            Scalar::Int => "Int64Value",
            Scalar::String => "StringValue",
            Scalar::Uint => "UInt64Value",
        },
        Type::List(_) => "ListValue",
        Type::Map(pair) if !pair.0.is_dyn() => "Struct",
        _ => return None,
    };
    Some(format!("google.protobuf.{known}"))
}

/// The name of a type without what it is made of.
fn bare_name(of: &Type) -> String {
    let name = of.declared();
    name.split('(').next().unwrap_or_default().to_owned()
}
