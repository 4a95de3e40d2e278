//! Tokens to a tree, by recursive descent over the grammar of the reference.
//!
//! After a syntax error the parser goes on as the reference's does, because that decides which errors
//! follow: it drops one token that is too much, makes up one that is missing, or gives the rule up and
//! skips what cannot follow it. `Follow` is what it needs to know for that.
//!
//! Always holds: the depth of the recursion and of the tree is bounded by [`DEEPEST`].

use super::lex::{self, Kind as T, Token, Tokens};
use super::macros;
use super::source::{Errors, Place, Source};
use super::syntax::{Element, Entry, Field, Id, Kind, Literal, Name, Tree};

/// A tree and its root, if nothing is wrong.
pub(super) fn parse(
    source: &Source,
    optional_syntax: bool,
    errors: &mut Errors,
) -> Option<(Tree, Id)> {
    let Tokens { tokens, unknown } = lex::tokens(source, errors)?;
    let mut parser = Parser {
        source,
        tokens,
        unknown,
        next: 0,
        optional_syntax,
        syntax: errors,
        meaning: Errors::default(),
        tree: Tree::default(),
        ids: 0,
        follow: Vec::new(),
        recovering: false,
        recoveries: 0,
        last_error: None,
        expressions: 0,
        relations: 0,
        calculations: 0,
        halted: false,
    };
    let root = parser.start();
    let Parser { meaning, tree, halted, .. } = parser;
    if !halted {
        if root.height > DEEPEST {
            errors.report(Place::Nowhere, "max recursion depth exceeded");
        } else {
            errors.append(meaning);
        }
    }
    errors.is_empty().then_some((tree, root.id))
}

/// A part of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) id: Id,
    /// How many operators, selections and calls are nested in it.
    pub(super) height: usize,
}

pub(super) struct Parser<'a> {
    source: &'a Source,
    tokens: Vec<Token>,
    /// Characters that are in no token, not even in space.
    unknown: Vec<(usize, usize)>,
    next: usize,
    optional_syntax: bool,
    syntax: &'a mut Errors,
    /// Errors in what is good syntax. They are dropped when the syntax could not be read to its end.
    meaning: Errors,
    tree: Tree,
    /// How many numbers the reference would have given out to nodes and entries.
    ids: usize,
    /// What may follow each rule that is being read.
    follow: Vec<Follow>,
    /// Between an error and the next token that fits nothing is reported.
    recovering: bool,
    recoveries: usize,
    /// Where the last error was, and the sites that met it.
    last_error: Option<(usize, Vec<Site>)>,
    expressions: usize,
    relations: usize,
    calculations: usize,
    /// A limit was exceeded: nothing is read or reported any more.
    halted: bool,
}

/// The tokens that can come next, and whether the rule can also end here.
#[derive(Clone, Copy)]
struct Follow(Set, bool);

/// A set of tokens, as bits.
type Set = u64;

/// Where in the grammar an error is noticed.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Site {
    Start,
    Expression,
    Unary,
    Member,
    Primary,
    MapEntries,
    MessageFields,
    EscapedIdentifier,
}

/// The rule cannot be read; this was the message.
struct Mismatch {
    at: usize,
    message: String,
}

