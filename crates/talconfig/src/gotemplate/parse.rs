//! From text to actions.

mod lex;
pub(super) mod literal;

use talos_config::rules::quoted;

use super::{Failure, functions, line_after};
use lex::{Kind, Token};

/// A piece of a template.
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
pub(super) struct Pipeline {
    pub(super) at: usize,
    /// The text for errors.
    pub(super) shown: String,
    /// `$a, $b :=` or `$a =`
    pub(super) variables: Vec<String>,
    pub(super) declares: bool,
    pub(super) commands: Vec<Command>,
}

/// A value, or a function with its arguments.
pub(super) struct Command {
    pub(super) at: usize,
    pub(super) shown: String,
    /// At least one.
    pub(super) terms: Vec<Term>,
}

/// One word of a command, with its position and its text for errors.
pub(super) struct Term {
    pub(super) at: usize,
    pub(super) shown: String,
    pub(super) operand: Operand,
}

pub(super) enum Operand {
    Dot,
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
    /// `(…)`
    Group(Box<Pipeline>),
    /// `(…).A` or `function.A`
    Chain(Box<Term>, Vec<String>),
}

/// Reads a template.
pub(super) fn parse(text: &str, sprig: bool) -> Result<Vec<Node>, Failure> {
    let (tokens, problem) = lex::tokens(text);
    let mut parser = Parser {
        text,
        tokens,
        problem,
        next: 0,
        last: 0,
        sprig,
        variables: vec!["$".to_owned()],
        ranges: 0,
        branches: 0,
        parentheses: 0,
    };
    let (nodes, ending) = parser.nodes()?;
    match ending {
        Ending::Nothing => Ok(nodes),
        Ending::End => Err(parser.wrong(parser.last(), "unexpected {{end}}")),
        Ending::Else => Err(parser.wrong(parser.last(), "unexpected {{else}}")),
    }
}

struct Parser<'a> {
    text: &'a str,
    /// The last one is [`Kind::End`] or [`Kind::Wrong`], and stays.
    tokens: Vec<Token<'a>>,
    /// The lexer's error at the end of the tokens.
    problem: String,
    next: usize,
    /// The token that was taken last, which errors point at.
    last: usize,
    sprig: bool,
    /// The variables in scope.
    variables: Vec<String>,
    /// The number of enclosing loops.
    ranges: usize,
    /// The depth of nested branches.
    branches: usize,
    /// The depth of nested parentheses.
    parentheses: usize,
}

/// The result of parsing an action.
enum Step {
    Node(Node),
    Ending(Ending),
}

/// The end of a list of nodes.
enum Ending {
    /// The text is over.
    Nothing,
    End,
    /// Perhaps with an `if` or a `with` that comes next.
    Else,
}

impl<'a> Parser<'a> {
    fn nodes(&mut self) -> Result<(Vec<Node>, Ending), Failure> {
        let mut nodes = Vec::new();
        loop {
            let token = self.take();
            match token.kind {
                Kind::Text => nodes.push(Node::Text(token.text.to_owned())),
                Kind::Open => match self.action()? {
                    Step::Node(node) => nodes.push(node),
                    Step::Ending(ending) => return Ok((nodes, ending)),
                },
                Kind::End => return Ok((nodes, Ending::Nothing)),
                _ => return Err(self.unexpected(token, "input")),
            }
        }
    }

    fn action(&mut self) -> Result<Step, Failure> {
        self.blanks();
        let token = self.peek();
        if token.kind != Kind::Keyword {
            return Ok(Step::Node(Node::Action(self.pipeline("command", Kind::Close)?)));
        }
        self.take();
        match token.text {
            "if" | "with" | "range" => Ok(Step::Node(self.branch(token.text)?)),
            "end" => {
                self.close("end")?;
                Ok(Step::Ending(Ending::End))
            }
            "else" => {
                self.blanks();
                let next = self.peek();
                if next.kind != Kind::Keyword || !matches!(next.text, "if" | "with") {
                    self.close("else")?;
                }
                Ok(Step::Ending(Ending::Else))
            }
            "break" | "continue" => {
                let shown = format!("{{{{{}}}}}", token.text);
                self.close(&shown)?;
                if self.ranges == 0 {
                    return Err(self.wrong(token, &format!("{shown} outside {{{{range}}}}")));
                }
                let breaks = token.text == "break";
                Ok(Step::Node(if breaks { Node::Break } else { Node::Continue }))
            }
            name => {
                let problem = format!(
                    "Ichor does not understand {{{{{name}}}}}: write what it stands for in its place"
                );
                Err(self.wrong(token, &problem))
            }
        }
    }

