//! Variables in text: `$NAME`, `${NAME}`, `${NAME:-text}`.
//!
//! In: a text and the variables. Out: the text with their values, or the first variable that has none.
//! The grammar is that of the library which talhelper uses, oddities included: files are written for it.

use std::iter::Peekable;
use std::vec::IntoIter;

use talos_config::yaml::Limits;

use crate::door::environment::Environment;

/// The reason why variables cannot be substituted.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum SubstitutionError {
    /// The variable is not set.
    #[error("variable ${{{0}}} not set")]
    NotSet(String),
    /// The variable is empty.
    #[error("variable ${{{0}}} set but empty")]
    Empty(String),
    /// A `${` without its end on the same line.
    #[error("closing brace expected")]
    Unclosed,
    /// The values make more text than any file may have.
    #[error("more than {0} bytes")]
    TooLong(usize),
}

/// Substitutes variables in a text.
pub(crate) fn substitute(
    text: &str,
    environment: &Environment,
) -> Result<String, SubstitutionError> {
    if !text.contains('$') {
        return Ok(text.to_owned());
    }
    let most = Limits::default().bytes;
    let mut output = String::new();
    for part in parts(text)? {
        output.push_str(&part.value(environment)?);
        if output.len() > most {
            return Err(SubstitutionError::TooLong(most));
        }
    }
    Ok(output)
}

/// Substitutes the variables that are set; others stay.
pub(crate) fn substitute_known(text: &str, environment: &Environment) -> String {
    if !text.contains('$') {
        return text.to_owned();
    }
    let Ok(parts) = parts(text) else { return text.to_owned() };
    let value = |part: &Part| match part.value(environment) {
        Ok(value) => value,
        Err(SubstitutionError::NotSet(name) | SubstitutionError::Empty(name)) => {
            format!("${{{name}}}")
        }
        Err(SubstitutionError::Unclosed | SubstitutionError::TooLong(_)) => String::new(),
    };
    let mut output = String::new();
    for part in &parts {
        // A longer text is refused when it is substituted in earnest.
        if output.len() <= Limits::default().bytes {
            output.push_str(&value(part));
        }
    }
    output
}

fn parts(text: &str) -> Result<Vec<Part>, SubstitutionError> {
    let mut parts = Vec::new();
    let mut items = Lexer::new(text).items().into_iter().peekable();
    while let Some(item) = items.next() {
        match item {
            Item::Unclosed => return Err(SubstitutionError::Unclosed),
            Item::Variable(name) => parts.push(Part::Variable(bare(name))),
            Item::Open if matches!(items.peek(), Some(Item::Variable(_))) => {
                parts.push(braces(&mut items)?);
            }
            Item::Open => parts.push(Part::Text("${".to_owned())),
            Item::Close => parts.push(Part::Text("}".to_owned())),
            Item::Operator(text) | Item::Text(text) => parts.push(Part::Text(text.to_owned())),
        }
    }
    Ok(parts)
}

/// One piece of the text.
#[derive(Clone)]
enum Part {
    Text(String),
    Variable(String),
    Conditional { name: String, operator: String, alternative: Box<Self> },
}

impl Part {
    fn value(&self, environment: &Environment) -> Result<String, SubstitutionError> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Variable(name) => match environment.get(name) {
                None => Err(SubstitutionError::NotSet(name.clone())),
                Some("") => Err(SubstitutionError::Empty(name.clone())),
                Some(value) => Ok(value.to_owned()),
            },
            Self::Conditional { name, operator, alternative } => {
                let value = environment.get(name);
                let alternative = || alternative.value(environment);
                match (operator.as_str(), value) {
                    (":-" | ":=", Some(value)) if !value.is_empty() => Ok(value.to_owned()),
                    (":-" | ":=", _) => alternative(),
                    ("+" | ":+", Some(_)) => alternative(),
                    ("+" | ":+", None) => Ok(String::new()),
                    (_, None) => alternative(),
                    _ => Self::Variable(name.clone()).value(environment),
                }
            }
        }
    }
}

/// Reads the inside of braces, from the name to the end.
fn braces(items: &mut Peekable<IntoIter<Item<'_>>>) -> Result<Part, SubstitutionError> {
    let name = match items.next() {
        Some(Item::Variable(name)) => name.to_owned(),
        _ => String::new(),
    };
    let mut operator = String::new();
    let mut alternative = None;
    loop {
        match items.next() {
            None | Some(Item::Close) => break,
            Some(Item::Unclosed) => return Err(SubstitutionError::Unclosed),
            Some(Item::Variable(name)) => alternative = Some(Part::Variable(bare(name))),
            Some(Item::Text(text)) => {
                let mut text = text.to_owned();
                while let Some(item) =
                    items.next_if(|item| !matches!(item, Item::Close | Item::Unclosed))
                {
                    text.push_str(item.text());
                }
                alternative = Some(Part::Text(text));
            }
            Some(Item::Operator(text)) => operator = text.to_owned(),
            Some(Item::Open) => operator = "${".to_owned(),
        }
    }
    Ok(match alternative {
        Some(alternative) if !operator.is_empty() => {
            Part::Conditional { name, operator, alternative: Box::new(alternative) }
        }
        _ => Part::Variable(name),
    })
}

fn bare(name: &str) -> String {
    name.strip_prefix('$').unwrap_or(name).to_owned()
}

