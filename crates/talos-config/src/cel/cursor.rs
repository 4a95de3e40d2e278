//! The way through the tokens of an expression.
//!
//! After a syntax error the parser goes on as the reference's does, because that decides which errors
//! follow: it drops one token that is too much, makes up one that is missing, or gives the rule up and
//! skips what cannot follow it. [`Follow`] is what it needs to know for that.
//!
//! Always holds: going on ends, and does not go further than the reference does.

use super::lex::{self, Kind as T, Token, Tokens};
use super::source::{Errors, Position, SourceText};

pub(super) struct Cursor<'a> {
    source: &'a SourceText,
    tokens: Vec<Token>,
    /// Characters that are in no token, not even in space.
    unknown: Vec<(usize, usize)>,
    next: usize,
    errors: &'a mut Errors,
    /// What may follow each rule that is being read.
    follow: Vec<Follow>,
    /// Between an error and the next token that fits nothing is reported.
    recovering: bool,
    recoveries: usize,
    /// Where the last error was, and the sites that met it.
    last_error: Option<(usize, Vec<Site>)>,
    /// A limit was exceeded: nothing is read or reported any more.
    halted: bool,
}

/// The tokens that can come next, and whether the rule can also end here.
#[derive(Clone, Copy)]
pub(super) struct Follow(pub(super) Set, pub(super) bool);

/// A set of tokens, as bits.
pub(super) type Set = u64;

/// Where in the grammar an error is noticed.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Site {
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
pub(super) struct Mismatch {
    at: usize,
    message: String,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a SourceText, tokens: Tokens, errors: &'a mut Errors) -> Self {
        let Tokens { tokens, unknown } = tokens;
        Self {
            source,
            tokens,
            unknown,
            next: 0,
            errors,
            follow: Vec::new(),
            recovering: false,
            recoveries: 0,
            last_error: None,
            halted: false,
        }
    }

    pub(super) fn peek(&self) -> T {
        self.tokens[self.next].kind
    }

    pub(super) fn peek_second(&self) -> T {
        self.peek_at(1)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> T {
        self.tokens.get(self.next + ahead).map_or(T::End, |token| token.kind)
    }

    /// Where the next token is.
    pub(super) fn place(&self) -> usize {
        self.tokens[self.next].from
    }

    /// A rule begins, and this can come behind it.
    pub(super) fn enter(&mut self, follow: Follow) {
        self.follow.push(follow);
    }

    pub(super) fn leave(&mut self) {
        self.follow.pop();
    }

    pub(super) fn halted(&self) -> bool {
        self.halted
    }

    pub(super) fn text(&self) -> String {
        let Token { kind: _, from, to } = self.tokens[self.next];
        self.source.text(from, to)
    }

    /// Takes a token that fits, and says where it is.
    pub(super) fn take(&mut self) -> usize {
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
    pub(super) fn expect(&mut self, kind: T, after: Follow) -> Result<(), Mismatch> {
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
            self.report(|cursor| {
                format!("missing {} at {}", kind.name(), cursor.shown(cursor.next))
            });
            return Ok(());
        }
        Err(self.mismatch(set(&[kind])))
    }

    /// Looks whether the next token can begin what comes here.
    pub(super) fn sync(&mut self, expected: Set) -> Result<(), Mismatch> {
        if self.recovering || in_set(self.peek(), expected) || self.drop_one(expected) {
            return Ok(());
        }
        Err(self.mismatch(expected))
    }

    /// The same behind the first round of a loop: skips what does not fit.
    pub(super) fn sync_in_loop(&mut self, expected: Set) {
        if self.recovering || in_set(self.peek(), expected) {
            return;
        }
        self.report(|cursor| {
            format!("extraneous input {} expecting {}", cursor.shown(cursor.next), listed(expected))
        });
        self.skip_until(expected | self.recovery_set());
    }

    /// Drops the next token if the one behind it would fit.
    fn drop_one(&mut self, expected: Set) -> bool {
        if !in_set(self.peek_second(), expected) || self.peek() == T::End {
            return false;
        }
        self.report(|cursor| {
            format!("extraneous input {} expecting {}", cursor.shown(cursor.next), listed(expected))
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
    pub(super) fn no_alternative(&self, length: usize) -> Mismatch {
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
            self.errors.report(Position::At(at), message);
        }
        self.recovering = true;
    }

    /// Reports, and skips what cannot follow any rule that is being read.
    pub(super) fn give_up(&mut self, site: Site, mismatch: Mismatch) {
        let Mismatch { at, message } = mismatch;
        if !self.recovering && !self.halted {
            self.errors.report(Position::At(at), format!("Syntax error: {message}"));
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
            self.errors.report(Position::At(at), message);
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
                self.errors.report(Position::Nowhere, message);
                self.halt();
                return;
            }
            self.skip();
            skipped += 1;
        }
    }

    /// The rules are nested deeper than this limit.
    pub(super) fn too_deep(&mut self, limit: usize) {
        if !self.halted {
            let message = format!("expression recursion limit exceeded: {limit}");
            self.errors.report(Position::Nowhere, message);
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

pub(super) const fn set(kinds: &[T]) -> Set {
    let mut bits = 0;
    let mut at = 0;
    while at < kinds.len() {
        bits |= 1 << kinds[at] as u32;
        at += 1;
    }
    bits
}

pub(super) fn in_set(kind: T, set: Set) -> bool {
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

// The limits of the reference, which talosctl leaves as they are.
const MOST_RECOVERIES: usize = 30;
const MOST_SKIPPED: usize = 256;
