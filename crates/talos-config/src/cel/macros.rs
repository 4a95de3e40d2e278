//! Calls that stand for something else: presence tests and folds.

use super::parse::Parser;
use super::syntax::{Comprehension, Element, Id, Kind, Literal, Name};

/// Makes the nodes that a call at a place stands for.
pub(super) type Expander = fn(&mut Parser<'_>, usize, Option<Id>, &[Id]) -> Id;

/// Returns the macro that a call with this many arguments is, if it is one.
pub(super) fn find(
    name: &str,
    has_target: bool,
    arguments: usize,
    optional_types: bool,
) -> Option<Expander> {
    Some(match (name, has_target, arguments) {
        ("has", false, 1) => has,
        ("all", true, 2) => all,
        ("exists", true, 2) => exists,
        ("exists_one", true, 2) => exists_one,
        ("map", true, 2 | 3) => map,
        ("filter", true, 2) => filter,
        ("optMap", true, 2) if optional_types => optional_map,
        ("optFlatMap", true, 2) if optional_types => optional_flat_map,
        _ => return None,
    })
}

fn has(parser: &mut Parser<'_>, at: usize, _: Option<Id>, arguments: &[Id]) -> Id {
    let argument = parser.tree().get(arguments[0]);
    match &argument.kind {
        // A test of a test is another test of the same.
        Kind::Select { operand, field, test: _ } => {
            let select = Kind::Select { operand: *operand, field: field.clone(), test: true };
            parser.add(at, select)
        }
        _ => {
            let at = argument.at;
            parser.invalid(at, "invalid argument to has() macro")
        }
    }
}

fn all(parser: &mut Parser<'_>, at: usize, target: Option<Id>, arguments: &[Id]) -> Id {
    let variable = match variable(parser, arguments[0], "argument must be a simple name") {
        Ok(variable) => variable,
        Err(invalid) => return invalid,
    };
    let mut make = Make { parser, at };
    let start = make.literal(Literal::Bool);
    let accumulator = make.accumulator();
    let condition = make.call("@not_strictly_false", vec![accumulator]);
    let accumulator = make.accumulator();
    let step = make.call("_&&_", vec![accumulator, arguments[1]]);
    let result = make.accumulator();
    make.fold(target, variable, Fold { start, condition, step, result })
}

fn exists(parser: &mut Parser<'_>, at: usize, target: Option<Id>, arguments: &[Id]) -> Id {
    let variable = match variable(parser, arguments[0], "argument must be a simple name") {
        Ok(variable) => variable,
        Err(invalid) => return invalid,
    };
    let mut make = Make { parser, at };
    let start = make.literal(Literal::Bool);
    let accumulator = make.accumulator();
    let not = make.call("!_", vec![accumulator]);
    let condition = make.call("@not_strictly_false", vec![not]);
    let accumulator = make.accumulator();
    let step = make.call("_||_", vec![accumulator, arguments[1]]);
    let result = make.accumulator();
    make.fold(target, variable, Fold { start, condition, step, result })
}

fn exists_one(parser: &mut Parser<'_>, at: usize, target: Option<Id>, arguments: &[Id]) -> Id {
    let variable = match variable(parser, arguments[0], "argument must be a simple name") {
        Ok(variable) => variable,
        Err(invalid) => return invalid,
    };
    let mut make = Make { parser, at };
    let start = make.literal(Literal::Int);
    let condition = make.literal(Literal::Bool);
    let accumulator = make.accumulator();
    let one = make.literal(Literal::Int);
    let sum = make.call("_+_", vec![accumulator, one]);
    let accumulator = make.accumulator();
    let step = make.call("_?_:_", vec![arguments[1], sum, accumulator]);
    let accumulator = make.accumulator();
    let one = make.literal(Literal::Int);
    let result = make.call("_==_", vec![accumulator, one]);
    make.fold(target, variable, Fold { start, condition, step, result })
}

fn map(parser: &mut Parser<'_>, at: usize, target: Option<Id>, arguments: &[Id]) -> Id {
    let variable = match variable(parser, arguments[0], "argument is not an identifier") {
        Ok(variable) => variable,
        Err(invalid) => return invalid,
    };
    let (filter, element) = match arguments {
        [_, filter, element] => (Some(*filter), *element),
        _ => (None, arguments[1]),
    };
    collect(&mut Make { parser, at }, target, variable, filter, element)
}

fn filter(parser: &mut Parser<'_>, at: usize, target: Option<Id>, arguments: &[Id]) -> Id {
    let variable = match variable(parser, arguments[0], "argument is not an identifier") {
        Ok(variable) => variable,
        Err(invalid) => return invalid,
    };
    collect(&mut Make { parser, at }, target, variable, Some(arguments[1]), arguments[0])
}

/// Returns a list of the elements that pass the filter.
fn collect(
    make: &mut Make<'_, '_>,
    target: Option<Id>,
    variable: Name,
    filter: Option<Id>,
    element: Id,
) -> Id {
    let start = make.list(Vec::new());
    let condition = make.literal(Literal::Bool);
    let accumulator = make.accumulator();
    let one = make.list(vec![element]);
    let mut step = make.call("_+_", vec![accumulator, one]);
    if let Some(filter) = filter {
        let accumulator = make.accumulator();
        step = make.call("_?_:_", vec![filter, step, accumulator]);
    }
    let result = make.accumulator();
    make.fold(target, variable, Fold { start, condition, step, result })
}

fn optional_map(parser: &mut Parser<'_>, at: usize, target: Option<Id>, arguments: &[Id]) -> Id {
    let message = "optMap() variable name must be a simple identifier";
    on_value(parser, at, target, arguments, message, |make, value| {
        make.call("optional.of", vec![value])
    })
}

fn optional_flat_map(
    parser: &mut Parser<'_>,
    at: usize,
    target: Option<Id>,
    arguments: &[Id],
) -> Id {
    let message = "optFlatMap() variable name must be a simple identifier";
    on_value(parser, at, target, arguments, message, |_, value| value)
}

/// Something done with the value of an optional, if it has one. What is done is the result of a fold
/// over nothing, whose accumulator is the value.
fn on_value(
    parser: &mut Parser<'_>,
    at: usize,
    target: Option<Id>,
    arguments: &[Id],
    message: &str,
    wrap: impl FnOnce(&mut Make<'_, '_>, Id) -> Id,
) -> Id {
    let node = parser.tree().get(arguments[0]);
    let Kind::Name(variable) = &node.kind else {
        let at = node.at;
        return parser.invalid(at, message);
    };
    let variable = variable.clone();
    let target_name = target.and_then(|target| match &parser.tree().get(target).kind {
        Kind::Name(name) => Some((parser.tree().get(target).at, name.clone())),
        _ => None,
    });
    let mut make = Make { parser, at };
    // A name is used twice; anything else is given a name first.
    let (first, second_at, name) = match (&target_name, target) {
        (Some((at, name)), Some(target)) => (target, *at, name.clone()),
        _ => {
            let name = Name::new(TARGET);
            (make.name(name.clone()), at, name)
        }
    };
    let has_value = make.member_call("hasValue", first);
    let empty = make.list(Vec::new());
    let second = make.parser.add(second_at, Kind::Name(name));
    let start = make.member_call("value", second);
    let condition = make.literal(Literal::Bool);
    let step = make.name(variable.clone());
    let fold = Fold { start, condition, step, result: arguments[1] };
    let value = make.fold_into(empty, Name::new(UNUSED), variable, fold);
    let value = wrap(&mut make, value);
    let none = make.call("optional.none", Vec::new());
    let result = make.call("_?_:_", vec![has_value, value, none]);
    match (target_name, target) {
        (None, Some(start)) => {
            let empty = make.list(Vec::new());
            let condition = make.literal(Literal::Bool);
            let step = make.name(Name::new(TARGET));
            let fold = Fold { start, condition, step, result };
            make.fold_into(empty, Name::new(UNUSED), Name::new(TARGET), fold)
        }
        _ => result,
    }
}

/// Returns the variable that a macro declares, or what stands for the macro when there is none.
fn variable(parser: &mut Parser<'_>, argument: Id, otherwise: &str) -> Result<Name, Id> {
    let node = parser.tree().get(argument);
    let at = node.at;
    match &node.kind {
        Kind::Name(name) if !name.rooted && name.text == "__result__" => {
            Err(parser.invalid(at, "iteration variable overwrites accumulator variable"))
        }
        Kind::Name(name) => Ok(name.clone()),
        _ => Err(parser.invalid(at, otherwise)),
    }
}

/// Makes nodes, all at the place of the call.
struct Make<'p, 's> {
    parser: &'p mut Parser<'s>,
    at: usize,
}

/// The parts of a fold that differ between the macros.
#[derive(Clone, Copy)]
struct Fold {
    start: Id,
    condition: Id,
    step: Id,
    result: Id,
}

impl Make<'_, '_> {
    fn literal(&mut self, literal: Literal) -> Id {
        self.parser.add(self.at, Kind::Literal(literal))
    }

    fn name(&mut self, name: Name) -> Id {
        self.parser.add(self.at, Kind::Name(name))
    }

    fn accumulator(&mut self) -> Id {
        self.name(Name::new(ACCUMULATOR))
    }

    fn call(&mut self, function: &str, arguments: Vec<Id>) -> Id {
        let function = Name::new(function);
        self.parser.add(self.at, Kind::Call { function, target: None, arguments })
    }

    fn member_call(&mut self, function: &str, target: Id) -> Id {
        let function = Name::new(function);
        let call = Kind::Call { function, target: Some(target), arguments: Vec::new() };
        self.parser.add(self.at, call)
    }

    fn list(&mut self, values: Vec<Id>) -> Id {
        let elements = values.into_iter().map(|value| Element { value, optional: false }).collect();
        self.parser.add(self.at, Kind::List(elements))
    }

    fn fold(&mut self, range: Option<Id>, variable: Name, fold: Fold) -> Id {
        match range {
            Some(range) => self.fold_into(range, variable, Name::new(ACCUMULATOR), fold),
            None => self.parser.add(self.at, Kind::Invalid),
        }
    }

    fn fold_into(&mut self, range: Id, variable: Name, accumulator: Name, fold: Fold) -> Id {
        let Fold { start, condition, step, result } = fold;
        let comprehension =
            Comprehension { range, variable, accumulator, start, condition, step, result };
        self.parser.add(self.at, Kind::Comprehension(Box::new(comprehension)))
    }
}

// Names that cannot be written, so that nothing in an expression means them.
const ACCUMULATOR: &str = "@result";
const TARGET: &str = "@target";
const UNUSED: &str = "#unused";
