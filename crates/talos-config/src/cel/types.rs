//! Types, and which of them fit each other.
//!
//! A type may have parameters whose meaning is found while expressions are checked; [`Bindings`] holds
//! what is known of them. Types can double in size with every step of an expression, so that all work
//! on them is counted and stops at [`MOST_WORK`].

use std::fmt::Write as _;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) enum Type {
    Dyn,
    Any,
    /// The type of what could not be checked; it fits everything.
    Error,
    Null,
    /// A scalar that may also be null is called a wrapper.
    Scalar {
        scalar: Scalar,
        wrapper: bool,
    },
    Duration,
    Timestamp,
    List(Arc<Self>),
    Map(Arc<(Self, Self)>),
    Optional(Arc<Self>),
    /// The type of a type.
    Meta(Option<Arc<Self>>),
    Message(Arc<str>),
    Parameter(Parameter),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Scalar {
    Bool,
    Bytes,
    Double,
    Int,
    String,
    Uint,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Parameter {
    /// As a declaration names it.
    Declared(char),
    /// Made for one use of a declaration, or for the element of an empty list.
    Fresh(usize),
}

impl Type {
    pub(super) const BOOL: Self = Self::scalar(Scalar::Bool);
    pub(super) const BYTES: Self = Self::scalar(Scalar::Bytes);
    pub(super) const DOUBLE: Self = Self::scalar(Scalar::Double);
    pub(super) const INT: Self = Self::scalar(Scalar::Int);
    pub(super) const STRING: Self = Self::scalar(Scalar::String);
    pub(super) const UINT: Self = Self::scalar(Scalar::Uint);

    pub(super) const fn scalar(scalar: Scalar) -> Self {
        Self::Scalar { scalar, wrapper: false }
    }

    pub(super) fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub(super) fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    pub(super) fn type_of(value: Self) -> Self {
        Self::Meta(Some(Arc::new(value)))
    }

    /// The type of messages with this name. Some of them are more than messages.
    pub(super) fn message(name: &str) -> Self {
        let wrapper = |scalar| Self::Scalar { scalar, wrapper: true };
        match name.strip_prefix("google.protobuf.") {
            Some("BoolValue") => wrapper(Scalar::Bool),
            Some("BytesValue") => wrapper(Scalar::Bytes),
            Some("DoubleValue" | "FloatValue") => wrapper(Scalar::Double),
            Some("Int32Value" | "Int64Value") => wrapper(Scalar::Int),
            Some("UInt32Value" | "UInt64Value") => wrapper(Scalar::Uint),
            Some("StringValue") => wrapper(Scalar::String),
            Some("Any") => Self::Any,
            Some("Duration") => Self::Duration,
            Some("Timestamp") => Self::Timestamp,
            Some("ListValue") => Self::list(Self::Dyn),
            Some("NullValue") => Self::Null,
            Some("Struct") => Self::map(Self::STRING, Self::Dyn),
            Some("Value") => Self::Dyn,
            _ => Self::Message(name.into()),
        }
    }

    /// Reads a type as tables write it, such as `map(string, list(A))`. A name that begins with a dot
    /// is one of the package.
    pub(super) fn read(text: &str, package: &str) -> Self {
        let inside = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
        if let Some(element) = inside("list") {
            return Self::list(Self::read(element, package));
        }
        if let Some(value) = inside("optional_type") {
            return Self::optional(Self::read(value, package));
        }
        if let Some(value) = inside("type") {
            return Self::type_of(Self::read(value, package));
        }
        // No table has a map within a key.
        if let Some((key, value)) = inside("map").and_then(|pair| pair.split_once(", ")) {
            return Self::map(Self::read(key, package), Self::read(value, package));
        }
        match text {
            "any" => Self::Any,
            "bool" => Self::BOOL,
            "bytes" => Self::BYTES,
            "double" => Self::DOUBLE,
            "duration" => Self::Duration,
            "dyn" => Self::Dyn,
            "int" => Self::INT,
            "string" => Self::STRING,
            "timestamp" => Self::Timestamp,
            "uint" => Self::UINT,
            _ => match (text.strip_prefix('.'), text.chars().next()) {
                (Some(name), _) => Self::message(&format!("{package}.{name}")),
                (None, Some(letter)) if text.len() == 1 => {
                    Self::Parameter(Parameter::Declared(letter))
                }
                _ => Self::message(text),
            },
        }
    }

    /// Whether any type is taken for it.
    pub(super) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// What an optional holds; every other type is itself.
    pub(super) fn unwrap_optional(&self) -> (Self, bool) {
        match self {
            Self::Optional(value) => (value.as_ref().clone(), true),
            _ => (self.clone(), false),
        }
    }

    /// As errors of the checker write it.
    pub(super) fn shown(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, true);
        out
    }

    /// As the message about the type of the result writes it.
    pub(super) fn declared(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, false);
        out
    }

    fn write(&self, out: &mut String, short: bool) {
        // Longer names help nobody, and some would fill the memory.
        if out.len() > LONGEST_NAME {
            return;
        }
        let nested = |out: &mut String, name: &str, inner: &[&Self]| {
            out.push_str(name);
            for (index, inner) in inner.iter().enumerate() {
                out.push_str(if index == 0 { "(" } else { ", " });
                inner.write(out, short);
            }
            out.push(')');
        };
        match self {
            Self::Dyn => out.push_str("dyn"),
            Self::Any => out.push_str(if short { "any" } else { "google.protobuf.Any" }),
            Self::Error => out.push_str(if short { "!error!" } else { "error" }),
            Self::Null => out.push_str(if short { "null" } else { "null_type" }),
            Self::Scalar { scalar, wrapper } => {
                let name = scalar.name();
                if *wrapper {
                    let _ = write!(out, "wrapper({name})");
                } else {
                    out.push_str(name);
                }
            }
            Self::Duration => {
                out.push_str(if short { "duration" } else { "google.protobuf.Duration" });
            }
            Self::Timestamp => {
                out.push_str(if short { "timestamp" } else { "google.protobuf.Timestamp" });
            }
            Self::List(element) => nested(out, "list", &[element]),
            Self::Map(pair) => nested(out, "map", &[&pair.0, &pair.1]),
            Self::Optional(value) => nested(out, "optional_type", &[value]),
            Self::Meta(None) => out.push_str("type"),
            Self::Meta(Some(value)) => nested(out, "type", &[value]),
            Self::Message(name) => out.push_str(name),
            Self::Parameter(Parameter::Declared(letter)) => out.push(*letter),
            Self::Parameter(Parameter::Fresh(number)) => {
                let _ = write!(out, "_var{number}");
            }
        }
    }
}

