//! Execution of templates.

use super::functions::{self, MOST, ParameterType, truncated};
use super::parse::{Command, Node, Operand, Pipeline, Term};
use super::value::{GoValue, OPAQUE};
use super::{Failure, TemplateContext, line_after};

/// Fills in a template.
pub(super) fn execute(
    name: &str,
    text: &str,
    nodes: &[Node],
    data: &GoValue<'_>,
    context: &TemplateContext<'_>,
) -> Result<String, Failure> {
    let mut run = Run {
        name,
        text,
        context,
        variables: vec![("$".to_owned(), data.clone())],
        output: String::new(),
        at: 0,
        shown: String::new(),
        left: BUDGET,
    };
    run.nodes(nodes, data)?;
    Ok(run.output)
}

struct Run<'a, 'd> {
    name: &'a str,
    text: &'a str,
    context: &'a TemplateContext<'a>,
    variables: Vec<(String, GoValue<'d>)>,
    output: String,
    /// The position of the current term, and its text for errors.
    at: usize,
    shown: String,
    /// What is left of [`BUDGET`].
    left: usize,
}

/// Bytes that a template may copy, and nodes that it may run, together. Loops and doubled texts would otherwise make
/// gigabytes from a line; the largest configuration takes a small part of this.
const BUDGET: usize = 64 << 20;

/// A function with its position, its text for errors, and its arguments.
struct Call<'t> {
    name: &'t str,
    at: usize,
    shown: &'t str,
    arguments: &'t [Term],
}

/// The way in which a list of nodes ended.
#[derive(PartialEq)]
enum Flow {
    On,
    Break,
    Continue,
}

