//! Tokens to a tree, by recursive descent over the grammar of the reference.
//!
//! Always holds: the depth of the recursion and of the tree is bounded by [`DEEPEST`].

use super::cursor::{Cursor, Follow, Mismatch, Set, Site, in_set, set};
use super::lex::{self, Kind as T};
use super::macros;
use super::source::{Errors, Position, SourceText};
use super::syntax::{Element, Entry, Field, Id, Kind, Literal, Name, Tree};

/// A tree and its root, if nothing is wrong.
pub(super) fn parse(
    source: &SourceText,
    optional_syntax: bool,
    errors: &mut Errors,
) -> Option<(Tree, Id)> {
    let mut parser = Parser {
        cursor: Cursor::new(source, lex::tokens(source, errors)?, errors),
        optional_syntax,
        meaning: Errors::default(),
        tree: Tree::default(),
        ids: 0,
        expressions: 0,
        relations: 0,
        calculations: 0,
    };
    let root = parser.start();
    let Parser { cursor, meaning, tree, .. } = parser;
    if !cursor.halted() {
        if root.height > DEEPEST {
            errors.report(Position::Nowhere, "max recursion depth exceeded");
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
    cursor: Cursor<'a>,
    optional_syntax: bool,
    /// Errors in what is good syntax. They are dropped when the syntax could not be read to its end.
    meaning: Errors,
    tree: Tree,
    /// How many numbers the reference would have given out to nodes and entries.
    ids: usize,
    // How many of each of these rules are being read, one within the other.
    expressions: usize,
    relations: usize,
    calculations: usize,
}

impl Parser<'_> {
    /// Adds a node, which counts.
    pub(super) fn add(&mut self, at: usize, kind: Kind) -> Id {
        self.ids += 1;
        self.tree.add(at, kind)
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Reports something that is good syntax and yet wrong.
    pub(super) fn invalid(&mut self, at: usize, message: impl Into<String>) -> Id {
        self.meaning.report(Position::At(at), message);
        self.add(at, Kind::Invalid)
    }

    fn start(&mut self) -> Part {
        self.cursor.enter(Follow(set(&[T::End]), false));
        let root = self.expression();
        self.cursor.leave();
        if let Err(mismatch) = self.cursor.expect(T::End, Follow(0, false)) {
            self.cursor.give_up(Site::Start, mismatch);
        }
        root
    }

    fn expression(&mut self) -> Part {
        self.expressions += 1;
        if self.expressions > DEEPEST {
            self.cursor.too_deep(DEEPEST);
        }
        let part = self.conditional();
        self.expressions -= 1;
        part
    }

    fn conditional(&mut self) -> Part {
        let condition = self.within(Follow(set(&[T::Question]), true), Self::logical);
        if self.cursor.peek() != T::Question {
            return condition;
        }
        let at = self.cursor.take();
        let then = self.within(Follow(set(&[T::Colon]), false), Self::logical);
        if let Err(mismatch) = self.cursor.expect(T::Colon, Follow(EXPRESSION, false)) {
            self.cursor.give_up(Site::Expression, mismatch);
            return self.nothing(at);
        }
        let otherwise = self.within(Follow(0, true), Self::expression);
        let id = self.call(at, "_?_:_", None, vec![condition.id, then.id, otherwise.id]);
        let height = condition.height.max(then.height).max(otherwise.height) + 1;
        Part { id, height }
    }

    /// `||` over `&&` over comparisons, in one function to save stack.
    fn logical(&mut self) -> Part {
        self.cursor.enter(Follow(OPERATORS, true));
        let mut terms = Vec::new();
        let mut operators = Vec::new();
        loop {
            let mut inner_terms = Vec::new();
            let mut inner_operators = Vec::new();
            loop {
                inner_terms.push(self.relation());
                if self.cursor.peek() != T::And {
                    break;
                }
                inner_operators.push(self.cursor.take());
            }
            terms.push(self.balanced("_&&_", &inner_terms, &inner_operators));
            if self.cursor.peek() != T::Or {
                break;
            }
            operators.push(self.cursor.take());
        }
        let part = self.balanced("_||_", &terms, &operators);
        self.cursor.leave();
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
        while let Some(function) = comparison(self.cursor.peek()) {
            let at = self.cursor.take();
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
            self.cursor.too_deep(DEEPEST);
        }
    }

    fn calculation(&mut self, tightness: usize) -> Part {
        self.calculations += 1;
        if self.calculations > DEEPEST {
            self.cursor.too_deep(DEEPEST);
        }
        let mut left = self.unary();
        while let Some((function, own)) = arithmetic(self.cursor.peek()) {
            if own <= tightness {
                break;
            }
            let at = self.cursor.take();
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
        let first = self.cursor.place();
        let (function, count) = match self.signs() {
            Ok(signs) => signs,
            Err(mismatch) => {
                self.cursor.give_up(Site::Unary, mismatch);
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
        self.cursor.sync(EXPRESSION)?;
        let mut count = 0;
        match self.cursor.peek() {
            T::Exclamation => {
                while self.cursor.peek() == T::Exclamation {
                    self.cursor.take();
                    count += 1;
                    self.cursor.sync_in_loop(EXPRESSION);
                }
                Ok(("!_", count))
            }
            // A minus directly before a number belongs to the number.
            T::Minus if matches!(self.cursor.peek_second(), T::Int | T::Float) => Ok(("-_", 0)),
            T::Minus if !in_set(self.cursor.peek_second(), MEMBER) => {
                Err(self.cursor.no_alternative(2))
            }
            T::Minus => {
                while self.cursor.peek() == T::Minus {
                    if !in_set(self.cursor.peek_second(), MEMBER) {
                        return Err(self.cursor.no_alternative(2));
                    }
                    self.cursor.take();
                    count += 1;
                }
                Ok(("-_", count))
            }
            kind if in_set(kind, EXPRESSION) => Ok(("", 0)),
            _ => Err(self.cursor.no_alternative(1)),
        }
    }

    fn member(&mut self) -> Part {
        let at = self.cursor.place();
        self.cursor.enter(Follow(SUFFIX, true));
        let mut part = self.primary().unwrap_or_else(|mismatch| {
            self.cursor.give_up(Site::Primary, mismatch);
            self.nothing(at)
        });
        self.cursor.leave();
        while in_set(self.cursor.peek(), SUFFIX) {
            let (whole, end) = match self.cursor.peek() {
                T::OpenBracket => self.index(part),
                _ => self.selection(part),
            };
            part = whole;
            if let Err(mismatch) = end {
                self.cursor.give_up(Site::Member, mismatch);
                break;
            }
        }
        part
    }

    /// `[...]` behind an operand, as far as it could be read, and whether it could to its end.
    fn index(&mut self, operand: Part) -> (Part, Result<(), Mismatch>) {
        let at = self.cursor.take();
        if let Err(mismatch) = self.cursor.sync(EXPRESSION | set(&[T::Question])) {
            return (self.nothing(at), Err(mismatch));
        }
        let optional = self.cursor.peek() == T::Question;
        if optional {
            self.cursor.take();
        }
        let index = self.within(Follow(set(&[T::CloseBracket]), false), Self::expression);
        let end = self.cursor.expect(T::CloseBracket, Follow(SUFFIX, true));
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
        if !in_set(self.cursor.peek_second(), FIELD_NAME | set(&[T::Question])) {
            return (operand, Err(self.cursor.no_alternative(2)));
        }
        let at = self.cursor.take();
        if self.cursor.peek() == T::Identifier && self.cursor.peek_second() == T::OpenParenthesis {
            let function = self.cursor.text();
            self.cursor.take();
            let open = self.cursor.take();
            let (arguments, end) = self.arguments(Follow(SUFFIX, true));
            let height = tallest(&arguments).max(operand.height) + 1;
            let arguments = arguments.into_iter().map(|argument| argument.id).collect();
            let id = self.call(open, &function, Some(operand.id), arguments);
            return (Part { id, height }, end);
        }
        let optional = self.cursor.peek() == T::Question;
        if optional {
            self.cursor.take();
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
        let at = self.cursor.place();
        self.within(after, Self::escaped_identifier).unwrap_or_else(|mismatch| {
            self.within(after, |parser| parser.cursor.give_up(Site::EscapedIdentifier, mismatch));
            self.invalid(at, "unsupported ident kind");
            String::new()
        })
    }

    fn escaped_identifier(&mut self) -> Result<String, Mismatch> {
        self.cursor.sync(FIELD_NAME)?;
        if !in_set(self.cursor.peek(), FIELD_NAME) {
            return Err(self.cursor.no_alternative(1));
        }
        let text = self.cursor.text();
        self.cursor.take();
        Ok(text.trim_matches('`').to_owned())
    }

    fn primary(&mut self) -> Result<Part, Mismatch> {
        self.cursor.sync(MEMBER)?;
        let at = self.cursor.place();
        match self.cursor.peek() {
            T::Dot if self.cursor.peek_second() != T::Identifier => {
                Err(self.cursor.no_alternative(2))
            }
            T::Dot | T::Identifier => Ok(self.named()),
            T::OpenParenthesis => {
                self.cursor.take();
                let follow = Follow(set(&[T::CloseParenthesis]), false);
                let inner = self.within(follow, Self::expression);
                let end = self.cursor.expect(T::CloseParenthesis, Follow(0, true));
                self.settle(end);
                Ok(inner)
            }
            T::OpenBracket => Ok(self.list()),
            T::OpenBrace => Ok(self.map()),
            T::Minus if !matches!(self.cursor.peek_second(), T::Int | T::Float) => {
                Err(self.cursor.no_alternative(2))
            }
            T::Minus => {
                self.cursor.take();
                Ok(self.literal(at, true))
            }
            kind if in_set(kind, MEMBER) => Ok(self.literal(at, false)),
            _ => Err(self.cursor.no_alternative(1)),
        }
    }

    /// A variable, a call of a function, or a message.
    fn named(&mut self) -> Part {
        let start = self.cursor.place();
        let rooted = self.cursor.peek() == T::Dot;
        if rooted {
            self.cursor.take();
        }
        if let Some(length) = self.message_name() {
            return self.message(length, rooted);
        }
        let name = Name { text: self.cursor.text(), rooted };
        let at = self.cursor.take();
        let reserved = RESERVED.contains(&name.text.as_str());
        if self.cursor.peek() != T::OpenParenthesis {
            let id = if reserved {
                self.invalid(start, format!("reserved identifier: {}", name.text))
            } else {
                self.add(at, Kind::Name(name))
            };
            return Part { id, height: 0 };
        }
        let open = self.cursor.take();
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
        let mut length = 1;
        loop {
            match self.cursor.peek_at(length) {
                T::OpenBrace => return Some(length),
                T::Dot if self.cursor.peek_at(length + 1) == T::Identifier => length += 2,
                _ => return None,
            }
        }
    }

    /// What stands between parentheses, and whether the closing one is there; `after` can come then.
    fn arguments(&mut self, after: Follow) -> (Vec<Part>, Result<(), Mismatch>) {
        let close = set(&[T::CloseParenthesis]);
        let mut arguments = Vec::new();
        if let Err(mismatch) = self.cursor.sync(EXPRESSION | close) {
            return (arguments, Err(mismatch));
        }
        if in_set(self.cursor.peek(), EXPRESSION) {
            self.cursor.enter(Follow(close, false));
            loop {
                let comma = Follow(set(&[T::Comma]), true);
                arguments.push(self.within(comma, Self::expression));
                if self.cursor.peek() != T::Comma {
                    break;
                }
                self.cursor.take();
            }
            self.cursor.leave();
        }
        let end = self.cursor.expect(T::CloseParenthesis, after);
        (arguments, end)
    }

    fn list(&mut self) -> Part {
        let at = self.cursor.take();
        let first = EXPRESSION | set(&[T::Question]);
        let rest = set(&[T::Comma, T::CloseBracket]);
        let mut elements = Vec::new();
        let mut height = 0;
        let begun = self.cursor.sync(first | rest);
        if begun.is_ok() && in_set(self.cursor.peek(), first) {
            self.cursor.enter(Follow(rest, false));
            loop {
                let question = self.cursor.place();
                let optional = self.cursor.peek() == T::Question;
                if optional {
                    self.cursor.take();
                }
                let comma = Follow(set(&[T::Comma]), true);
                let value = self.within(comma, Self::expression);
                height = height.max(value.height);
                if optional && !self.optional_syntax {
                    self.invalid(question, "unsupported syntax '?'");
                }
                elements.push(Element { value: value.id, optional });
                if self.cursor.peek() != T::Comma || !in_set(self.cursor.peek_second(), first) {
                    break;
                }
                self.cursor.take();
            }
            self.cursor.leave();
        }
        let end = begun.and_then(|()| self.close(T::CloseBracket));
        self.settle(end);
        Part { id: self.add(at, Kind::List(elements)), height }
    }

    fn map(&mut self) -> Part {
        let at = self.cursor.take();
        let first = EXPRESSION | set(&[T::Question]);
        let rest = set(&[T::Comma, T::CloseBrace]);
        let mut entries = Vec::new();
        let mut height = 0;
        let begun = self.cursor.sync(first | rest);
        if begun.is_ok() && in_set(self.cursor.peek(), first) {
            self.cursor.enter(Follow(rest, false));
            if let Err(mismatch) = self.map_entries(first, &mut entries, &mut height) {
                self.cursor.give_up(Site::MapEntries, mismatch);
            }
            self.cursor.leave();
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
            let question = self.cursor.place();
            let optional = self.cursor.peek() == T::Question;
            if optional {
                self.cursor.take();
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
            if self.cursor.peek() != T::Comma || !in_set(self.cursor.peek_second(), first) {
                return Ok(());
            }
            self.cursor.take();
        }
    }

    /// A message whose name is the next `length` tokens.
    fn message(&mut self, length: usize, rooted: bool) -> Part {
        let mut text = String::new();
        for _ in 0..length {
            text.push_str(&self.cursor.text());
            self.cursor.take();
        }
        let at = self.cursor.take();
        let first = FIELD_NAME | set(&[T::Question]);
        let rest = set(&[T::Comma, T::CloseBrace]);
        let mut fields = Vec::new();
        let mut height = 0;
        let begun = self.cursor.sync(first | rest);
        if begun.is_ok() && in_set(self.cursor.peek(), first) {
            self.cursor.enter(Follow(rest, false));
            if let Err(mismatch) = self.message_fields(first, &mut fields, &mut height) {
                self.cursor.give_up(Site::MessageFields, mismatch);
            }
            self.cursor.leave();
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
            let question = self.cursor.place();
            let optional = self.cursor.peek() == T::Question;
            if optional {
                self.cursor.take();
            }
            let name = self.field_name(Follow(set(&[T::Colon]), false));
            let at = self.cursor.place();
            self.colon(before)?;
            let value = self.within(Follow(set(&[T::Comma]), true), Self::expression);
            self.ids += 1;
            *height = value.height.max(*height);
            if optional && !self.optional_syntax {
                self.meaning.forget_since(before);
                self.invalid(question, "unsupported syntax '?'");
            }
            fields.push(Field { at, name, value: value.id, optional });
            if self.cursor.peek() != T::Comma || !in_set(self.cursor.peek_second(), first) {
                return Ok(());
            }
            self.cursor.take();
        }
    }

    /// The colon of an entry; without it the reference does not look at what stands before.
    fn colon(&mut self, before: usize) -> Result<(), Mismatch> {
        let colon = self.cursor.expect(T::Colon, Follow(EXPRESSION, false));
        if colon.is_err() {
            self.meaning.forget_since(before);
        }
        colon
    }

    /// A comma that may be there, and the end of a list, map or message.
    fn close(&mut self, kind: T) -> Result<(), Mismatch> {
        self.cursor.sync(set(&[T::Comma, kind]))?;
        if self.cursor.peek() == T::Comma {
            self.cursor.take();
        }
        self.cursor.expect(kind, Follow(0, true))
    }

    fn literal(&mut self, at: usize, negative: bool) -> Part {
        let kind = self.cursor.peek();
        let text = self.cursor.text();
        self.cursor.take();
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
            self.cursor.give_up(Site::Primary, mismatch);
        }
    }

    fn within<R>(&mut self, follow: Follow, rule: impl FnOnce(&mut Self) -> R) -> R {
        self.cursor.enter(follow);
        let result = rule(self);
        self.cursor.leave();
        result
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