impl Parser<'_> {
    /// Adds a node of an expanded macro.
    pub(super) fn add(&mut self, at: usize, kind: Kind) -> Id {
        self.ids += 1;
        self.tree.add(at, kind)
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Reports something that is good syntax and yet wrong.
    pub(super) fn invalid(&mut self, at: usize, message: impl Into<String>) -> Id {
        self.meaning.report(Place::At(at), message);
        self.add(at, Kind::Invalid)
    }

    fn start(&mut self) -> Part {
        self.follow.push(Follow(set(&[T::End]), false));
        let root = self.expression();
        self.follow.pop();
        if let Err(mismatch) = self.expect(T::End, Follow(0, false)) {
            self.give_up(Site::Start, mismatch);
        }
        root
    }

    fn expression(&mut self) -> Part {
        self.expressions += 1;
        if self.expressions > DEEPEST {
            self.too_deep();
        }
        let part = self.conditional();
        self.expressions -= 1;
        part
    }

    fn conditional(&mut self) -> Part {
        let condition = self.within(Follow(set(&[T::Question]), true), Self::logical);
        if self.peek() != T::Question {
            return condition;
        }
        let at = self.take();
        let then = self.within(Follow(set(&[T::Colon]), false), Self::logical);
        if let Err(mismatch) = self.expect(T::Colon, Follow(EXPRESSION, false)) {
            self.give_up(Site::Expression, mismatch);
            return self.nothing(at);
        }
        let otherwise = self.within(Follow(0, true), Self::expression);
        let id = self.call(at, "_?_:_", None, vec![condition.id, then.id, otherwise.id]);
        let height = condition.height.max(then.height).max(otherwise.height) + 1;
        Part { id, height }
    }

    /// `||` over `&&` over comparisons, in one function to save stack.
    fn logical(&mut self) -> Part {
        self.follow.push(Follow(OPERATORS, true));
        let mut terms = Vec::new();
        let mut operators = Vec::new();
        loop {
            let mut inner_terms = Vec::new();
            let mut inner_operators = Vec::new();
            loop {
                inner_terms.push(self.relation());
                if self.peek() != T::And {
                    break;
                }
                inner_operators.push(self.take());
            }
            terms.push(self.balanced("_&&_", &inner_terms, &inner_operators));
            if self.peek() != T::Or {
                break;
            }
            operators.push(self.take());
        }
        let part = self.balanced("_||_", &terms, &operators);
        self.follow.pop();
        part
    }

    /// A chain of one logical operator as a tree of little depth.
    fn balanced(&mut self, function: &str, terms: &[Part], operators: &[usize]) -> Part {
        let Some(last) = operators.len().checked_sub(1) else { return terms[0] };
        let middle = last.div_ceil(2);
        let left = self.balanced(function, &terms[..=middle], &operators[..middle]);
        let right = self.balanced(function, &terms[middle + 1..], &operators[middle + 1..]);
        let id = self.call(operators[middle], function, None, vec![left.id, right.id]);
        Part { id, height: left.height.max(right.height) }
    }

    fn relation(&mut self) -> Part {
        self.enter_relation();
        let mut left = self.calculation(0);
        while let Some(function) = comparison(self.peek()) {
            let at = self.take();
            self.enter_relation();
            let right = self.calculation(0);
            self.relations -= 1;
            left = self.binary(at, function, left, right);
        }
        self.relations -= 1;
        left
    }

    fn enter_relation(&mut self) {
        self.relations += 1;
        if self.relations > DEEPEST {
            self.too_deep();
        }
    }

    fn calculation(&mut self, tightness: usize) -> Part {
        self.calculations += 1;
        if self.calculations > DEEPEST {
            self.too_deep();
        }
        let mut left = self.unary();
        while let Some((function, own)) = arithmetic(self.peek()) {
            if own <= tightness {
                break;
            }
            let at = self.take();
            let right = self.calculation(own);
            left = self.binary(at, function, left, right);
        }
        self.calculations -= 1;
        left
    }

    fn binary(&mut self, at: usize, function: &str, left: Part, right: Part) -> Part {
        let id = self.call(at, function, None, vec![left.id, right.id]);
        Part { id, height: left.height.max(right.height) + 1 }
    }

    fn unary(&mut self) -> Part {
        let first = self.tokens[self.next].from;
        let (function, count) = match self.signs() {
            Ok(signs) => signs,
            Err(mismatch) => {
                self.give_up(Site::Unary, mismatch);
                return self.nothing(first);
            }
        };
        let member = self.member();
        // An even number of them is as good as none.
        if count % 2 == 0 {
            return member;
        }
        let id = self.call(first, function, None, vec![member.id]);
        Part { id, height: member.height }
    }

    /// The operators before an operand.
    fn signs(&mut self) -> Result<(&'static str, usize), Mismatch> {
        self.sync(EXPRESSION)?;
        let mut count = 0;
        match self.peek() {
            T::Exclamation => {
                while self.peek() == T::Exclamation {
                    self.take();
                    count += 1;
                    self.sync_in_loop(EXPRESSION);
                }
                Ok(("!_", count))
            }
            // A minus directly before a number belongs to the number.
            T::Minus if matches!(self.peek_second(), T::Int | T::Float) => Ok(("-_", 0)),
            T::Minus if !in_set(self.peek_second(), MEMBER) => Err(self.no_alternative(2)),
            T::Minus => {
                while self.peek() == T::Minus {
                    if !in_set(self.peek_second(), MEMBER) {
                        return Err(self.no_alternative(2));
                    }
                    self.take();
                    count += 1;
                }
                Ok(("-_", count))
            }
            kind if in_set(kind, EXPRESSION) => Ok(("", 0)),
            _ => Err(self.no_alternative(1)),
        }
    }

    fn member(&mut self) -> Part {
        let at = self.tokens[self.next].from;
        self.follow.push(Follow(SUFFIX, true));
        let mut part = self.primary().unwrap_or_else(|mismatch| {
            self.give_up(Site::Primary, mismatch);
            self.nothing(at)
        });
        self.follow.pop();
        while in_set(self.peek(), SUFFIX) {
            let (whole, end) = match self.peek() {
                T::OpenBracket => self.index(part),
                _ => self.selection(part),
            };
            part = whole;
            if let Err(mismatch) = end {
                self.give_up(Site::Member, mismatch);
                break;
            }
        }
        part
    }

    /// `[...]` behind an operand, as far as it could be read, and whether it could to its end.
    fn index(&mut self, operand: Part) -> (Part, Result<(), Mismatch>) {
        let at = self.take();
        if let Err(mismatch) = self.sync(EXPRESSION | set(&[T::Question])) {
            return (self.nothing(at), Err(mismatch));
        }
        let optional = self.peek() == T::Question;
        if optional {
            self.take();
        }
        let index = self.within(Follow(set(&[T::CloseBracket]), false), Self::expression);
        let end = self.expect(T::CloseBracket, Follow(SUFFIX, true));
        let id = if !optional {
            self.call(at, "_[_]", None, vec![operand.id, index.id])
        } else if self.optional_syntax {
            self.call(at, "_[?_]", None, vec![operand.id, index.id])
        } else {
            self.invalid(at, "unsupported syntax '[?'")
        };
        (Part { id, height: operand.height.max(index.height) + 1 }, end)
    }

    /// `.field`, `.?field` or `.function(...)` behind an operand, likewise.
    fn selection(&mut self, operand: Part) -> (Part, Result<(), Mismatch>) {
        if !in_set(self.peek_second(), FIELD_NAME | set(&[T::Question])) {
            return (operand, Err(self.no_alternative(2)));
        }
        let at = self.take();
        if self.peek() == T::Identifier && self.peek_second() == T::OpenParenthesis {
            let function = self.text();
            self.take();
            let open = self.take();
            let (arguments, end) = self.arguments(Follow(SUFFIX, true));
            let height = tallest(&arguments).max(operand.height) + 1;
            let arguments = arguments.into_iter().map(|argument| argument.id).collect();
            let id = self.call(open, &function, Some(operand.id), arguments);
            return (Part { id, height }, end);
        }
        let optional = self.peek() == T::Question;
        if optional {
            self.take();
        }
        let field = self.field_name(Follow(SUFFIX, true));
        let height = operand.height + 1;
        let operand = operand.id;
        let id = if !optional {
            self.add(at, Kind::Select { operand, field, test: false })
        } else if self.optional_syntax {
            // The field is a node of its own to the reference.
            self.ids += 1;
            self.add(at, Kind::OptionalSelect { operand, field })
        } else {
            self.invalid(at, "unsupported syntax '.?'")
        };
        (Part { id, height }, Ok(()))
    }

    /// The name of a field, or nothing if there is none.
    fn field_name(&mut self, after: Follow) -> String {
        let at = self.tokens[self.next].from;
        self.within(after, Self::escaped_identifier).unwrap_or_else(|mismatch| {
            self.within(after, |parser| parser.give_up(Site::EscapedIdentifier, mismatch));
            self.invalid(at, "unsupported ident kind");
            String::new()
        })
    }

    fn escaped_identifier(&mut self) -> Result<String, Mismatch> {
        self.sync(FIELD_NAME)?;
        if !in_set(self.peek(), FIELD_NAME) {
            return Err(self.no_alternative(1));
        }
        let text = self.text();
        self.take();
        Ok(text.trim_matches('`').to_owned())
    }

    fn primary(&mut self) -> Result<Part, Mismatch> {
        self.sync(MEMBER)?;
        let at = self.tokens[self.next].from;
        match self.peek() {
            T::Dot if self.peek_second() != T::Identifier => Err(self.no_alternative(2)),
            T::Dot | T::Identifier => Ok(self.named()),
            T::OpenParenthesis => {
                self.take();
                let follow = Follow(set(&[T::CloseParenthesis]), false);
                let inner = self.within(follow, Self::expression);
                let end = self.expect(T::CloseParenthesis, Follow(0, true));
                self.settle(end);
                Ok(inner)
            }
            T::OpenBracket => Ok(self.list()),
            T::OpenBrace => Ok(self.map()),
            T::Minus if !matches!(self.peek_second(), T::Int | T::Float) => {
                Err(self.no_alternative(2))
            }
            T::Minus => {
                self.take();
                Ok(self.literal(at, true))
            }
            kind if in_set(kind, MEMBER) => Ok(self.literal(at, false)),
            _ => Err(self.no_alternative(1)),
        }
    }

    /// A variable, a call of a function, or a message.
    fn named(&mut self) -> Part {
        let start = self.tokens[self.next].from;
        let rooted = self.peek() == T::Dot;
        if rooted {
            self.take();
        }
        if let Some(length) = self.message_name() {
            return self.message(length, rooted);
        }
        let name = Name { text: self.text(), rooted };
        let at = self.take();
        let reserved = RESERVED.contains(&name.text.as_str());
        if self.peek() != T::OpenParenthesis {
            let id = if reserved {
                self.invalid(start, format!("reserved identifier: {}", name.text))
            } else {
                self.add(at, Kind::Name(name))
            };
            return Part { id, height: 0 };
        }
        let open = self.take();
        let before = self.meaning.len();
        let (arguments, end) = self.arguments(Follow(0, true));
        self.settle(end);
        if reserved {
            // The reference does not look at the arguments then.
            self.meaning.forget_since(before);
            let id = self.invalid(start, format!("reserved identifier: {}", name.text));
            return Part { id, height: 0 };
        }
        let height = tallest(&arguments);
        let arguments = arguments.into_iter().map(|argument| argument.id).collect();
        let id = self.call_name(open, name, None, arguments);
        Part { id, height }
    }

    /// How many tokens from here are the name of a message, if its fields come then.
    fn message_name(&self) -> Option<usize> {
        let mut end = self.next + 1;
        loop {
            match self.tokens.get(end)?.kind {
                T::OpenBrace => return Some(end - self.next),
                T::Dot if self.tokens.get(end + 1)?.kind == T::Identifier => end += 2,
                _ => return None,
            }
        }
    }

    /// What stands between parentheses, and whether the closing one is there; `after` can come then.
    fn arguments(&mut self, after: Follow) -> (Vec<Part>, Result<(), Mismatch>) {
        let close = set(&[T::CloseParenthesis]);
        let mut arguments = Vec::new();
        if let Err(mismatch) = self.sync(EXPRESSION | close) {
            return (arguments, Err(mismatch));
        }
        if in_set(self.peek(), EXPRESSION) {
            self.follow.push(Follow(close, false));
            loop {
                let comma = Follow(set(&[T::Comma]), true);
                arguments.push(self.within(comma, Self::expression));
                if self.peek() != T::Comma {
                    break;
                }
                self.take();
            }
            self.follow.pop();
        }
        let end = self.expect(T::CloseParenthesis, after);
        (arguments, end)
    }

    fn list(&mut self) -> Part {
        let at = self.take();
        let first = EXPRESSION | set(&[T::Question]);
        let rest = set(&[T::Comma, T::CloseBracket]);
        let mut elements = Vec::new();
        let mut height = 0;
        let begun = self.sync(first | rest);
        if begun.is_ok() && in_set(self.peek(), first) {
            self.follow.push(Follow(rest, false));
            loop {
                let question = self.tokens[self.next].from;
                let optional = self.peek() == T::Question;
                if optional {
                    self.take();
                }
                let comma = Follow(set(&[T::Comma]), true);
                let value = self.within(comma, Self::expression);
                height = height.max(value.height);
                if optional && !self.optional_syntax {
                    self.invalid(question, "unsupported syntax '?'");
                }
                elements.push(Element { value: value.id, optional });
                if self.peek() != T::Comma || !in_set(self.peek_second(), first) {
                    break;
                }
                self.take();
            }
            self.follow.pop();
        }
        let end = begun.and_then(|()| self.close(T::CloseBracket));
        self.settle(end);
        Part { id: self.add(at, Kind::List(elements)), height }
    }

    fn map(&mut self) -> Part {
        let at = self.take();
        let first = EXPRESSION | set(&[T::Question]);
        let rest = set(&[T::Comma, T::CloseBrace]);
        let mut entries = Vec::new();
        let mut height = 0;
        let begun = self.sync(first | rest);
        if begun.is_ok() && in_set(self.peek(), first) {
            self.follow.push(Follow(rest, false));
            if let Err(mismatch) = self.map_entries(first, &mut entries, &mut height) {
                self.give_up(Site::MapEntries, mismatch);
            }
            self.follow.pop();
        }
        let end = begun.and_then(|()| self.close(T::CloseBrace));
        self.settle(end);
        Part { id: self.add(at, Kind::Map(entries)), height }
    }

    fn map_entries(
        &mut self,
        first: Set,
        entries: &mut Vec<Entry>,
        height: &mut usize,
    ) -> Result<(), Mismatch> {
        loop {
            let before = self.meaning.len();
            let question = self.tokens[self.next].from;
            let optional = self.peek() == T::Question;
            if optional {
                self.take();
            }
            let key = self.within(Follow(set(&[T::Colon]), false), Self::expression);
            self.colon(before)?;
            let value = self.within(Follow(set(&[T::Comma]), true), Self::expression);
            self.ids += 1;
            *height = key.height.max(value.height).max(*height);
            if optional && !self.optional_syntax {
                // The reference does not look at the entry then.
                self.meaning.forget_since(before);
                self.invalid(question, "unsupported syntax '?'");
            }
            entries.push(Entry { key: key.id, value: value.id, optional });
            if self.peek() != T::Comma || !in_set(self.peek_second(), first) {
                return Ok(());
            }
            self.take();
        }
    }

    /// A message whose name is the next `length` tokens.
    fn message(&mut self, length: usize, rooted: bool) -> Part {
        let mut text = String::new();
        for _ in 0..length {
            text.push_str(&self.text());
            self.take();
        }
        let at = self.take();
        let first = FIELD_NAME | set(&[T::Question]);
        let rest = set(&[T::Comma, T::CloseBrace]);
        let mut fields = Vec::new();
        let mut height = 0;
        let begun = self.sync(first | rest);
        if begun.is_ok() && in_set(self.peek(), first) {
            self.follow.push(Follow(rest, false));
            if let Err(mismatch) = self.message_fields(first, &mut fields, &mut height) {
                self.give_up(Site::MessageFields, mismatch);
            }
            self.follow.pop();
        }
        let end = begun.and_then(|()| self.close(T::CloseBrace));
        self.settle(end);
        let name = Name { text, rooted };
        Part { id: self.add(at, Kind::Message { name, fields }), height }
    }

    fn message_fields(
        &mut self,
        first: Set,
        fields: &mut Vec<Field>,
        height: &mut usize,
    ) -> Result<(), Mismatch> {
        loop {
            let before = self.meaning.len();
            let question = self.tokens[self.next].from;
            let optional = self.peek() == T::Question;
            if optional {
                self.take();
            }
            let name = self.field_name(Follow(set(&[T::Colon]), false));
            let at = self.tokens[self.next].from;
            self.colon(before)?;
            let value = self.within(Follow(set(&[T::Comma]), true), Self::expression);
            self.ids += 1;
            *height = value.height.max(*height);
            if optional && !self.optional_syntax {
                self.meaning.forget_since(before);
                self.invalid(question, "unsupported syntax '?'");
            }
            fields.push(Field { at, name, value: value.id, optional });
            if self.peek() != T::Comma || !in_set(self.peek_second(), first) {
                return Ok(());
            }
            self.take();
        }
    }

    /// The colon of an entry; without it the reference does not look at what stands before.
    fn colon(&mut self, before: usize) -> Result<(), Mismatch> {
        let colon = self.expect(T::Colon, Follow(EXPRESSION, false));
        if colon.is_err() {
            self.meaning.forget_since(before);
        }
        colon
    }

    /// A comma that may be there, and the end of a list, map or message.
    fn close(&mut self, kind: T) -> Result<(), Mismatch> {
        self.sync(set(&[T::Comma, kind]))?;
        if self.peek() == T::Comma {
            self.take();
        }
        self.expect(kind, Follow(0, true))
    }

    fn literal(&mut self, at: usize, negative: bool) -> Part {
        let kind = self.peek();
        let text = self.text();
        self.take();
        let literal = match kind {
            T::Int => {
                let (digits, radix) = digits(&text);
                let signed = if negative { format!("-{digits}") } else { digits.to_owned() };
                i64::from_str_radix(&signed, radix)
                    .map(|_| Literal::Int)
                    .map_err(|_| "invalid int literal")
            }
            T::Uint => {
                let (digits, radix) = digits(text.trim_end_matches(['u', 'U']));
                u64::from_str_radix(digits, radix)
                    .map(|_| Literal::Uint)
                    .map_err(|_| "invalid uint literal")
            }
            T::Float => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Literal::Double),
                _ => Err("invalid double literal"),
            },
            T::String => lex::check_escapes(&text).map(|()| Literal::String),
            T::Bytes => lex::check_escapes(&text).map(|()| Literal::Bytes),
            T::Null => Ok(Literal::Null),
            _ => Ok(Literal::Bool),
        };
        let id = match literal {
            Ok(literal) => self.add(at, Kind::Literal(literal)),
            Err(message) => self.invalid(at, message),
        };
        Part { id, height: 0 }
    }

    fn call(&mut self, at: usize, function: &str, target: Option<Id>, arguments: Vec<Id>) -> Id {
        self.call_name(at, Name::new(function), target, arguments)
    }

    /// The call of a function, or what it stands for if it is a macro.
    fn call_name(&mut self, at: usize, name: Name, target: Option<Id>, arguments: Vec<Id>) -> Id {
        let macro_name = name.written();
        if let Some(expander) =
            macros::find(&macro_name, target.is_some(), arguments.len(), self.optional_syntax)
        {
            // The number of the call itself is used up, too.
            self.ids += 1;
            let expanded = if self.ids > MOST_NODES {
                None
            } else {
                Some(expander(self, at, target, &arguments))
            };
            return match expanded {
                Some(id) if self.ids <= MOST_NODES => id,
                _ => self.invalid(
                    at,
                    format!(
                        "expression count exceeds limit of {MOST_NODES} while expanding macro '{macro_name}'"
                    ),
                ),
            };
        }
        self.add(at, Kind::Call { function: name, target, arguments })
    }

    /// Stands for what could not be read.
    fn nothing(&mut self, at: usize) -> Part {
        Part { id: self.tree.add(at, Kind::Invalid), height: 0 }
    }

    /// Ends a primary expression, of which only the end may be missing.
    fn settle(&mut self, end: Result<(), Mismatch>) {
        if let Err(mismatch) = end {
            self.give_up(Site::Primary, mismatch);
        }
    }

    fn within<R>(&mut self, follow: Follow, rule: impl FnOnce(&mut Self) -> R) -> R {
        self.follow.push(follow);
        let result = rule(self);
        self.follow.pop();
        result
    }

    fn peek(&self) -> T {
        self.tokens[self.next].kind
    }

    fn peek_second(&self) -> T {
        self.tokens.get(self.next + 1).map_or(T::End, |token| token.kind)
    }

    fn text(&self) -> String {
        let Token { kind: _, from, to } = self.tokens[self.next];
        self.source.text(from, to)
    }

    /// Takes a token that fits, and says where it is.
    fn take(&mut self) -> usize {
        self.recovering = false;
        self.last_error = None;
        self.skip()
    }

    fn skip(&mut self) -> usize {
        let from = self.tokens[self.next].from;
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
        from
    }

    /// Takes this token, after which `after` can come.
    fn expect(&mut self, kind: T, after: Follow) -> Result<(), Mismatch> {
        if self.peek() == kind {
            self.take();
            return Ok(());
        }
        if !self.count_recovery() || self.drop_one(set(&[kind])) {
            if !self.halted {
                self.take();
            }
            return Ok(());
        }
        if in_set(self.peek(), self.follow_of(after)) {
            self.report(|parser| {
                format!("missing {} at {}", kind.name(), parser.shown(parser.next))
            });
            return Ok(());
        }
        Err(self.mismatch(set(&[kind])))
    }

    /// Looks whether the next token can begin what comes here.
    fn sync(&mut self, expected: Set) -> Result<(), Mismatch> {
        if self.recovering || in_set(self.peek(), expected) || self.drop_one(expected) {
            return Ok(());
        }
        Err(self.mismatch(expected))
    }

    /// The same behind the first round of a loop: skips what does not fit.
    fn sync_in_loop(&mut self, expected: Set) {
        if self.recovering || in_set(self.peek(), expected) {
            return;
        }
        self.report(|parser| {
            format!("extraneous input {} expecting {}", parser.shown(parser.next), listed(expected))
        });
        self.skip_until(expected | self.recovery_set());
    }

    /// Drops the next token if the one behind it would fit.
    fn drop_one(&mut self, expected: Set) -> bool {
        if !in_set(self.peek_second(), expected) || self.peek() == T::End {
            return false;
        }
        self.report(|parser| {
            format!("extraneous input {} expecting {}", parser.shown(parser.next), listed(expected))
        });
        self.skip();
        self.recovering = false;
        self.last_error = None;
        true
    }

    fn mismatch(&self, expected: Set) -> Mismatch {
        let message =
            format!("mismatched input {} expecting {}", self.shown(self.next), listed(expected));
        Mismatch { at: self.tokens[self.next].from, message }
    }

    /// None of the alternatives fits; `length` tokens had to be looked at to know.
    fn no_alternative(&self, length: usize) -> Mismatch {
        let first = self.tokens[self.next];
        let last = self.tokens[(self.next + length - 1).min(self.tokens.len() - 1)];
        let text = if first.kind == T::End {
            "<EOF>".to_owned()
        } else {
            self.known_text(first.from, last.to)
        };
        let mut characters = text.chars();
        characters.next();
        let message = match characters.as_str() {
            // The reference rewrites its message for these.
            word @ ("true" | "false" | "null") => {
                format!("mismatched input '{word}' expecting IDENTIFIER")
            }
            _ => format!("no viable alternative at input '{}'", lex::escape(&text)),
        };
        Mismatch { at: last.from, message }
    }

    /// Text without the characters that are in no token.
    fn known_text(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        let mut at = from;
        let first = self.unknown.partition_point(|(start, _)| *start < from);
        for (start, end) in self.unknown[first..].iter().take_while(|(start, _)| *start < to) {
            text.push_str(&self.source.text(at, *start));
            at = *end;
        }
        text.push_str(&self.source.text(at.min(to), to));
        text
    }

    fn shown(&self, token: usize) -> String {
        let Token { kind, from, to } = self.tokens[token];
        if kind == T::End {
            return "'<EOF>'".to_owned();
        }
        format!("'{}'", lex::escape(&self.source.text(from, to)))
    }

    fn report(&mut self, message: impl FnOnce(&Self) -> String) {
        if !self.recovering && !self.halted {
            let at = self.tokens[self.next].from;
            let message = format!("Syntax error: {}", message(self));
            self.syntax.report(Place::At(at), message);
        }
        self.recovering = true;
    }

    /// Reports, and skips what cannot follow any rule that is being read.
    fn give_up(&mut self, site: Site, mismatch: Mismatch) {
        let Mismatch { at, message } = mismatch;
        if !self.recovering && !self.halted {
            self.syntax.report(Place::At(at), format!("Syntax error: {message}"));
        }
        self.recovering = true;
        if !self.count_recovery() {
            return;
        }
        let here = self.next;
        let mut sites = match self.last_error.take() {
            Some((at, sites)) => {
                // Nothing was read since: without this the two would wait for each other.
                if at == here && sites.contains(&site) {
                    self.skip();
                }
                sites
            }
            None => Vec::new(),
        };
        sites.push(site);
        self.last_error = Some((self.next, sites));
        self.skip_until(self.recovery_set());
    }

    /// Counts an attempt to go on after an error; false when there were too many.
    fn count_recovery(&mut self) -> bool {
        if self.halted {
            return false;
        }
        if self.recoveries == MOST_RECOVERIES {
            let at = self.tokens[self.next].from;
            let message =
                format!("Syntax error: error recovery attempt limit exceeded: {MOST_RECOVERIES}");
            self.syntax.report(Place::At(at), message);
            self.halt();
            return false;
        }
        self.recoveries += 1;
        true
    }

    fn skip_until(&mut self, until: Set) {
        let mut skipped = 0;
        while self.peek() != T::End && !in_set(self.peek(), until) {
            if skipped == MOST_SKIPPED {
                let message =
                    format!("error recovery token lookahead limit exceeded: {MOST_SKIPPED}");
                self.syntax.report(Place::Nowhere, message);
                self.halt();
                return;
            }
            self.skip();
            skipped += 1;
        }
    }

    fn too_deep(&mut self) {
        if !self.halted {
            let message = format!("expression recursion limit exceeded: {DEEPEST}");
            self.syntax.report(Place::Nowhere, message);
            self.halt();
        }
    }

    /// Goes to the end, where every rule is left at once.
    fn halt(&mut self) {
        self.halted = true;
        self.next = self.tokens.len() - 1;
    }

    /// What can come after these tokens were read, through all rules that could end then.
    fn follow_of(&self, after: Follow) -> Set {
        let Follow(mut tokens, mut ends) = after;
        for Follow(outer, outer_ends) in self.follow.iter().rev() {
            if !ends {
                break;
            }
            tokens |= outer;
            ends = *outer_ends;
        }
        tokens
    }

    fn recovery_set(&self) -> Set {
        self.follow.iter().fold(0, |all, Follow(tokens, _)| all | tokens)
    }
}