enum Item<'a> {
    Text(&'a str),
    Variable(&'a str),
    Open,
    Close,
    Operator(&'a str),
    Unclosed,
}

impl<'a> Item<'a> {
    fn text(&self) -> &'a str {
        match self {
            Self::Text(text) | Self::Variable(text) | Self::Operator(text) => text,
            Self::Open => "${",
            Self::Close => "}",
            Self::Unclosed => "",
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    position: usize,
    /// The start of the text that has not been emitted yet.
    start: usize,
    /// The start of the item that was emitted last.
    last: usize,
    depth: usize,
    items: Vec<Item<'a>>,
}

/// The state of the lexer.
enum State {
    Text,
    Variable,
    Operator,
    Inside,
    End,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, position: 0, start: 0, last: 0, depth: 0, items: Vec::new() }
    }

    fn items(mut self) -> Vec<Item<'a>> {
        let mut state = State::Text;
        loop {
            state = match state {
                State::Text => self.plain(),
                State::Variable => self.variable(),
                State::Operator => self.operator(),
                State::Inside => self.inside(),
                State::End => return self.items,
            };
        }
    }

    fn plain(&mut self) -> State {
        while let Some(found) = self.text[self.position..].find('$') {
            self.position += found;
            if self.position > self.start {
                self.give(Item::Text);
            }
            self.position += 1;
            match self.peek() {
                Some('$') => {
                    self.start = self.position;
                    self.position += 1;
                    self.give(Item::Text);
                }
                Some('{') => {
                    self.position += 1;
                    self.depth += 1;
                    self.give(|_| Item::Open);
                    return State::Operator;
                }
                Some(character) if is_name(character) => return State::Variable,
                _ => {}
            }
        }
        self.position = self.text.len();
        if self.position > self.start {
            self.give(Item::Text);
        }
        State::End
    }

    fn variable(&mut self) -> State {
        while self.peek().is_some_and(is_name) {
            self.next();
        }
        if ["_", "$_"].contains(&&self.text[self.start..self.position]) {
            return State::Text;
        }
        self.give(Item::Variable);
        if self.depth > 0 { State::Operator } else { State::Text }
    }

    fn operator(&mut self) -> State {
        match self.next() {
            Some('}') => return self.close(),
            None | Some('\r' | '\n') => return self.unclosed(),
            Some(character) if is_name(character) && self.text[self.last..].starts_with("${") => {
                return State::Variable;
            }
            Some('+' | '-' | '=') => self.give(Item::Operator),
            Some(':') => {
                if let Some('-' | '=' | '+') = self.next() {
                    self.give(Item::Operator);
                }
            }
            Some(_) => {}
        }
        State::Inside
    }

    fn inside(&mut self) -> State {
        match self.next() {
            Some('}') => self.close(),
            None | Some('\r' | '\n') => self.unclosed(),
            Some(character) if is_name(character) && self.text[self.last..].starts_with("${") => {
                State::Variable
            }
            Some('$') => State::Variable,
            Some(_) => {
                self.give(Item::Text);
                State::Inside
            }
        }
    }

    fn close(&mut self) -> State {
        self.depth = self.depth.saturating_sub(1);
        self.give(|_| Item::Close);
        State::Text
    }

    fn unclosed(&mut self) -> State {
        self.items.push(Item::Unclosed);
        State::End
    }

    fn give(&mut self, item: impl FnOnce(&'a str) -> Item<'a>) {
        self.items.push(item(&self.text[self.start..self.position]));
        self.last = self.start;
        self.start = self.position;
    }

    fn peek(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }
}

fn is_name(character: char) -> bool {
    character == '_' || character.is_alphabetic() || character.is_numeric()
}

#[cfg(test)]
mod tests {
    use super::substitute;
    use crate::door::environment::Environment;

    #[test]
    fn the_forms_that_files_use() {
        let environment = Environment::from_iter(
            [("A", "x"), ("E", ""), ("_x", "u")].map(|(n, v)| (n.to_owned(), v.to_owned())),
        );
        for (text, expected) in [
            ("$A ${A} $$ $${A} $ $- $_ ${_x}", "x x $ ${A} $ $- $_ u"),
            ("${B:-t} ${B-t} ${B:=t} ${E:-t} ${A:-t}", "t t t t x"),
            ("${B:-$A} ${A+t}|${B+t}|${E:+t}", "x t||t"),
            ("${A:x} ${A%x} ${A/x/y} ${}", "x x x ${}"),
        ] {
            assert_eq!(substitute(text, &environment).as_deref(), Ok(expected), "{text}");
        }
        for (text, expected) in [
            ("${B}", "variable ${B} not set"),
            ("$E", "variable ${E} set but empty"),
            ("${B:-}", "variable ${B} not set"),
            ("${E-t}", "variable ${E} set but empty"),
            ("${#A}", "variable ${#A} not set"),
            ("${B:-${C}}", "variable ${{C} not set"),
            ("${A\n}", "closing brace expected"),
        ] {
            let error = substitute(text, &environment).map_err(|error| error.to_string());
            assert_eq!(error, Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn values_do_not_make_more_than_a_file_may_have() {
        let value = ("A".to_owned(), "x".repeat(1 << 20));
        let environment = Environment::from_iter([value]);
        let text = "${A}".repeat(1 << 10);
        let error = substitute(&text, &environment).map_err(|error| error.to_string());
        assert_eq!(error, Err("more than 16777216 bytes".to_owned()));
        assert!(super::substitute_known(&text, &environment).len() < 32 << 20);
    }
}
