//! Characters to tokens. The longest token wins; what is no token is reported and left out.

use super::source::{Errors, Position, SourceText};

/// What a token is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Kind {
    End,
    // The order is that of the reference's grammar, in which expected tokens are listed.
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    OpenParenthesis,
    CloseParenthesis,
    Dot,
    Comma,
    Minus,
    Exclamation,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Identifier,
    EscapedIdentifier,
}

impl Kind {
    pub(super) const ALL: [Self; 36] = [
        Self::End,
        Self::Equals,
        Self::NotEquals,
        Self::In,
        Self::Less,
        Self::LessEquals,
        Self::GreaterEquals,
        Self::Greater,
        Self::And,
        Self::Or,
        Self::OpenBracket,
        Self::CloseBracket,
        Self::OpenBrace,
        Self::CloseBrace,
        Self::OpenParenthesis,
        Self::CloseParenthesis,
        Self::Dot,
        Self::Comma,
        Self::Minus,
        Self::Exclamation,
        Self::Question,
        Self::Colon,
        Self::Plus,
        Self::Star,
        Self::Slash,
        Self::Percent,
        Self::True,
        Self::False,
        Self::Null,
        Self::Float,
        Self::Int,
        Self::Uint,
        Self::String,
        Self::Bytes,
        Self::Identifier,
        Self::EscapedIdentifier,
    ];

    /// How a list of expected tokens names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::End => "<EOF>",
            Self::Equals => "'=='",
            Self::NotEquals => "'!='",
            Self::In => "'in'",
            Self::Less => "'<'",
            Self::LessEquals => "'<='",
            Self::GreaterEquals => "'>='",
            Self::Greater => "'>'",
            Self::And => "'&&'",
            Self::Or => "'||'",
            Self::OpenBracket => "'['",
            Self::CloseBracket => "']'",
            Self::OpenBrace => "'{'",
            Self::CloseBrace => "'}'",
            Self::OpenParenthesis => "'('",
            Self::CloseParenthesis => "')'",
            Self::Dot => "'.'",
            Self::Comma => "','",
            Self::Minus => "'-'",
            Self::Exclamation => "'!'",
            Self::Question => "'?'",
            Self::Colon => "':'",
            Self::Plus => "'+'",
            Self::Star => "'*'",
            Self::Slash => "'/'",
            Self::Percent => "'%'",
            Self::True => "'true'",
            Self::False => "'false'",
            Self::Null => "'null'",
            Self::Float => "NUM_FLOAT",
            Self::Int => "NUM_INT",
            Self::Uint => "NUM_UINT",
            Self::String => "STRING",
            Self::Bytes => "BYTES",
            Self::Identifier => "IDENTIFIER",
            Self::EscapedIdentifier => "ESC_IDENTIFIER",
        }
    }
}

/// A token and where its characters are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// What was read.
pub(super) struct Tokens {
    /// The last one is the end.
    pub(super) tokens: Vec<Token>,
    /// The ranges of characters that are in no token, not even in space.
    pub(super) unknown: Vec<(usize, usize)>,
}

/// All tokens, or nothing when so much is wrong that it is not worth to go on.
pub(super) fn tokens(source: &SourceText, errors: &mut Errors) -> Option<Tokens> {
    let characters = source.characters();
    let mut tokens = Vec::new();
    let mut unknown = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let rest = Rest(&characters[at..]);
        match rest.next() {
            Ok((kind, length)) => {
                if let Some(kind) = kind {
                    tokens.push(Token { kind, from: at, to: at + length });
                }
                at += length;
            }
            Err(_) if unknown.len() == MOST_ERRORS => {
                let message = format!("Syntax error: More than {MOST_ERRORS} syntax errors");
                errors.report(Position::At(at), message);
                return None;
            }
            Err(length) => {
                // The character at which the token failed is given up with it.
                let end = (at + length + 1).min(characters.len());
                let text = source.text(at, end);
                let message = format!("Syntax error: token recognition error at: '{text}'");
                errors.report(Position::At(at), message);
                unknown.push((at, end));
                at = end;
            }
        }
    }
    tokens.push(Token { kind: Kind::End, from: characters.len(), to: characters.len() });
    Some(Tokens { tokens, unknown })
}

/// Text as an error shows it: on one line.
pub(super) fn escape(text: &str) -> String {
    text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// What is wrong with the escapes of a string or bytes, although each is well written.
pub(super) fn check_escapes(text: &str) -> Result<(), &'static str> {
    let prefix = &text[..text.find(['"', '\'']).unwrap_or(0)];
    if prefix.contains(['r', 'R']) {
        return Ok(());
    }
    let mut rest = &text[prefix.len()..];
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at + 1..];
        let digits = match escape.chars().next() {
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        if digits > 0 && !prefix.is_empty() {
            return Err("unable to unescape string");
        }
        let number = escape.get(1..=digits).unwrap_or_default();
        if digits > 0 && u32::from_str_radix(number, 16).ok().and_then(char::from_u32).is_none() {
            return Err("invalid unicode code point");
        }
        rest = escape.get(1 + digits..).unwrap_or_default();
    }
    Ok(())
}