impl Scalar {
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Int => "int",
            Self::String => "string",
            Self::Uint => "uint",
        }
    }
}

/// What is known of type parameters.
#[derive(Default)]
pub(super) struct Bindings {
    fresh: Vec<Option<Type>>,
    declared: Vec<(char, Type)>,
    /// What was bound before, in the order of changes, to take them back.
    changes: Vec<(Parameter, Option<Type>)>,
    work: usize,
}

impl Bindings {
    pub(super) fn fresh(&mut self) -> Type {
        self.fresh.push(None);
        Type::Parameter(Parameter::Fresh(self.fresh.len() - 1))
    }

    /// Whether so much was asked that answers are no longer right.
    pub(super) fn exhausted(&self) -> bool {
        self.work > MOST_WORK
    }

    /// Whether one type fits another; if so, parameters are bound as that needs.
    pub(super) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.assign_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    /// Whether all types of a list fit those of another.
    pub(super) fn assign_all(&mut self, from: &[Type], to: &[Type]) -> bool {
        if from.len() != to.len() {
            return false;
        }
        self.changes.clear();
        let fits = from.iter().zip(to).all(|(from, to)| self.assignable(from, to, 0));
        if !fits {
            while let Some((parameter, before)) = self.changes.pop() {
                self.restore(parameter, before);
            }
        }
        fits
    }

    /// A type with everything that is known of its parameters; the others stay or become `dyn`.
    pub(super) fn substitute(&mut self, of: &Type, to_dyn: bool) -> Type {
        self.substitute_at(of, to_dyn, 0)
    }

