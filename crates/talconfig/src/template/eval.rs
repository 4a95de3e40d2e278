//! Templates filled in.

use super::Surroundings;
use super::functions;
use super::parse::{Node, Pipeline, Term, What};
use super::value::Go;

/// Fills in a template. The error begins with the place.
pub(super) fn execute(
    name: &str,
    text: &str,
    nodes: &[Node],
    data: &Go<'_>,
    surroundings: &Surroundings<'_>,
) -> Result<String, String> {
    let mut run = Run {
        name,
        text,
        surroundings,
        variables: vec![(String::new(), data.clone())],
        output: String::new(),
    };
    run.nodes(nodes, data)?;
    Ok(run.output)
}

struct Run<'a, 'd> {
    name: &'a str,
    text: &'a str,
    surroundings: &'a Surroundings<'a>,
    variables: Vec<(String, Go<'d>)>,
    output: String,
}

/// How a list of nodes ended.
#[derive(PartialEq)]
enum Flow {
    On,
    Break,
    Continue,
}

impl<'d> Run<'_, 'd> {
    fn nodes(&mut self, nodes: &[Node], dot: &Go<'d>) -> Result<Flow, String> {
        for node in nodes {
            let flow = self.node(node, dot)?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn node(&mut self, node: &Node, dot: &Go<'d>) -> Result<Flow, String> {
        match node {
            Node::Text(text) => self.output.push_str(text),
            Node::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    let printed = value.print().ok_or_else(|| {
                        let problem = format!("a value of type {} has no text", value.type_name());
                        self.wrong(first(pipeline), &problem)
                    })?;
                    // Nothing at all is printed in other words where it was the result of a function.
                    let printed = if printed == "<nil>" && matches!(value, Go::Nil("")) {
                        "<no value>".to_owned()
                    } else {
                        printed
                    };
                    self.output.push_str(&printed);
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
        dot: &Go<'d>,
    ) -> Result<Flow, String> {
        let begun = self.variables.len();
        let plain =
            Pipeline { variables: Vec::new(), declares: false, commands: values.commands.clone() };
        let pairs: Vec<(Go<'d>, Go<'d>)> = match self.pipeline(&plain, dot)? {
            Go::List(items) => {
                (0..).zip(items).map(|(index, item)| (Go::Int(index), item)).collect()
            }
            Go::Map(map) => map.into_iter().map(|(key, value)| (Go::Text(key), value)).collect(),
            Go::Int(count) => (0..count).map(|index| (Go::Int(index), Go::Int(index))).collect(),
            Go::Nil(_) => Vec::new(),
            other => {
                let shown = other.print().unwrap_or_else(|| other.type_name().to_owned());
                return Err(self.wrong(first(values), &format!("range can't iterate over {shown}")));
            }
        };
        if pairs.is_empty() {
            let flow = self.nodes(otherwise, dot)?;
            self.variables.truncate(begun);
            return Ok(flow);
        }
        for (key, value) in pairs {
            match values.variables.as_slice() {
                [one] => self.assign(one, value.clone(), values.declares),
                [one, two] => {
                    self.assign(one, key, values.declares);
                    self.assign(two, value.clone(), values.declares);
                }
                _ => {}
            }
            let flow = self.nodes(body, &value)?;
            self.variables.truncate(begun);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(Flow::On)
    }

    fn assign(&mut self, name: &str, value: Go<'d>, declares: bool) {
        let known = self.variables.iter_mut().rev().find(|(known, _)| known == name);
        match known {
            Some((_, place)) if !declares => *place = value,
            _ => self.variables.push((name.to_owned(), value)),
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, dot: &Go<'d>) -> Result<Go<'d>, String> {
        let mut value: Option<Go<'d>> = None;
        for command in &pipeline.commands {
            value = Some(self.command(command, dot, value)?);
        }
        let value = value.unwrap_or(Go::Nil(""));
        for name in &pipeline.variables {
            self.assign(name, value.clone(), pipeline.declares);
        }
        Ok(value)
    }

    fn command(
        &mut self,
        command: &[Term],
        dot: &Go<'d>,
        last: Option<Go<'d>>,
    ) -> Result<Go<'d>, String> {
        let Some((head, arguments)) = command.split_first() else { return Ok(Go::Nil("")) };
        let What::Function(name) = &head.what else {
            if arguments.is_empty() && last.is_none() {
                return self.term(head, dot);
            }
            return Err(self.wrong(head, "can't give argument to non-function"));
        };
        let mut values = Vec::new();
        for argument in arguments {
            let value = self.term(argument, dot)?;
            // These look at no more arguments than they need.
            let enough = match name.as_str() {
                "and" => !value.truth(),
                "or" => value.truth(),
                _ => false,
            };
            values.push(value);
            if enough && last.is_none() {
                break;
            }
        }
        values.extend(last);
        functions::call(name, &values, self.surroundings)
            .map_err(|problem| self.wrong(head, &format!("error calling {name}: {problem}")))
    }

    fn term(&mut self, term: &Term, dot: &Go<'d>) -> Result<Go<'d>, String> {
        let (value, fields) = match &term.what {
            What::Fields(fields) => (dot.clone(), fields.as_slice()),
            What::Variable(name, fields) => {
                let known = self.variables.iter().rev().find(|(known, _)| known == name);
                let value = known.map(|(_, value)| value.clone());
                let value = value
                    .ok_or_else(|| self.wrong(term, &format!("undefined variable \"${name}\"")))?;
                (value, fields.as_slice())
            }
            What::Function(_) => (self.command(std::slice::from_ref(term), dot, None)?, &[][..]),
            What::Text(text) => (Go::text(text), &[][..]),
            What::Int(number) => (Go::Int(*number), &[][..]),
            What::Float(number) => (Go::Float(*number), &[][..]),
            What::Bool(value) => (Go::Bool(*value), &[][..]),
            What::Nil => (Go::Nil(""), &[][..]),
            What::Group(pipeline, fields) => (self.pipeline(pipeline, dot)?, fields.as_slice()),
        };
        fields
            .iter()
            .try_fold(value, |value, field| value.field(field))
            .map_err(|problem| self.wrong(term, &problem))
    }

    /// `line:column: executing "name" at <term>: problem`
    fn wrong(&self, term: &Term, problem: &str) -> String {
        let before = self.text.get(..term.at).unwrap_or(self.text);
        let line = 1 + before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        let shown = match &term.what {
            What::Fields(fields) if fields.is_empty() => ".".to_owned(),
            What::Fields(fields) => format!(".{}", fields.join(".")),
            What::Variable(name, fields) => {
                let words: Vec<&str> = std::iter::once(name.as_str())
                    .chain(fields.iter().map(String::as_str))
                    .collect();
                format!("${}", words.join("."))
            }
            What::Function(name) => name.clone(),
            What::Text(text) => format!("{text:?}"),
            What::Int(number) => number.to_string(),
            What::Float(number) => number.to_string(),
            What::Bool(value) => value.to_string(),
            What::Nil => "nil".to_owned(),
            What::Group(..) => "(…)".to_owned(),
        };
        format!("{line}:{column}: executing {:?} at <{shown}>: {problem}", self.name)
    }
}

fn first(pipeline: &Pipeline) -> &Term {
    &pipeline.commands[0][0]
}
