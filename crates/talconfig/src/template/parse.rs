//! From text to actions.

use super::functions;

/// A piece of a template.
#[derive(Clone)]
pub(super) enum Node {
    Text(String),
    Action(Pipeline),
    If { condition: Pipeline, then: Vec<Self>, otherwise: Vec<Self> },
    With { value: Pipeline, then: Vec<Self>, otherwise: Vec<Self> },
    Range { values: Pipeline, body: Vec<Self>, otherwise: Vec<Self> },
    Break,
    Continue,
}

/// Commands, each with the result of the one before as its last argument.
#[derive(Clone)]
pub(super) struct Pipeline {
    /// `$a, $b :=` or `$a =`
    pub(super) variables: Vec<String>,
    pub(super) declares: bool,
    pub(super) commands: Vec<Vec<Term>>,
}

/// One word of a command, and where it stands.
#[derive(Clone)]
pub(super) struct Term {
    pub(super) at: usize,
    pub(super) what: What,
}

#[derive(Clone)]
pub(super) enum What {
    /// `.A.B` of the current value.
    Fields(Vec<String>),
    /// `$x.A`
    Variable(String, Vec<String>),
    Function(String),
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Nil,
    /// `(…).A`
    Group(Box<Pipeline>, Vec<String>),
}

/// Reads a template. The error begins with its line.
pub(super) fn parse(text: &str, sprig: bool) -> Result<Vec<Node>, String> {
    let tokens = split(text)?;
    let mut parser = Parser { text, tokens: tokens.into_iter().peekable(), sprig, depth: 0 };
    let (nodes, end) = parser.nodes()?;
    match end {
        None => Ok(nodes),
        Some((at, words)) => Err(parser.wrong(at, &format!("unexpected {{{{{words}}}}}"))),
    }
}

enum Token {
    Text(String),
    /// What stands between braces, and where.
    Action(usize, String),
}

/// Splits text from actions; a dash at a brace takes the white space beside it away.
fn split(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut position = 0;
    let mut trim = false;
    while let Some(found) = text[position..].find("{{") {
        let open = position + found;
        let mut before = &text[position..open];
        let after = &text[open + 2..];
        let left = after.starts_with("- ") || after.starts_with("-\t") || after.starts_with("-\n");
        if trim {
            before = before.trim_start();
        }
        if left {
            before = before.trim_end();
        }
        if !before.is_empty() {
            tokens.push(Token::Text(before.to_owned()));
        }
        let inner = open + 2 + usize::from(left);
        let Some(end) = closing(&text[inner..]) else {
            return Err(format!("{}: unclosed action", line(text, open)));
        };
        let action = &text[inner..inner + end];
        let right =
            action.ends_with('-') && action[..action.len() - 1].ends_with([' ', '\t', '\n']);
        let action = if right { &action[..action.len() - 1] } else { action };
        if !action.trim_start().starts_with("/*") {
            tokens.push(Token::Action(inner, action.to_owned()));
        }
        trim = right;
        position = inner + end + 2;
    }
    let rest = if trim { text[position..].trim_start() } else { &text[position..] };
    if !rest.is_empty() {
        tokens.push(Token::Text(rest.to_owned()));
    }
    Ok(tokens)
}

/// Where an action ends; braces in quotes do not count.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match quote {
            None if text[at..].starts_with("}}") => return Some(at),
            None if matches!(character, '"' | '`' | '\'') => quote = Some(character),
            None if character == '\n' && !text[..at].trim_start().starts_with("/*") => {}
            None => {}
            Some(_) if escaped => escaped = false,
            Some(open) if character == '\\' && open != '`' => escaped = true,
            Some(open) if character == open => quote = None,
            Some(_) => {}
        }
    }
    None
}

fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

struct Parser<'a> {
    text: &'a str,
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
    sprig: bool,
    /// Branches within branches.
    depth: usize,
}

/// What ended a list of nodes: where it stands, and `end` or `else …`.
type End = Option<(usize, String)>;