    fn branch(&mut self, word: &str) -> Result<Node, Failure> {
        self.branches += 1;
        if self.branches > DEEPEST {
            return Err(self.wrong(self.last(), "branches are nested too deeply"));
        }
        let known = self.variables.len();
        let head = self.pipeline(word, Kind::Close)?;
        let loops = usize::from(word == "range");
        self.ranges += loops;
        let (then, ending) = self.nodes()?;
        self.ranges -= loops;
        let otherwise = match ending {
            Ending::Nothing => return Err(self.wrong(self.last(), "unexpected EOF")),
            Ending::End => Vec::new(),
            Ending::Else => self.otherwise(word)?,
        };
        self.variables.truncate(known);
        self.branches -= 1;
        Ok(match word {
            "if" => Node::If { condition: head, then, otherwise },
            "with" => Node::With { value: head, then, otherwise },
            _ => Node::Range { values: head, body: then, otherwise },
        })
    }

    fn otherwise(&mut self, word: &str) -> Result<Vec<Node>, Failure> {
        let next = self.peek();
        // `else if` shares the end of its `if`, and `else with` that of its `with`.
        if next.kind == Kind::Keyword && next.text == word {
            self.take();
            return Ok(vec![self.branch(word)?]);
        }
        let (nodes, ending) = self.nodes()?;
        match ending {
            Ending::End => Ok(nodes),
            Ending::Else => Err(self.wrong(self.last(), "expected end; found {{else}}")),
            Ending::Nothing => Err(self.wrong(self.last(), "unexpected EOF")),
        }
    }

    fn pipeline(&mut self, context: &str, closes: Kind) -> Result<Pipeline, Failure> {
        self.blanks();
        let at = self.peek().at;
        let (variables, declares) = self.declared(context)?;
        let mut commands: Vec<Command> = Vec::new();
        loop {
            self.blanks();
            let token = self.peek();
            if token.kind == closes {
                self.take();
                break;
            }
            if !begins_operand(token.kind) {
                return Err(self.unexpected(token, context));
            }
            commands.push(self.command()?);
        }
        if commands.is_empty() {
            return Err(self.wrong(self.last(), &format!("missing value for {context}")));
        }
        let constant = |command: &Command| command.terms.first().is_some_and(is_constant);
        if let Some(index) = commands.iter().skip(1).position(constant) {
            let problem = format!("non executable command in pipeline stage {}", index + 2);
            return Err(self.wrong(self.last(), &problem));
        }
        let mut shown = variables.join(", ");
        if !variables.is_empty() {
            shown.push_str(if declares { " := " } else { " = " });
        }
        let parts: Vec<&str> = commands.iter().map(|command| command.shown.as_str()).collect();
        shown.push_str(&parts.join(" | "));
        Ok(Pipeline { at, shown, variables, declares, commands })
    }

    /// Reads `$a :=`, `$a, $b :=` or `$a =`, if the text continues so.
    fn declared(&mut self, context: &str) -> Result<(Vec<String>, bool), Failure> {
        let mut names = Vec::new();
        loop {
            self.blanks();
            let begun = self.next;
            let variable = self.peek();
            if variable.kind != Kind::Variable {
                return Ok((names, true));
            }
            self.take();
            self.blanks();
            let sign = self.take();
            let more = sign.kind == Kind::Sign && sign.text == ",";
            if !more && !matches!(sign.kind, Kind::Assign | Kind::Declare) {
                self.next = begun;
                return Ok((names, true));
            }
            names.push(variable.text.to_owned());
            self.variables.push(variable.text.to_owned());
            if !more {
                return Ok((names, sign.kind == Kind::Declare));
            }
            if context != "range" || names.len() > 1 {
                return Err(self.wrong(sign, &format!("too many declarations in {context}")));
            }
            self.blanks();
            if !matches!(self.peek().kind, Kind::Variable | Kind::Close | Kind::Right) {
                return Err(self.wrong(sign, "range can only initialize variables"));
            }
        }
    }