    /// A type of a declaration with fresh parameters.
    pub(super) fn instantiate(&mut self, of: &Type, with: &mut Vec<(char, Type)>) -> Type {
        match of {
            Type::Parameter(Parameter::Declared(letter)) => {
                if let Some((_, fresh)) = with.iter().find(|(known, _)| known == letter) {
                    return fresh.clone();
                }
                let fresh = self.fresh();
                with.push((*letter, fresh.clone()));
                fresh
            }
            Type::List(element) => Type::list(self.instantiate(element, with)),
            Type::Optional(value) => Type::optional(self.instantiate(value, with)),
            Type::Meta(Some(value)) => Type::type_of(self.instantiate(value, with)),
            Type::Map(pair) => {
                let key = self.instantiate(&pair.0, with);
                Type::map(key, self.instantiate(&pair.1, with))
            }
            _ => of.clone(),
        }
    }

    /// The more general of two types that fit each other.
    pub(super) fn most_general(&mut self, left: &Type, right: &Type) -> Type {
        if self.equal_or_less_specific(left, right, 0) { left.clone() } else { right.clone() }
    }

    /// Whether two types are the same, wrappers or not.
    pub(super) fn exact(&mut self, left: &Type, right: &Type) -> bool {
        self.exact_at(left, right, 0)
    }

    fn assignable(&mut self, from: &Type, to: &Type, depth: usize) -> bool {
        if self.tired(depth) {
            return true;
        }
        if let Type::Parameter(parameter) = to {
            match self.bind(from, to, *parameter, depth) {
                (true, _) => return true,
                (false, true) => return false,
                (false, false) => {}
            }
        }
        if let Type::Parameter(parameter) = from {
            return self.bind(to, from, *parameter, depth).0;
        }
        if from.is_dyn_or_error() || to.is_dyn_or_error() {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => matches!(
                other,
                Type::Null
                    | Type::Optional(_)
                    | Type::Message(_)
                    | Type::Duration
                    | Type::Timestamp
                    | Type::Scalar { wrapper: true, .. }
            ),
            (Type::Scalar { scalar: from, .. }, Type::Scalar { scalar: to, .. }) => from == to,
            (Type::Duration, Type::Duration)
            | (Type::Timestamp, Type::Timestamp)
            | (Type::Meta(_), Type::Meta(_)) => true,
            (Type::Message(from), Type::Message(to)) => from == to,
            (Type::List(from), Type::List(to)) | (Type::Optional(from), Type::Optional(to)) => {
                self.assignable(from, to, depth + 1)
            }
            (Type::Map(from), Type::Map(to)) => {
                self.assignable(&from.0, &to.0, depth + 1)
                    && self.assignable(&from.1, &to.1, depth + 1)
            }
            _ => false,
        }
    }

    /// Whether a parameter can mean a type, and whether it already meant one.
    fn bind(
        &mut self,
        to: &Type,
        parameter_type: &Type,
        parameter: Parameter,
        depth: usize,
    ) -> (bool, bool) {
        if self.exact_at(to, parameter_type, depth + 1) {
            return (true, true);
        }
        if let Some(bound) = self.get(parameter) {
            if self.exact_at(to, &bound, depth + 1) {
                return (true, true);
            }
            if !self.assignable(to, &bound, depth + 1) {
                return (false, true);
            }
            let general = self.most_general(to, &bound);
            if !self.occurs(parameter, &general, depth + 1) {
                self.set(parameter, general);
            }
            return (true, true);
        }
        if self.occurs(parameter, to, depth + 1) {
            return (false, false);
        }
        self.set(parameter, to.clone());
        (true, false)
    }

    fn occurs(&mut self, parameter: Parameter, within: &Type, depth: usize) -> bool {
        if self.tired(depth) {
            return true;
        }
        match within {
            Type::Parameter(other) if *other == parameter => true,
            Type::Parameter(other) => {
                self.get(*other).is_some_and(|bound| self.occurs(parameter, &bound, depth + 1))
            }
            Type::List(inner) | Type::Optional(inner) | Type::Meta(Some(inner)) => {
                self.occurs(parameter, inner, depth + 1)
            }
            Type::Map(pair) => {
                self.occurs(parameter, &pair.0, depth + 1)
                    || self.occurs(parameter, &pair.1, depth + 1)
            }
            _ => false,
        }
    }