impl Parser<'_> {
    fn nodes(&mut self) -> Result<(Vec<Node>, End), String> {
        let mut nodes = Vec::new();
        while let Some(token) = self.tokens.next() {
            let (at, action) = match token {
                Token::Text(text) => {
                    nodes.push(Node::Text(text));
                    continue;
                }
                Token::Action(at, action) => (at, action),
            };
            let trimmed = action.trim_start();
            let begins = at + action.len() - trimmed.len();
            let word: String = trimmed.chars().take_while(|c| c.is_alphanumeric()).collect();
            let rest = &trimmed[word.len()..];
            let inner = begins + word.len();
            match word.as_str() {
                "end" | "else" => return Ok((nodes, Some((at, trimmed.trim_end().to_owned())))),
                "if" => nodes.push(self.branch(rest, inner, |condition, then, otherwise| {
                    Node::If { condition, then, otherwise }
                })?),
                "with" => nodes.push(self.branch(rest, inner, |value, then, otherwise| {
                    Node::With { value, then, otherwise }
                })?),
                "range" => nodes.push(self.branch(rest, inner, |values, body, otherwise| {
                    Node::Range { values, body, otherwise }
                })?),
                "break" => nodes.push(Node::Break),
                "continue" => nodes.push(Node::Continue),
                "define" | "template" | "block" => {
                    return Err(self.wrong(at, &format!("{{{{{word}}}}} is not supported here")));
                }
                _ => nodes.push(Node::Action(self.pipeline(trimmed, begins)?)),
            }
        }
        Ok((nodes, None))
    }

    fn branch(
        &mut self,
        head: &str,
        at: usize,
        make: fn(Pipeline, Vec<Node>, Vec<Node>) -> Node,
    ) -> Result<Node, String> {
        let head = self.pipeline(head, at)?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong(at, "branches are nested too deeply"));
        }
        let (then, end) = self.nodes()?;
        let otherwise = match end {
            None => return Err(self.wrong(self.text.len(), "unexpected EOF")),
            Some((_, words)) if words == "end" => Vec::new(),
            Some((at, words)) => {
                let rest = words.strip_prefix("else").unwrap_or_default().trim_start();
                if rest.is_empty() {
                    let (otherwise, end) = self.nodes()?;
                    match end {
                        Some((_, words)) if words == "end" => otherwise,
                        _ => return Err(self.wrong(at, "unexpected {{else}}")),
                    }
                } else if let Some(condition) = rest.strip_prefix("if ") {
                    vec![self.branch(condition, at, |condition, then, otherwise| Node::If {
                        condition,
                        then,
                        otherwise,
                    })?]
                } else if let Some(value) = rest.strip_prefix("with ") {
                    vec![self.branch(value, at, |value, then, otherwise| Node::With {
                        value,
                        then,
                        otherwise,
                    })?]
                } else {
                    return Err(self.wrong(at, &format!("unexpected <{rest}> in else")));
                }
            }
        };
        self.depth -= 1;
        Ok(make(head, then, otherwise))
    }

    fn pipeline(&self, text: &str, at: usize) -> Result<Pipeline, String> {
        let mut words = Words { parser: self, text, at, position: 0, depth: 0 };
        let pipeline = words.pipeline()?;
        words.blanks();
        if words.position < text.len() {
            let rest = &text[words.position..];
            let first = rest.chars().next().unwrap_or_default();
            return Err(self.wrong(at, &format!("unexpected {first:?} in operand")));
        }
        Ok(pipeline)
    }

    fn wrong(&self, at: usize, problem: &str) -> String {
        format!("{}: {problem}", line(self.text, at))
    }
}

/// The words of one action.
struct Words<'a> {
    parser: &'a Parser<'a>,
    text: &'a str,
    /// Where the text begins in the template.
    at: usize,
    position: usize,
    /// Parentheses within parentheses.
    depth: usize,
}

impl<'a> Words<'a> {
    fn pipeline(&mut self) -> Result<Pipeline, String> {
        let (variables, declares) = self.variables();
        let mut commands = Vec::new();
        loop {
            let command = self.command()?;
            if command.is_empty() {
                return Err(self.wrong("missing value for command"));
            }
            commands.push(command);
            self.blanks();
            if self.rest().starts_with('|') {
                self.position += 1;
            } else {
                return Ok(Pipeline { variables, declares, commands });
            }
        }
    }

    /// Reads `$a :=`, `$a, $b :=` or `$a =`, if that is what stands here.
    fn variables(&mut self) -> (Vec<String>, bool) {
        let begun = self.position;
        let mut variables = Vec::new();
        loop {
            self.blanks();
            let Some(after) = self.rest().strip_prefix('$') else { break };
            let end = after.find(|c: char| !is_name(c)).unwrap_or(after.len());
            variables.push(after[..end].to_owned());
            self.position += 1 + end;
            self.blanks();
            if self.rest().starts_with(',') {
                self.position += 1;
                continue;
            }
            for (sign, declares) in [(":=", true), ("=", false)] {
                if self.rest().starts_with(sign) && !self.rest().starts_with("==") {
                    self.position += sign.len();
                    return (variables, declares);
                }
            }
            break;
        }
        self.position = begun;
        (Vec::new(), false)
    }