    fn command(&mut self) -> Result<Command, Failure> {
        let at = self.peek().at;
        let mut terms = Vec::new();
        loop {
            self.blanks();
            terms.extend(self.operand()?);
            let token = self.peek();
            match token.kind {
                Kind::Space => {}
                Kind::Close | Kind::Right => break,
                Kind::Pipe => {
                    self.take();
                    break;
                }
                _ => return Err(self.unexpected(token, "operand")),
            }
        }
        let words: Vec<String> = terms.iter().map(in_command).collect();
        Ok(Command { at, shown: words.join(" "), terms })
    }

    /// Parses a term and its fields.
    fn operand(&mut self) -> Result<Option<Term>, Failure> {
        let Some(term) = self.term()? else { return Ok(None) };
        let field = self.peek();
        if field.kind != Kind::Field {
            return Ok(Some(term));
        }
        let mut shown = in_command(&term);
        let mut names = Vec::new();
        while self.peek().kind == Kind::Field {
            let field = self.take();
            shown.push_str(field.text);
            names.push(field.text[1..].to_owned());
        }
        let operand = match term.operand {
            Operand::Fields(fields) => Operand::Fields([fields, names].concat()),
            Operand::Variable(name, fields) => Operand::Variable(name, [fields, names].concat()),
            operand @ (Operand::Function(_) | Operand::Group(_)) => {
                let inner = Term { at: term.at, shown: term.shown, operand };
                Operand::Chain(Box::new(inner), names)
            }
            _ => {
                let problem = format!("unexpected . after term {}", quoted(&term.shown));
                return Err(self.wrong(field, &problem));
            }
        };
        Ok(Some(Term { at: field.at, shown, operand }))
    }

    fn term(&mut self) -> Result<Option<Term>, Failure> {
        let token = self.peek();
        let wrong = |problem: String| self.wrong(token, &problem);
        let operand = match token.kind {
            Kind::Word => {
                functions::find(token.text, self.sprig).map_err(wrong)?;
                Operand::Function(token.text.to_owned())
            }
            Kind::Variable if !self.variables.iter().any(|known| known == token.text) => {
                return Err(wrong(format!("undefined variable {}", quoted(token.text))));
            }
            Kind::Variable => Operand::Variable(token.text.to_owned(), Vec::new()),
            Kind::Field => Operand::Fields(vec![token.text[1..].to_owned()]),
            Kind::Dot => Operand::Dot,
            Kind::Nil => Operand::Nil,
            Kind::Bool => Operand::Bool(token.text == "true"),
            Kind::Number => literal::number(token.text).map_err(wrong)?,
            Kind::Character => Operand::Int(literal::character(token.text).map_err(wrong)?),
            Kind::Quoted => Operand::Text(literal::unquoted(token.text, '"').map_err(wrong)?),
            // Go removes these from a raw string.
            Kind::Raw => Operand::Text(token.text.trim_matches('`').replace('\r', "")),
            Kind::Left => return self.group().map(Some),
            _ => return Ok(None),
        };
        self.take();
        Ok(Some(Term { at: token.at, shown: token.text.to_owned(), operand }))
    }

    fn group(&mut self) -> Result<Term, Failure> {
        let left = self.take();
        self.parentheses += 1;
        if self.parentheses > DEEPEST {
            return Err(self.wrong(left, "parentheses are nested too deeply"));
        }
        let pipeline = self.pipeline("parenthesized pipeline", Kind::Right)?;
        self.parentheses -= 1;
        let (at, shown) = (pipeline.at, pipeline.shown.clone());
        Ok(Term { at, shown, operand: Operand::Group(Box::new(pipeline)) })
    }

    fn close(&mut self, context: &str) -> Result<(), Failure> {
        self.blanks();
        let token = self.take();
        if token.kind == Kind::Close { Ok(()) } else { Err(self.unexpected(token, context)) }
    }

    fn blanks(&mut self) {
        while self.peek().kind == Kind::Space {
            self.take();
        }
    }

    fn take(&mut self) -> Token<'a> {
        self.last = self.next;
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        self.last()
    }

    fn peek(&self) -> Token<'a> {
        self.tokens[self.next]
    }

    fn last(&self) -> Token<'a> {
        self.tokens[self.last]
    }

    fn unexpected(&self, token: Token<'_>, context: &str) -> Failure {
        let shown = match token.kind {
            Kind::Wrong => return self.wrong(token, &self.problem),
            Kind::End => "EOF".to_owned(),
            Kind::Keyword | Kind::Nil | Kind::Dot => format!("<{}>", token.text),
            _ if token.text.len() > 10 => {
                let begin: String = token.text.chars().take(10).collect();
                format!("{}...", quoted(&begin))
            }
            _ => quoted(token.text),
        };
        self.wrong(token, &format!("unexpected {shown} in {context}"))
    }

    fn wrong(&self, token: Token<'_>, problem: &str) -> Failure {
        let before = self.text.get(..token.at).unwrap_or(self.text);
        Failure { line: line_after(before), column: None, problem: problem.to_owned() }
    }
}

