//! From text to tokens.

/// A token with its position.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) at: usize,
    pub(super) kind: Kind,
    pub(super) text: &'a str,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// The text between actions.
    Text,
    Open,
    Close,
    Space,
    /// The name of a function.
    Word,
    Keyword,
    Bool,
    Nil,
    Dot,
    /// `.Name`
    Field,
    /// `$` or `$name`
    Variable,
    Number,
    Quoted,
    Raw,
    Character,
    Left,
    Right,
    Pipe,
    Assign,
    Declare,
    /// Any other sign that is printed.
    Sign,
    /// The rest of the text cannot be read.
    Wrong,
    End,
}

/// Returns the tokens of a template, and the problem if the last one is [`Kind::Wrong`]. There is
/// always a last one.
pub(super) fn tokens(text: &str) -> (Vec<Token<'_>>, String) {
    let mut lexer = Lexer { text, position: 0, tokens: Vec::new() };
    let problem = lexer.template().err();
    let kind = if problem.is_some() { Kind::Wrong } else { Kind::End };
    lexer.tokens.push(Token { at: lexer.position, kind, text: "" });
    (lexer.tokens, problem.unwrap_or_default())
}

struct Lexer<'a> {
    text: &'a str,
    /// The start of the next token, even if it cannot be read.
    position: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn template(&mut self) -> Result<(), String> {
        loop {
            let rest = self.rest();
            let Some(open) = rest.find("{{") else {
                self.plain(rest);
                self.position = self.text.len();
                return Ok(());
            };
            let inside = &rest[open + 2..];
            // A dash and a blank at a brace take the blanks on its other side away.
            let trims = inside.starts_with('-') && inside[1..].starts_with(is_space);
            let before = &rest[..open];
            self.plain(if trims { before.trim_end_matches(is_space) } else { before });
            let at = self.position + open;
            self.position = at + if trims { 4 } else { 2 };
            if self.rest().starts_with("/*") {
                self.comment()?;
            } else {
                self.tokens.push(Token { at, kind: Kind::Open, text: "{{" });
                self.action()?;
            }
        }
    }

    fn plain(&mut self, text: &'a str) {
        if !text.is_empty() {
            self.tokens.push(Token { at: self.position, kind: Kind::Text, text });
        }
    }

    fn comment(&mut self) -> Result<(), String> {
        let inside = &self.rest()[2..];
        let end = inside.find("*/").ok_or("unclosed comment")?;
        let (length, trims) =
            closing(&inside[end + 2..]).ok_or("comment ends before closing delimiter")?;
        self.position += 2 + end + 2 + length;
        self.trim(trims);
        Ok(())
    }

    fn action(&mut self) -> Result<(), String> {
        let mut depth = 0_usize;
        loop {
            let rest = self.rest();
            if let Some((length, trims)) = closing(rest) {
                if depth > 0 {
                    return Err("unclosed left paren".to_owned());
                }
                let at = self.position + length - 2;
                self.tokens.push(Token { at, kind: Kind::Close, text: "}}" });
                self.position += length;
                self.trim(trims);
                return Ok(());
            }
            let first = rest.chars().next().ok_or("unclosed action")?;
            let (kind, length) = match first {
                '(' => {
                    depth += 1;
                    (Kind::Left, 1)
                }
                ')' => {
                    depth = depth.checked_sub(1).ok_or("unexpected right paren")?;
                    (Kind::Right, 1)
                }
                _ => token(rest, first)?,
            };
            let text = &rest[..length];
            self.tokens.push(Token { at: self.position, kind, text });
            self.position += length;
        }
    }

    fn trim(&mut self, trims: bool) {
        if trims {
            let rest = self.rest();
            self.position += rest.len() - rest.trim_start_matches(is_space).len();
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }
}

/// Returns the length of the action's end at this position, and whether it trims the blanks after
/// it.
fn closing(rest: &str) -> Option<(usize, bool)> {
    if rest.starts_with("}}") {
        return Some((2, false));
    }
    let marked = rest.starts_with(is_space) && rest[1..].starts_with("-}}");
    marked.then_some((4, true))
}

