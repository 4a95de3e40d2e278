//! Expressions in the Common Expression Language, which selectors and OOM rules are written in.
//!
//! The text of an expression goes in; out comes nothing, or what talosctl says is wrong with it: its
//! syntax, a name, a type. It is never evaluated here.
//!
//! The reference is cel-go 0.31.0 as talosctl 1.14.1 sets it up. Verdicts are the same, and so are the
//! messages; only after several syntax errors in one expression ours may differ from the second on.
//!
//! Always holds: no text makes it panic, needs more than a small stack, or takes long.

mod check;
mod environment;
mod lex;
mod library;
mod macros;
mod messages;
mod parse;
mod source;
mod syntax;
mod types;

pub(crate) use environment::Environment;
use source::{Errors, Place, Source};

/// Looks whether an expression is well-formed and gives what its place needs. The error is talosctl's.
pub(crate) fn check(expression: &str, environment: Environment) -> Result<(), String> {
    let source = Source::new(expression);
    if source.characters().len() > LONGEST {
        return Err(format!("expression code point size exceeds limit: {LONGEST}"));
    }
    let mut errors = Errors::default();
    let Some((tree, root)) = parse::parse(&source, environment.has_optional_types(), &mut errors)
    else {
        return errors.into_result(&source);
    };
    let count = tree.count(root);
    if count > parse::MOST_NODES {
        let limit = parse::MOST_NODES;
        let message = format!("expression node count exceeds limit: count {count}, limit {limit}");
        errors.report(Place::Nowhere, message);
        return errors.into_result(&source);
    }
    let result = check::check(&tree, root, environment, &mut errors);
    errors.into_result(&source)?;
    let Some(result) = result else {
        return Err("expression is too complex to be checked".to_owned());
    };
    let expected = environment.result();
    if types::Bindings::default().exact(&result, &expected) {
        Ok(())
    } else {
        let (result, expected) = (result.declared(), expected.declared());
        Err(format!("expression output type is {result}, expected {expected}"))
    }
}

/// Code points of the longest expression.
const LONGEST: usize = 100_000;