fn comparison(kind: T) -> Option<&'static str> {
    Some(match kind {
        T::Less => "_<_",
        T::LessEquals => "_<=_",
        T::GreaterEquals => "_>=_",
        T::Greater => "_>_",
        T::Equals => "_==_",
        T::NotEquals => "_!=_",
        T::In => "@in",
        _ => return None,
    })
}

/// The function of an operator, and how tightly it binds.
fn arithmetic(kind: T) -> Option<(&'static str, usize)> {
    Some(match kind {
        T::Star => ("_*_", 2),
        T::Slash => ("_/_", 2),
        T::Percent => ("_%_", 2),
        T::Plus => ("_+_", 1),
        T::Minus => ("_-_", 1),
        _ => return None,
    })
}

fn digits(text: &str) -> (&str, u32) {
    text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16))
}

fn tallest(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.height).max().unwrap_or(0)
}

const fn set(kinds: &[T]) -> Set {
    let mut bits = 0;
    let mut at = 0;
    while at < kinds.len() {
        bits |= 1 << kinds[at] as u32;
        at += 1;
    }
    bits
}

fn in_set(kind: T, set: Set) -> bool {
    set & (1 << kind as u32) != 0
}

/// Expected tokens as a message lists them.
fn listed(expected: Set) -> String {
    let names: Vec<&str> =
        T::ALL.iter().filter(|kind| in_set(**kind, expected)).map(|kind| kind.name()).collect();
    match names.as_slice() {
        [name] => (*name).to_owned(),
        names => format!("{{{}}}", names.join(", ")),
    }
}

/// What can begin a member.
const MEMBER: Set = set(&[
    T::OpenBracket,
    T::OpenBrace,
    T::OpenParenthesis,
    T::Dot,
    T::Minus,
    T::True,
    T::False,
    T::Null,
    T::Float,
    T::Int,
    T::Uint,
    T::String,
    T::Bytes,
    T::Identifier,
]);

/// What can begin an expression.
const EXPRESSION: Set = MEMBER | set(&[T::Exclamation]);

/// What can go on behind a member.
const SUFFIX: Set = set(&[T::Dot, T::OpenBracket]);

const FIELD_NAME: Set = set(&[T::Identifier, T::EscapedIdentifier]);

const OPERATORS: Set = set(&[
    T::Or,
    T::And,
    T::Less,
    T::LessEquals,
    T::GreaterEquals,
    T::Greater,
    T::Equals,
    T::NotEquals,
    T::In,
    T::Star,
    T::Slash,
    T::Percent,
    T::Plus,
    T::Minus,
]);

const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

// The limits of the reference, which talosctl leaves as they are.
pub(super) const DEEPEST: usize = 250;
pub(super) const MOST_NODES: usize = 100_000;
const MOST_RECOVERIES: usize = 30;
const MOST_SKIPPED: usize = 256;