impl<'d> Run<'_, 'd> {
    fn nodes(&mut self, nodes: &[Node], dot: &GoValue<'d>) -> Result<Flow, Failure> {
        for node in nodes {
            let flow = self.node(node, dot)?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn node(&mut self, node: &Node, dot: &GoValue<'d>) -> Result<Flow, Failure> {
        self.spend(NODE)?;
        match node {
            Node::Text(text) => {
                self.spend(text.len())?;
                self.output.push_str(text);
            }
            Node::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    self.stand(pipeline.at, &format!("{{{{{}}}}}", pipeline.shown));
                    let written = value.written().map_err(|problem| self.wrong(&problem))?;
                    self.spend(written.len())?;
                    self.output.push_str(&written);
                }
            }
            Node::If { condition, then, otherwise } => {
                let begun = self.variables.len();
                let value = self.pipeline(condition, dot)?;
                let flow = self.nodes(if value.truth() { then } else { otherwise }, dot)?;
                self.variables.truncate(begun);
                return Ok(flow);
            }
            Node::With { value, then, otherwise } => {
                let begun = self.variables.len();
                let value = self.pipeline(value, dot)?;
                let flow = if value.truth() {
                    self.nodes(then, &value)?
                } else {
                    self.nodes(otherwise, dot)?
                };
                self.variables.truncate(begun);
                return Ok(flow);
            }
            Node::Range { values, body, otherwise } => {
                return self.range(values, body, otherwise, dot);
            }
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }

    fn range(
        &mut self,
        values: &Pipeline,
        body: &[Node],
        otherwise: &[Node],
        dot: &GoValue<'d>,
    ) -> Result<Flow, Failure> {
        let begun = self.variables.len();
        let value = self.pipeline(values, dot)?;
        let pairs = self.pairs(value, values.variables.len())?;
        self.spend(pairs.len() * NODE)?;
        if pairs.is_empty() {
            let flow = self.nodes(otherwise, dot)?;
            self.variables.truncate(begun);
            // To break here ends this loop, which is over, and not the one around it.
            return Ok(if flow == Flow::Break { Flow::On } else { flow });
        }
        let inner = self.variables.len();
        for (key, value) in pairs {
            // The last variable is the item, and one before it the key.
            for (place, name) in values.variables.iter().rev().enumerate() {
                let new = if place == 0 { value.clone() } else { key.clone() };
                self.assign(name, new)?;
            }
            let flow = self.nodes(body, &value)?;
            self.variables.truncate(inner);
            if flow == Flow::Break {
                break;
            }
        }
        self.variables.truncate(begun);
        Ok(Flow::On)
    }

    /// Returns the keys and items of a loop.
    fn pairs(
        &self,
        value: GoValue<'d>,
        variables: usize,
    ) -> Result<Vec<(GoValue<'d>, GoValue<'d>)>, Failure> {
        Ok(match value {
            GoValue::List(_, items) => {
                (0..).zip(items).map(|(index, item)| (GoValue::Int(index), item)).collect()
            }
            GoValue::Map(_, map) => {
                map.into_iter().map(|(key, value)| (GoValue::Text(key), value)).collect()
            }
            GoValue::Nil("") => Vec::new(),
            GoValue::Int(count) | GoValue::Long(count) if variables > 1 => {
                let problem = format!("can't use {count} to iterate over more than one variable");
                return Err(self.wrong(&problem));
            }
            GoValue::Int(count) | GoValue::Long(count) if count > MOST => {
                return Err(self.wrong(&format!("Ichor does not count to more than {MOST}")));
            }
            GoValue::Int(count) => {
                (0..count).map(|index| (GoValue::Nil(""), GoValue::Int(index))).collect()
            }
            GoValue::Long(count) => {
                (0..count).map(|index| (GoValue::Nil(""), GoValue::Long(index))).collect()
            }
            GoValue::Opaque(_) => return Err(self.wrong(OPAQUE)),
            other => {
                let shown = other.written().unwrap_or_else(|_| other.type_name());
                return Err(self.wrong(&format!("range can't iterate over {shown}")));
            }
        })
    }

    /// Assigns to a variable that is declared.
    fn assign(&mut self, name: &str, value: GoValue<'d>) -> Result<(), Failure> {
        match self.variables.iter_mut().rev().find(|(known, _)| known == name) {
            Some((_, place)) => *place = value,
            None => return Err(self.wrong(&format!("undefined variable: {name}"))),
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, dot: &GoValue<'d>) -> Result<GoValue<'d>, Failure> {
        self.stand(pipeline.at, &pipeline.shown);
        let mut value: Option<GoValue<'d>> = None;
        for command in &pipeline.commands {
            value = Some(self.command(command, dot, value)?);
        }
        let value = value.unwrap_or(GoValue::Nil(""));
        for name in &pipeline.variables {
            if pipeline.declares {
                self.variables.push((name.clone(), value.clone()));
            } else {
                self.assign(name, value.clone())?;
            }
        }
        Ok(value)
    }

    fn command(
        &mut self,
        command: &Command,
        dot: &GoValue<'d>,
        last: Option<GoValue<'d>>,
    ) -> Result<GoValue<'d>, Failure> {
        let Some((head, arguments)) = command.terms.split_first() else {
            return Ok(GoValue::Nil(""));
        };
        let given = !arguments.is_empty() || last.is_some();
        match &head.operand {
            Operand::Function(name) => {
                let call = Call { name, at: command.at, shown: &command.shown, arguments };
                self.call(&call, dot, last)
            }
            Operand::Fields(_) | Operand::Variable(..) | Operand::Chain(..) => {
                self.reach(head, dot, given)
            }
            Operand::Group(pipeline) => {
                self.refuse_arguments(head, given)?;
                self.pipeline(pipeline, dot)
            }
            Operand::Dot
            | Operand::Nil
            | Operand::Text(_)
            | Operand::Int(_)
            | Operand::Float(_)
            | Operand::Bool(_) => {
                self.stand(head.at, &head.shown);
                self.refuse_arguments(head, given)?;
                match head.operand {
                    Operand::Dot => Ok(dot.clone()),
                    Operand::Nil => Err(self.wrong("nil is not a command")),
                    _ => constant(head, ParameterType::Any).map_err(|problem| self.wrong(&problem)),
                }
            }
        }
    }

    fn call(
        &mut self,
        call: &Call<'_>,
        dot: &GoValue<'d>,
        last: Option<GoValue<'d>>,
    ) -> Result<GoValue<'d>, Failure> {
        self.stand(call.at, call.name);
        let signature = functions::find(call.name, self.context.sprig)
            .map_err(|problem| self.wrong(&problem))?;
        signature
            .check(call.name, call.arguments.len(), last.is_some())
            .map_err(|problem| self.wrong(&problem))?;
        if matches!(call.name, "and" | "or") {
            return self.and_or(call, dot, last);
        }
        let mut values = Vec::new();
        for argument in call.arguments {
            values.push(self.argument(argument, signature.parameter(values.len()), dot)?);
        }
        if let Some(last) = last {
            let taken = signature.parameter(values.len()).take(last);
            values.push(taken.map_err(|problem| self.wrong(&problem))?);
        }
        for value in &values {
            self.spend_on(value)?;
        }
        match functions::call(call.name, &values, self.context) {
            Ok(value) => {
                self.spend_on(&value)?;
                Ok(value)
            }
            Err(problem) => {
                self.stand(call.at, call.shown);
                Err(self.wrong(&format!("error calling {}: {problem}", call.name)))
            }
        }
    }

    /// These look at no more arguments than they need.
    fn and_or(
        &mut self,
        call: &Call<'_>,
        dot: &GoValue<'d>,
        last: Option<GoValue<'d>>,
    ) -> Result<GoValue<'d>, Failure> {
        let mut value = GoValue::Nil("");
        for argument in call.arguments {
            value = self.argument(argument, ParameterType::Truth, dot)?;
            if value.truth() == (call.name == "or") {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    /// Evaluates an argument for a parameter.
    fn argument(
        &mut self,
        term: &Term,
        wanted: ParameterType,
        dot: &GoValue<'d>,
    ) -> Result<GoValue<'d>, Failure> {
        self.stand(term.at, &term.shown);
        let value = match &term.operand {
            Operand::Dot => dot.clone(),
            Operand::Fields(_) | Operand::Variable(..) | Operand::Chain(..) => {
                self.reach(term, dot, false)?
            }
            Operand::Group(pipeline) => self.pipeline(pipeline, dot)?,
            Operand::Function(name) => {
                let call = Call { name, at: term.at, shown: &term.shown, arguments: &[] };
                self.call(&call, dot, None)?
            }
            Operand::Nil => return wanted.nothing().map_err(|problem| self.wrong(&problem)),
            Operand::Text(_) | Operand::Int(_) | Operand::Float(_) | Operand::Bool(_) => {
                return constant(term, wanted).map_err(|problem| self.wrong(&problem));
            }
        };
        wanted.take(value).map_err(|problem| self.wrong(&problem))
    }

    /// Returns the value of a variable, or of fields of something.
    fn reach(
        &mut self,
        term: &Term,
        dot: &GoValue<'d>,
        given: bool,
    ) -> Result<GoValue<'d>, Failure> {
        self.stand(term.at, &term.shown);
        let (value, fields) = match &term.operand {
            Operand::Variable(name, fields) => (self.variable(name)?, fields.as_slice()),
            Operand::Chain(inner, fields) => {
                (self.argument(inner, ParameterType::Truth, dot)?, fields.as_slice())
            }
            Operand::Fields(fields) => (dot.clone(), fields.as_slice()),
            _ => (dot.clone(), &[][..]),
        };
        self.spend_on(&value)?;
        let Some((last, before)) = fields.split_last() else {
            self.refuse_arguments(term, given)?;
            return Ok(value);
        };
        let receiver = before
            .iter()
            .try_fold(value, |value, field| value.field(field))
            .map_err(|problem| self.wrong(&problem))?;
        let found = receiver.field(last).map_err(|problem| self.wrong(&problem))?;
        let problem = match receiver {
            _ if !given => return Ok(found),
            GoValue::Map(..) => format!("{last} is not a method but has arguments"),
            _ => format!("{last} has arguments but cannot be invoked as function"),
        };
        Err(self.wrong(&problem))
    }

    /// Takes from the budget.
    fn spend(&mut self, cost: usize) -> Result<(), Failure> {
        let left = self.left.checked_sub(cost);
        self.left = left.ok_or_else(|| self.wrong("Ichor does not run a template this long"))?;
        Ok(())
    }

    /// Takes what copying a value costs.
    fn spend_on(&mut self, value: &GoValue<'_>) -> Result<(), Failure> {
        let weight = value.weight(MOST_NESTED);
        self.spend(weight.ok_or_else(|| self.wrong("Ichor does not nest lists this deep"))?)
    }

    fn stand(&mut self, at: usize, shown: &str) {
        self.at = at;
        self.shown = shown.to_owned();
    }

    fn variable(&self, name: &str) -> Result<GoValue<'d>, Failure> {
        let known = self.variables.iter().rev().find(|(known, _)| known == name);
        let value = known.map(|(_, value)| value.clone());
        value.ok_or_else(|| self.wrong(&format!("undefined variable: {name}")))
    }

    fn refuse_arguments(&self, head: &Term, given: bool) -> Result<(), Failure> {
        if given {
            return Err(self.wrong(&format!("can't give argument to non-function {}", head.shown)));
        }
        Ok(())
    }

    /// `line:column: executing "name" at <what>: problem`
    fn wrong(&self, problem: &str) -> Failure {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        Failure {
            line: line_after(before),
            column: Some(column),
            problem: format!("executing {:?} at <{}>: {problem}", self.name, self.shown),
        }
    }
}