    fn equal_or_less_specific(&mut self, left: &Type, right: &Type, depth: usize) -> bool {
        if self.tired(depth) || left.is_dyn() || matches!(left, Type::Parameter(_)) {
            return true;
        }
        if right.is_dyn() || matches!(right, Type::Parameter(_)) {
            return false;
        }
        match (left, right) {
            (Type::List(left), Type::List(right))
            | (Type::Optional(left), Type::Optional(right)) => {
                self.equal_or_less_specific(left, right, depth + 1)
            }
            (Type::Map(left), Type::Map(right)) => {
                self.equal_or_less_specific(&left.0, &right.0, depth + 1)
                    && self.equal_or_less_specific(&left.1, &right.1, depth + 1)
            }
            (Type::Meta(_), Type::Meta(_)) => true,
            _ => self.exact_at(left, right, depth + 1),
        }
    }

    fn exact_at(&mut self, left: &Type, right: &Type, depth: usize) -> bool {
        if self.tired(depth) {
            return true;
        }
        match (left, right) {
            (Type::Dyn, Type::Dyn)
            | (Type::Any, Type::Any)
            | (Type::Error, Type::Error)
            | (Type::Null, Type::Null)
            | (Type::Duration, Type::Duration)
            | (Type::Timestamp, Type::Timestamp)
            | (Type::Meta(None), Type::Meta(None)) => true,
            (Type::Scalar { scalar: left, .. }, Type::Scalar { scalar: right, .. }) => {
                left == right
            }
            (Type::Message(left), Type::Message(right)) => left == right,
            (Type::Parameter(left), Type::Parameter(right)) => left == right,
            (Type::List(left), Type::List(right))
            | (Type::Optional(left), Type::Optional(right))
            | (Type::Meta(Some(left)), Type::Meta(Some(right))) => {
                Arc::ptr_eq(left, right) || self.exact_at(left, right, depth + 1)
            }
            (Type::Map(left), Type::Map(right)) => {
                Arc::ptr_eq(left, right)
                    || (self.exact_at(&left.0, &right.0, depth + 1)
                        && self.exact_at(&left.1, &right.1, depth + 1))
            }
            _ => false,
        }
    }

    fn substitute_at(&mut self, of: &Type, to_dyn: bool, depth: usize) -> Type {
        if self.tired(depth) {
            return Type::Error;
        }
        match of {
            Type::Parameter(parameter) => match self.get(*parameter) {
                Some(bound) => self.substitute_at(&bound, to_dyn, depth + 1),
                None if to_dyn => Type::Dyn,
                None => of.clone(),
            },
            Type::List(element) => Type::list(self.substitute_at(element, to_dyn, depth + 1)),
            Type::Optional(value) => Type::optional(self.substitute_at(value, to_dyn, depth + 1)),
            Type::Meta(Some(value)) => Type::type_of(self.substitute_at(value, to_dyn, depth + 1)),
            Type::Map(pair) => {
                let key = self.substitute_at(&pair.0, to_dyn, depth + 1);
                Type::map(key, self.substitute_at(&pair.1, to_dyn, depth + 1))
            }
            _ => of.clone(),
        }
    }

    /// Counts a step; true when there were too many or they go too deep.
    fn tired(&mut self, depth: usize) -> bool {
        self.work = if depth > DEEPEST { usize::MAX } else { self.work.saturating_add(1) };
        self.exhausted()
    }

    fn get(&self, parameter: Parameter) -> Option<Type> {
        match parameter {
            Parameter::Fresh(number) => self.fresh.get(number).cloned().flatten(),
            Parameter::Declared(letter) => {
                self.declared.iter().find(|(known, _)| *known == letter).map(|(_, of)| of.clone())
            }
        }
    }

    fn set(&mut self, parameter: Parameter, to: Type) {
        let before = self.get(parameter);
        self.changes.push((parameter, before));
        self.restore(parameter, Some(to));
    }

    fn restore(&mut self, parameter: Parameter, to: Option<Type>) {
        match parameter {
            Parameter::Fresh(number) => self.fresh[number] = to,
            Parameter::Declared(letter) => {
                self.declared.retain(|(known, _)| *known != letter);
                self.declared.extend(to.map(|to| (letter, to)));
            }
        }
    }
}

/// Steps after which checking stops, about a second of them. The reference has no such limit and needs
/// hours or all memory where this matters; what people write needs some hundreds.
const MOST_WORK: usize = 20_000_000;

/// Types in types. The depth of an expression bounds it unless parameters are bound to each other in
/// long chains, and then this keeps the stack small.
const DEEPEST: usize = 1000;

/// Bytes of a name of a type, more or less.
const LONGEST_NAME: usize = 100_000;