fn begins_operand(kind: Kind) -> bool {
    match kind {
        Kind::Word
        | Kind::Bool
        | Kind::Nil
        | Kind::Dot
        | Kind::Field
        | Kind::Variable
        | Kind::Number
        | Kind::Quoted
        | Kind::Raw
        | Kind::Character
        | Kind::Left => true,
        Kind::Text
        | Kind::Open
        | Kind::Close
        | Kind::Space
        | Kind::Keyword
        | Kind::Right
        | Kind::Pipe
        | Kind::Assign
        | Kind::Declare
        | Kind::Sign
        | Kind::Wrong
        | Kind::End => false,
    }
}

/// Returns true if a term can only be at the head of the first command.
fn is_constant(term: &Term) -> bool {
    matches!(
        term.operand,
        Operand::Dot
            | Operand::Nil
            | Operand::Bool(_)
            | Operand::Int(_)
            | Operand::Float(_)
            | Operand::Text(_)
    )
}

fn in_command(term: &Term) -> String {
    match term.operand {
        Operand::Group(_) => format!("({})", term.shown),
        _ => term.shown.clone(),
    }
}

/// Deeper than any real template, and safe on a small stack.
const DEEPEST: usize = 50;

#[cfg(test)]
mod tests {
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn what_go_cannot_read_is_refused_in_its_words() {
        check(&[
            ("{{ break }}", "ERR 1: {{break}} outside {{range}}"),
            ("{{ continue }}", "ERR 1: {{continue}} outside {{range}}"),
            ("{{ if true }}{{ break }}{{ end }}", "ERR 1: {{break}} outside {{range}}"),
            (
                "{{ range .MachineConfig.MachineCertSANs }}{{ else }}{{ break }}{{ end }}",
                "ERR 1: {{break}} outside {{range}}",
            ),
            ("{{ break 1 }}", "ERR 1: unexpected \"1\" in {{break}}"),
            (
                "{{ range list }}{{ continue 1 }}{{ end }}",
                "ERR 1: unexpected \"1\" in {{continue}}",
            ),
            ("{{ end }}", "ERR 1: unexpected {{end}}"),
            ("{{ else }}", "ERR 1: unexpected {{else}}"),
            ("{{ if true }}", "ERR 1: unexpected EOF"),
            ("{{ if true }}a{{ end x }}", "ERR 1: unexpected \"x\" in end"),
            ("{{ if true }}a{{ else x }}b{{ end }}", "ERR 1: unexpected \"x\" in else"),
            (
                "{{ if true }}a{{ else }}b{{ else }}c{{ end }}",
                "ERR 1: expected end; found {{else}}",
            ),
            ("{{ if true }}a{{ else with 1 }}b{{ end }}", "ERR 1: unexpected <with> in input"),
            ("{{ with 1 }}a{{ else if 1 }}b{{ end }}", "ERR 1: unexpected <if> in input"),
            ("{{ range list }}a{{ else if 1 }}b{{ end }}", "ERR 1: unexpected <if> in input"),
            ("{{ if }}a{{ end }}", "ERR 1: missing value for if"),
            ("{{ range }}a{{ end }}", "ERR 1: missing value for range"),
            ("{{ with }}a{{ end }}", "ERR 1: missing value for with"),
            ("{{ }}", "ERR 1: missing value for command"),
            ("{{ | }}", "ERR 1: unexpected \"|\" in command"),
            ("{{ \"a\" | \"b\" }}", "ERR 1: non executable command in pipeline stage 2"),
            ("{{ \"a\" | print | 1 }}", "ERR 1: non executable command in pipeline stage 3"),
            ("{{ print \"a\"\"b\" }}", "ERR 1: unexpected \"\\\"b\\\"\" in operand"),
            ("{{ print\"a\" }}", "ERR 1: bad character U+0022 '\"'"),
            ("{{ print \"unexpected\"if }}", "ERR 1: unexpected <if> in operand"),
            (
                "{{ print \"a long text\"\"another one\" }}",
                "ERR 1: unexpected \"\\\"another o\"... in operand",
            ),
            ("{{ \"a\".b }}", "ERR 1: unexpected . after term \"\\\"a\\\"\""),
            ("{{ nil.x }}", "ERR 1: unexpected . after term \"nil\""),
            ("{{ true.x }}", "ERR 1: unexpected . after term \"true\""),
            ("{{ .A.B.. }}", "ERR 1: unexpected <.> in operand"),
            ("{{ $x }}", "ERR 1: undefined variable \"$x\""),
            ("{{ $x=1 }}", "ERR 1: bad character U+003D '='"),
            ("{{ $x :1 }}", "ERR 1: undefined variable \"$x\""),
            ("{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}", "ERR 1: undefined variable \"$x\""),
            ("{{ range $x := list }}{{ end }}{{ $x }}", "ERR 1: undefined variable \"$x\""),
            ("{{ $a, $b := 1 }}", "ERR 1: too many declarations in command"),
            ("{{ range $a, $b, $c := list }}{{ end }}", "ERR 1: too many declarations in range"),
            ("{{ range $a, 1 := list }}{{ end }}", "ERR 1: range can only initialize variables"),
            ("{{ 1 = 2 }}", "ERR 1: unexpected \"=\" in operand"),
            ("{{ print := 2 }}", "ERR 1: unexpected \":=\" in operand"),
            ("{{ print , }}", "ERR 1: unexpected \",\" in operand"),
            ("{{ : }}", "ERR 1: expected :="),
            ("{{ ! }}", "ERR 1: unexpected \"!\" in command"),
            ("{{ .! }}", "ERR 1: bad character U+0021 '!'"),
            ("{{ $! }}", "ERR 1: bad character U+0021 '!'"),
            ("{{ ) }}", "ERR 1: unexpected right paren"),
            ("{{ ( }}", "ERR 1: unclosed left paren"),
            ("{{ () }}", "ERR 1: missing value for parenthesized pipeline"),
            ("{{ (print }}", "ERR 1: unclosed left paren"),
            ("{{ print ) }}", "ERR 1: unexpected right paren"),
            ("{{ (print . }}", "ERR 1: unclosed left paren"),
            ("{{\u{a0}print }}", "ERR 1: unrecognized character in action: U+00A0"),
            ("{{ é }}", "ERR 1: function \"é\" not defined"),
            ("{{ toYaml 1 }}", "ERR 1: function \"toYaml\" not defined"),
            ("a\n\n{{ nope }}", "ERR 3: function \"nope\" not defined"),
            ("{{ print 1\n| nope }}", "ERR 2: function \"nope\" not defined"),
            ("{{", "ERR 1: unclosed action"),
            ("{{ print", "ERR 1: unclosed action"),
            ("{{ \"a", "ERR 1: unterminated quoted string"),
            ("{{ `a", "ERR 1: unterminated raw quoted string"),
            ("{{ 'a", "ERR 1: unterminated character constant"),
            ("{{ \"a\nb\" }}", "ERR 1: unterminated quoted string"),
            ("{{/* x", "ERR 1: unclosed comment"),
            ("{{/* x */ }}", "ERR 1: comment ends before closing delimiter"),
            ("{{ /* x */ }}", "ERR 1: unexpected \"/\" in command"),
            ("{{{ 1 }}", "ERR 1: unexpected \"{\" in command"),
        ]);
    }

    #[test]
    fn what_only_go_has_is_refused_and_told() {
        check(&[
            (
                "{{ define \"x\" }}a{{ end }}",
                "ERR 1: Ichor does not understand {{define}}: write what it stands for in its place",
            ),
            (
                "a\n{{ template \"x\" }}",
                "ERR 2: Ichor does not understand {{template}}: write what it stands for in its place",
            ),
            (
                "{{ block \"x\" . }}a{{ end }}",
                "ERR 1: Ichor does not understand {{block}}: write what it stands for in its place",
            ),
            ("{{ 2i }}", "ERR 1: Ichor does not have complex numbers"),
            ("{{ 1+2i }}", "ERR 1: Ichor does not have complex numbers"),
        ]);
        let deep = format!("{{{{ {}1{} }}}}", "(".repeat(60), ")".repeat(60));
        check(&[(deep.as_str(), "ERR 1: parentheses are nested too deeply")]);
        let deep = format!("{}{}", "{{ if 1 }}".repeat(60), "{{ end }}".repeat(60));
        check(&[(deep.as_str(), "ERR 1: branches are nested too deeply")]);
    }
}