/// The longest token so far, and how far any token could have gone on.
type Match = (Option<usize>, usize);

/// The characters that are left.
struct Rest<'a>(&'a [char]);

impl Rest<'_> {
    /// Kind and length of the next token, no kind for space and comments; or how many characters
    /// might have begun one.
    fn next(&self) -> Result<(Option<Kind>, usize), usize> {
        let first = self.at(0).unwrap_or_default();
        match first {
            '\t' | ' ' | '\r' | '\n' | '\u{c}' => {
                let space = |c| matches!(c, '\t' | ' ' | '\r' | '\n' | '\u{c}');
                Ok((None, self.run(0, space)))
            }
            '/' if self.at(1) == Some('/') => Ok((None, self.run(2, |c| c != '\n'))),
            '`' => self.escaped_identifier(),
            '0'..='9' => Ok(self.number()),
            '.' if self.at(1).is_some_and(|c| c.is_ascii_digit()) => {
                Ok((Some(Kind::Float), self.exponent(self.run(1, |c| c.is_ascii_digit()))))
            }
            '"' | '\'' => finish(Kind::String, self.string(0)),
            '_' | 'a'..='z' | 'A'..='Z' => Ok(self.word()),
            _ => self.operator(first),
        }
    }

    /// An identifier or keyword, or a string with a prefix.
    fn word(&self) -> (Option<Kind>, usize) {
        let length = self.run(0, |c| c == '_' || c.is_ascii_alphanumeric());
        let prefix: String = self.0[..length.min(3)].iter().collect::<String>().to_lowercase();
        let quoted = matches!(self.at(length), Some('"' | '\''));
        if quoted && matches!(prefix.as_str(), "r" | "b" | "br") {
            let string =
                if prefix.ends_with('r') { self.raw_string(length) } else { self.string(length) };
            if let (Some(end), _) = string {
                let kind = if prefix.starts_with('b') { Kind::Bytes } else { Kind::String };
                return (Some(kind), end);
            }
        }
        let kind = match self.0[..length].iter().collect::<String>().as_str() {
            "in" => Kind::In,
            "true" => Kind::True,
            "false" => Kind::False,
            "null" => Kind::Null,
            _ => Kind::Identifier,
        };
        (Some(kind), length)
    }

    fn escaped_identifier(&self) -> Result<(Option<Kind>, usize), usize> {
        let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' ');
        let end = self.run(1, inner);
        if end > 1 && self.at(end) == Some('`') {
            Ok((Some(Kind::EscapedIdentifier), end + 1))
        } else {
            Err(end)
        }
    }

    fn number(&self) -> (Option<Kind>, usize) {
        let unsigned = |end: usize| {
            if matches!(self.at(end), Some('u' | 'U')) {
                (Some(Kind::Uint), end + 1)
            } else {
                (Some(Kind::Int), end)
            }
        };
        if self.at(0) == Some('0') && self.at(1) == Some('x') {
            let end = self.run(2, |c| c.is_ascii_hexdigit());
            if end > 2 {
                return unsigned(end);
            }
        }
        let digits = self.run(0, |c| c.is_ascii_digit());
        let mut end = digits;
        if self.at(end) == Some('.') {
            let fraction = self.run(end + 1, |c| c.is_ascii_digit());
            if fraction > end + 1 {
                end = fraction;
            }
        }
        let end = self.exponent(end);
        if end > digits { (Some(Kind::Float), end) } else { unsigned(digits) }
    }

    /// The end of an exponent that begins here, or here.
    fn exponent(&self, at: usize) -> usize {
        if !matches!(self.at(at), Some('e' | 'E')) {
            return at;
        }
        let digits = if matches!(self.at(at + 1), Some('+' | '-')) { at + 2 } else { at + 1 };
        let end = self.run(digits, |c| c.is_ascii_digit());
        if end > digits { end } else { at }
    }

    /// A string without prefix whose quote is here.
    fn string(&self, at: usize) -> Match {
        let Some(quote) = self.at(at) else { return (None, at) };
        if self.at(at + 1) == Some(quote) {
            let short = at + 2;
            if self.at(short) != Some(quote) {
                return (Some(short), short);
            }
            let mut end = at + 3;
            loop {
                match self.at(end) {
                    None => return (Some(short), end),
                    Some('\\') => match self.escape_sequence(end) {
                        Ok(next) => end = next,
                        Err(failed) => return (Some(short), failed),
                    },
                    Some(c) if c == quote && self.repeats(end, quote) => {
                        return (Some(end + 3), end + 3);
                    }
                    Some(_) => end += 1,
                }
            }
        }
        let mut end = at + 1;
        loop {
            match self.at(end) {
                None | Some('\n' | '\r') => return (None, end),
                Some('\\') => match self.escape_sequence(end) {
                    Ok(next) => end = next,
                    Err(failed) => return (None, failed),
                },
                Some(c) if c == quote => return (Some(end + 1), end + 1),
                Some(_) => end += 1,
            }
        }
    }

    /// The same without escapes.
    fn raw_string(&self, at: usize) -> Match {
        let Some(quote) = self.at(at) else { return (None, at) };
        if self.at(at + 1) == Some(quote) {
            let short = at + 2;
            if self.at(short) != Some(quote) {
                return (Some(short), short);
            }
            let mut end = at + 3;
            while end < self.0.len() {
                if self.repeats(end, quote) {
                    return (Some(end + 3), end + 3);
                }
                end += 1;
            }
            return (Some(short), end);
        }
        let end = self.run(at + 1, |c| c != quote && c != '\n' && c != '\r');
        if self.at(end) == Some(quote) { (Some(end + 1), end + 1) } else { (None, end) }
    }

    /// Where an escape sequence ends, or where it fails.
    fn escape_sequence(&self, at: usize) -> Result<usize, usize> {
        let digits = |from: usize, count: usize, digit: fn(char) -> bool| {
            for next in from..from + count {
                if !self.at(next).is_some_and(digit) {
                    return Err(next);
                }
            }
            Ok(from + count)
        };
        let hexadecimal = |c: char| c.is_ascii_hexdigit();
        match self.at(at + 1) {
            Some('a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`') => {
                Ok(at + 2)
            }
            Some('x' | 'X') => digits(at + 2, 2, hexadecimal),
            Some('u') => digits(at + 2, 4, hexadecimal),
            Some('U') => digits(at + 2, 8, hexadecimal),
            Some('0'..='3') => digits(at + 2, 2, |c| matches!(c, '0'..='7')),
            _ => Err(at + 1),
        }
    }

    fn operator(&self, first: char) -> Result<(Option<Kind>, usize), usize> {
        let second = self.at(1);
        let (kind, length) = match (first, second) {
            ('=', Some('=')) => (Kind::Equals, 2),
            ('!', Some('=')) => (Kind::NotEquals, 2),
            ('<', Some('=')) => (Kind::LessEquals, 2),
            ('>', Some('=')) => (Kind::GreaterEquals, 2),
            ('&', Some('&')) => (Kind::And, 2),
            ('|', Some('|')) => (Kind::Or, 2),
            ('=' | '&' | '|', _) => return Err(1),
            ('<', _) => (Kind::Less, 1),
            ('>', _) => (Kind::Greater, 1),
            ('[', _) => (Kind::OpenBracket, 1),
            (']', _) => (Kind::CloseBracket, 1),
            ('{', _) => (Kind::OpenBrace, 1),
            ('}', _) => (Kind::CloseBrace, 1),
            ('(', _) => (Kind::OpenParenthesis, 1),
            (')', _) => (Kind::CloseParenthesis, 1),
            ('.', _) => (Kind::Dot, 1),
            (',', _) => (Kind::Comma, 1),
            ('-', _) => (Kind::Minus, 1),
            ('!', _) => (Kind::Exclamation, 1),
            ('?', _) => (Kind::Question, 1),
            (':', _) => (Kind::Colon, 1),
            ('+', _) => (Kind::Plus, 1),
            ('*', _) => (Kind::Star, 1),
            ('/', _) => (Kind::Slash, 1),
            ('%', _) => (Kind::Percent, 1),
            _ => return Err(0),
        };
        Ok((Some(kind), length))
    }

    fn at(&self, at: usize) -> Option<char> {
        self.0.get(at).copied()
    }

    /// Whether three of the quote are here.
    fn repeats(&self, at: usize, quote: char) -> bool {
        (at..at + 3).all(|at| self.at(at) == Some(quote))
    }

    /// The end of the characters of a sort that begin here.
    fn run(&self, from: usize, of: impl Fn(char) -> bool) -> usize {
        let rest = self.0.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|c| of(**c)).count()
    }
}

fn finish(kind: Kind, (end, failed): Match) -> Result<(Option<Kind>, usize), usize> {
    end.map(|end| (Some(kind), end)).ok_or(failed)
}

/// After how many errors the reference stops.
const MOST_ERRORS: usize = 100;