/// Converts a constant to a parameter's type.
fn constant<'d>(term: &Term, wanted: ParameterType) -> Result<GoValue<'d>, String> {
    let value = match &term.operand {
        Operand::Text(text) => GoValue::text(text),
        Operand::Int(number) => GoValue::Int(*number),
        Operand::Float(number) => GoValue::Float(*number),
        Operand::Bool(value) => GoValue::Bool(*value),
        _ => GoValue::Nil(""),
    };
    let expected = match (wanted, value) {
        (ParameterType::Any | ParameterType::Truth, value)
        | (ParameterType::Text, value @ GoValue::Text(_))
        | (ParameterType::Int, value @ GoValue::Int(_))
        | (ParameterType::Bool, value @ GoValue::Bool(_)) => return Ok(value),
        (ParameterType::Int, GoValue::Float(number))
            if number.fract() == 0.0 && number.abs() < 9e18 =>
        {
            return Ok(GoValue::Int(truncated(number)));
        }
        (ParameterType::Text, _) => "string",
        (ParameterType::Int, _) => "integer",
        (ParameterType::Bool, _) => "bool",
        (ParameterType::Map, _) => {
            return Err(format!("can't handle {} for arg of type {}", term.shown, wanted.name()));
        }
    };
    Err(format!("expected {expected}; found {}", term.shown))
}

/// The cost of a node: it keeps a loop of empty bodies from running for minutes.
const NODE: usize = 32;

/// Lists within lists: values are read, printed and dropped by recursion.
const MOST_NESTED: usize = 100;

#[cfg(test)]
pub(super) mod tests;
