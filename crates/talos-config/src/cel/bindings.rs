//! Assignability of types.
//!
//! A type may have parameters whose meaning is found while expressions are checked; [`Bindings`] holds
//! what is known of them. Types can double in size with every step of an expression, so that all work
//! on them is counted and stops at [`MOST_WORK`].

use std::sync::Arc;

use super::types::{Parameter, Type};

/// The bindings of type parameters.
#[derive(Default)]
pub(super) struct Bindings {
    fresh: Vec<Option<Type>>,
    declared: Vec<(char, Type)>,
    /// The earlier bindings, in the order of changes, to take them back.
    changes: Vec<(Parameter, Option<Type>)>,
    work: usize,
}

impl Bindings {
    pub(super) fn fresh(&mut self) -> Type {
        self.fresh.push(None);
        Type::Parameter(Parameter::Fresh(self.fresh.len() - 1))
    }

    /// Returns whether so much was asked that answers are no longer right.
    pub(super) fn exhausted(&self) -> bool {
        self.work > MOST_WORK
    }

    /// Returns whether one type fits another; if so, parameters are bound as that needs.
    pub(super) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.assign_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    /// Returns whether all types of a list fit those of another.
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

    /// Returns a type with everything that is known of its parameters; the others stay or become `dyn`.
    pub(super) fn substitute(&mut self, of: &Type, to_dyn: bool) -> Type {
        self.substitute_at(of, to_dyn, 0)
    }

    /// Returns a type of a declaration with fresh parameters.
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

    /// Returns the more general of two types that fit each other.
    pub(super) fn most_general(&mut self, left: &Type, right: &Type) -> Type {
        if self.equal_or_less_specific(left, right, 0) { left.clone() } else { right.clone() }
    }

    /// Returns whether two types are the same, wrappers or not.
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

    /// Returns whether a parameter can mean a type, and whether it already meant one.
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