    fn command(&mut self) -> Result<Vec<Term>, String> {
        let mut terms = Vec::new();
        loop {
            self.blanks();
            match self.rest().chars().next() {
                None | Some('|' | ')') => return Ok(terms),
                Some(_) => terms.push(self.term()?),
            }
        }
    }

    fn term(&mut self) -> Result<Term, String> {
        let begun = self.position;
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or_default();
        let mut at = self.at + begun;
        let what = match first {
            '.' if !rest[1..].starts_with(is_name) => {
                self.position += 1;
                What::Fields(Vec::new())
            }
            '.' => {
                let (fields, second) = self.fields();
                at = second.unwrap_or(at);
                What::Fields(fields)
            }
            '$' => {
                let end = rest[1..].find(|c: char| !is_name(c)).map_or(rest.len(), |end| end + 1);
                let name = rest[1..end].to_owned();
                self.position += end;
                let behind = self.at + self.position;
                let (fields, _) = self.fields();
                at = if fields.is_empty() { at } else { behind };
                What::Variable(name, fields)
            }
            '(' => {
                self.position += 1;
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(self.wrong("parentheses are nested too deeply"));
                }
                let pipeline = self.pipeline()?;
                self.depth -= 1;
                self.blanks();
                if !self.rest().starts_with(')') {
                    return Err(self.wrong("unclosed left paren"));
                }
                self.position += 1;
                let (fields, _) = self.fields();
                What::Group(Box::new(pipeline), fields)
            }
            '"' => What::Text(self.quoted()?),
            '`' => {
                let end = rest[1..]
                    .find('`')
                    .ok_or_else(|| self.wrong("unterminated raw quoted string"))?;
                self.position += end + 2;
                What::Text(rest[1..=end].to_owned())
            }
            '+' | '-' | '0'..='9' => self.number()?,
            _ if is_name(first) => {
                let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
                let name = &rest[..end];
                self.position += end;
                match name {
                    "true" => What::Bool(true),
                    "false" => What::Bool(false),
                    "nil" => What::Nil,
                    _ if functions::exists(name, self.parser.sprig) => {
                        What::Function(name.to_owned())
                    }
                    _ => return Err(self.wrong(&format!("function {name:?} not defined"))),
                }
            }
            _ => return Err(self.wrong(&format!("unexpected {first:?} in operand"))),
        };
        Ok(Term { at, what })
    }

    /// Reads `.A.B`, and says where the second one stands.
    fn fields(&mut self) -> (Vec<String>, Option<usize>) {
        let mut fields = Vec::new();
        let mut second = None;
        while self.rest().starts_with('.') && self.rest()[1..].starts_with(is_name) {
            if fields.len() == 1 {
                second = Some(self.at + self.position);
            }
            let rest = &self.rest()[1..];
            let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
            fields.push(rest[..end].to_owned());
            self.position += end + 1;
        }
        (fields, second)
    }

    fn quoted(&mut self) -> Result<String, String> {
        let mut output = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.position += at + 1;
                    return Ok(output);
                }
                '\\' => match characters.next().map(|(_, escaped)| escaped) {
                    Some('n') => output.push('\n'),
                    Some('t') => output.push('\t'),
                    Some('r') => output.push('\r'),
                    Some(escaped @ ('"' | '\\' | '\'')) => output.push(escaped),
                    _ => return Err(self.wrong("this escape is not supported")),
                },
                _ => output.push(character),
            }
        }
        Err(self.wrong("unterminated quoted string"))
    }

    fn number(&mut self) -> Result<What, String> {
        let rest = self.rest();
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| !(c.is_ascii_alphanumeric() || *c == '.' || *c == '_'))
            .map_or(rest.len(), |(at, _)| at);
        let word = &rest[..end];
        self.position += end;
        let bad = || self.wrong(&format!("bad number syntax: {word:?}"));
        if let Ok(number) = word.parse::<i64>() {
            return Ok(What::Int(number));
        }
        word.parse::<f64>().map(What::Float).map_err(|_| bad())
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn wrong(&self, problem: &str) -> String {
        self.parser.wrong(self.at + self.position.saturating_sub(1), problem)
    }
}

fn is_name(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Deeper than anybody writes, and safe on a small stack.
const DEEPEST: usize = 50;