/// Reads the token that begins with a character, and its length.
fn token(rest: &str, first: char) -> Result<(Kind, usize), String> {
    let quoted = |kind: Kind, problem: &str| -> Result<(Kind, usize), String> {
        let length = end_of_quoted(rest, first).ok_or(problem)?;
        Ok((kind, length))
    };
    match first {
        ' ' | '\t' | '\r' | '\n' => Ok((Kind::Space, blanks(rest))),
        '=' => Ok((Kind::Assign, 1)),
        ':' if rest.starts_with(":=") => Ok((Kind::Declare, 2)),
        ':' => Err("expected :=".to_owned()),
        '|' => Ok((Kind::Pipe, 1)),
        '"' => quoted(Kind::Quoted, "unterminated quoted string"),
        '\'' => quoted(Kind::Character, "unterminated character constant"),
        '`' => {
            let end = rest[1..].find('`').ok_or("unterminated raw quoted string")?;
            Ok((Kind::Raw, end + 2))
        }
        '$' => Ok((Kind::Variable, 1 + name(&rest[1..])?)),
        '.' if !rest[1..].starts_with(|next: char| next.is_ascii_digit()) => {
            let length = name(&rest[1..])?;
            Ok((if length == 0 { Kind::Dot } else { Kind::Field }, 1 + length))
        }
        '.' | '+' | '-' | '0'..='9' => Ok((Kind::Number, number(rest)?)),
        _ if is_name(first) => {
            let length = name(rest)?;
            Ok((word(&rest[..length]), length))
        }
        ' '..='~' => Ok((Kind::Sign, 1)),
        _ => Err(format!("unrecognized character in action: {}", code(first))),
    }
}

/// Returns the length of a run of blanks, without the one that belongs to the end of the action.
fn blanks(rest: &str) -> usize {
    let run = rest.len() - rest.trim_start_matches(is_space).len();
    run - usize::from(rest[run..].starts_with("-}}"))
}

fn end_of_quoted(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the length of a name, which may be zero; an invalid character after it is an error.
fn name(rest: &str) -> Result<usize, String> {
    let end = rest.find(|character: char| !is_name(character)).unwrap_or(rest.len());
    let behind = &rest[end..];
    match behind.chars().next() {
        Some(next) if !is_space(next) && !".,|:)(".contains(next) && !behind.starts_with("}}") => {
            Err(format!("bad character {}", code(next)))
        }
        _ => Ok(end),
    }
}

fn word(text: &str) -> Kind {
    match text {
        "true" | "false" => Kind::Bool,
        "nil" => Kind::Nil,
        "block" | "break" | "continue" | "define" | "else" | "end" | "if" | "range"
        | "template" | "with" => Kind::Keyword,
        _ => Kind::Word,
    }
}

fn number(rest: &str) -> Result<usize, String> {
    let bad = |length: usize| format!("bad number syntax: {:?}", &rest[..length]);
    let length = one_number(rest).map_err(bad)?;
    if !rest[length..].starts_with(['+', '-']) {
        return Ok(length);
    }
    match one_number(&rest[length..]) {
        Ok(more) if rest[..length + more].ends_with('i') => {
            Err("Ichor does not have complex numbers".to_owned())
        }
        Ok(more) | Err(more) => Err(bad(length + more)),
    }
}

/// Returns the length of a number, or of the text that shows that it is not one.
fn one_number(rest: &str) -> Result<usize, usize> {
    let mut end = usize::from(rest.starts_with(['+', '-']));
    let radix = match rest.as_bytes().get(end..end + 2) {
        Some(b"0x" | b"0X") => 16,
        Some(b"0o" | b"0O") => 8,
        Some(b"0b" | b"0B") => 2,
        _ => 10,
    };
    if radix != 10 {
        end += 2;
    }
    let digits = |from: usize| {
        let rest = &rest[from..];
        rest.find(|next: char| next != '_' && !next.is_digit(radix)).unwrap_or(rest.len())
    };
    end += digits(end);
    if rest[end..].starts_with('.') {
        end += 1;
        end += digits(end);
    }
    if radix == 10 && rest[end..].starts_with(['e', 'E']) {
        end += 1;
        end += usize::from(rest[end..].starts_with(['+', '-']));
        end += digits(end);
    }
    end += usize::from(rest[end..].starts_with('i'));
    match rest[end..].chars().next() {
        Some(next) if is_name(next) => Err(end + next.len_utf8()),
        _ => Ok(end),
    }
}

/// Formats a character as Go's errors do.
fn code(character: char) -> String {
    let number = format!("U+{:04X}", u32::from(character));
    let hidden = character.is_control() || (character.is_whitespace() && character != ' ');
    if hidden { number } else { format!("{number} '{character}'") }
}

/// Returns true for a blank; Go knows no others.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

/// Returns true for a character of a name.
fn is_name(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn blanks_and_comments_are_taken_away_as_go_does() {
        check(&[
            ("{{/* it's */}}|", "|"),
            ("{{- /* x */ -}} |", "|"),
            ("a {{- /* x */ -}} b", "ab"),
            ("a\n{{- 1 -}}\n b", "a1b"),
            ("a \r\n{{-\t1\n-}}\u{a0}b", "a1\u{a0}b"),
            ("{{-1}}", "-1"),
            ("{{1 -}} a", "1a"),
            ("a\u{a0}{{- 1}}", "a\u{a0}1"),
            ("a }} b {{ 1 }}}", "a }} b 1}"),
            ("{{ \"}}\" }}{{ \"{{\" }}", "}}{{"),
            ("{{ print\n1 }}", "1"),
        ]);
    }
}
