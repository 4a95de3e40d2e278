//! Expressions in the Common Expression Language, which selectors and OOM rules are written in.
//!
//! The text of an expression goes in; out comes nothing, or what talosctl says is wrong with it: its
//! syntax, a name, a type. It is never evaluated here.
//!
//! The reference is cel-go 0.31.0 as talosctl 1.14.1 sets it up. Verdicts are the same, and so are the
//! messages; only what is said beside a syntax error may differ in rare cases, such as the place of a
//! second error.
//!
//! Always holds: no text makes it panic, needs more than a small stack, or takes long. What would take
//! the reference hours is refused instead.

mod bindings;
mod check;
mod cursor;
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
use source::{Errors, Position, SourceText};

/// Looks whether an expression is well-formed and gives what its place needs. The error is talosctl's.
pub(crate) fn check(expression: &str, environment: Environment) -> Result<(), String> {
    let source = SourceText::new(expression);
    let mut errors = Errors::default();
    let size = source.characters().len();
    if size > LONGEST {
        let message =
            format!("expression code point size exceeds limit: size: {size}, limit {LONGEST}");
        errors.report(Position::Nowhere, message);
        return errors.into_result(&source);
    }
    let Some((tree, root)) = parse::parse(&source, environment.has_optional_types(), &mut errors)
    else {
        return errors.into_result(&source);
    };
    let count = tree.count(root);
    if count > parse::MOST_NODES {
        let limit = parse::MOST_NODES;
        let message = format!("expression node count exceeds limit: count {count}, limit {limit}");
        errors.report(Position::Nowhere, message);
        return errors.into_result(&source);
    }
    let result = check::check(&tree, root, environment, &mut errors);
    errors.into_result(&source)?;
    let Some(result) = result else {
        return Err("expression is too complex to be checked".to_owned());
    };
    let expected = environment.result();
    if bindings::Bindings::default().exact(&result, &expected) {
        Ok(())
    } else {
        let (result, expected) = (result.declared(), expected.declared());
        Err(format!("expression output type is {result}, expected {expected}"))
    }
}

/// Code points of the longest expression.
const LONGEST: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::{Environment, check};

    #[test]
    fn every_expression_is_judged_as_talosctl_does() {
        let mut wrong = Vec::new();
        let mut count = 0;
        let table = include_str!("../tests/data/expressions.txt");
        for row in table.lines().filter(|row| !row.starts_with('#')) {
            let (place, rest) = row.split_once(" : ").expect("a place");
            let (expression, theirs) = rest.split_once(" => ").expect("an answer");
            let ours = check(&expression.replace('⏎', "\n"), environment(place));
            let ours = ours.err().map_or("ok".to_owned(), |error| error.replace('\n', "⏎"));
            if ours != theirs {
                wrong.push(format!("{place} : {expression}\n  ours    {ours}\n  theirs  {theirs}"));
            }
            count += 1;
        }
        assert!(count > 300, "{count}");
        assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn what_is_too_deep_is_refused_and_what_is_not_fits_the_stack() {
        for (before, middle, after) in [
            ("(", "true", ")"),
            ("!(", "true", ")"),
            ("true ? (", "true", ") : false"),
            ("[1].all(x, ", "true", ")"),
            ("1 + 1 * (", "1", ") == 1"),
            ("[", "1", "]"),
            ("{1: ", "1", "}"),
            ("optional.of(", "1", ")"),
        ] {
            for depth in [80, 120, 249, 250, 5000] {
                let text = [&before.repeat(depth), middle, &after.repeat(depth)].concat();
                let result = check(&text, Environment::OomTrigger);
                let limited = result.err().is_some_and(|error| {
                    error == "ERROR: <input>:-1:0: expression recursion limit exceeded: 250"
                });
                assert_eq!(limited, depth >= limit(before), "{before} {depth}");
            }
        }
        // Here nothing is nested for the parser, but the tree is deep.
        for (depth, deep) in [(249, false), (250, true)] {
            let text = format!("1{} == 1", " + 1".repeat(depth));
            let result = check(&text, Environment::Disk).err();
            let expected = "ERROR: <input>:-1:0: max recursion depth exceeded".to_owned();
            assert_eq!(result, deep.then_some(expected), "{depth}");
        }
    }

    #[test]
    fn types_that_grow_without_end_are_given_up() {
        let text = format!("[1]{} == []", ".map(x, {x: x})".repeat(200));
        let result = check(&text, Environment::Disk);
        assert_eq!(result, Err("expression is too complex to be checked".to_owned()));
    }

    #[test]
    fn what_is_too_long_is_not_looked_at() {
        let text = "é".repeat(100_001);
        let expected = "ERROR: <input>:-1:0: \
            expression code point size exceeds limit: size: 100001, limit 100000";
        assert_eq!(check(&text, Environment::Disk), Err(expected.to_owned()));
    }

    #[test]
    fn what_macros_make_of_it_is_bounded() {
        let text = format!("[{}]", "a.map(a,a,a),".repeat(7600));
        let error = check(&text, Environment::Disk).expect_err("too many nodes");
        let expected = "ERROR: <input>:1:92853: \
            expression count exceeds limit of 100000 while expanding macro 'map'\n";
        assert!(error.starts_with(expected), "{}", &error[..200]);
    }

    fn environment(place: &str) -> Environment {
        match place {
            "disk" => Environment::Disk,
            "volume" => Environment::Volume,
            "member" => Environment::MemberVolume,
            "link" => Environment::Link,
            "trigger" => Environment::OomTrigger,
            "ranking" => Environment::OomRanking,
            _ => panic!("no environment is called {place}"),
        }
    }

    /// From which depth on it is too deep. An operand on the right counts once more for its operator.
    fn limit(before: &str) -> usize {
        match before {
            "1 + 1 * (" => 84,
            _ => 250,
        }
    }
}
