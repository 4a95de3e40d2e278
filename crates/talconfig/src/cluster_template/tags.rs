//! The tags of a template, before it is compiled: Python's `%`, and bounds on what a tag may say.
//!
//! `'%03d' % number` and `'%s-%s' % (a, b)` become calls of the filter `format`, which the engine has. Everything else
//! stays byte for byte, line breaks too, so that errors name the right line.

/// The reason why a template is not compiled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct TooLong {
    /// The line of the tag, counted from one.
    pub(super) line: usize,
}

/// Rewrites the tags of a template.
pub(super) fn rewrite(template: &str) -> Result<String, TooLong> {
    let mut output = String::with_capacity(template.len());
    let mut rest = template;
    let mut branches = 0;
    while let Some((at, close)) = next_tag(rest) {
        let (before, inside) = rest.split_at(at + 2);
        output.push_str(before);
        rest = inside;
        if close == COMMENT {
            let Some((comment, after)) = rest.split_once(close) else { break };
            output.extend([comment, close]);
            rest = after;
            continue;
        }
        let Some((tokens, end)) = tokens(rest, close) else { break };
        let word = tokens.iter().find(|token| token.chars().all(char::is_alphanumeric));
        branches += usize::from(word.is_some_and(|word| matches!(*word, "elif" | "else")));
        if tokens.len() > MOST_TOKENS || branches > MOST_BRANCHES {
            let line = 1 + template[..template.len() - rest.len()].matches('\n').count();
            return Err(TooLong { line });
        }
        formatted(&tokens, &mut output);
        output.push_str(close);
        rest = &rest[end + close.len()..];
        if close == BLOCK && word == Some(&"raw") {
            // What is raw is no tag up to its end.
            let mut ends = rest.match_indices("#%").map(|(at, _)| at);
            let is_end = |at: &usize| {
                let tag = rest[at + 2..].trim_start_matches(['-', '+']).trim_start();
                tag.starts_with("endraw")
            };
            let Some(end) = ends.find(is_end) else { break };
            output.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    output.push_str(rest);
    Ok(output)
}

/// Finds the beginning of the next tag, and what ends it.
fn next_tag(text: &str) -> Option<(usize, &'static str)> {
    text.match_indices('#').find_map(|(at, _)| match text.as_bytes().get(at + 1)? {
        b'{' => Some((at, "}#")),
        b'%' => Some((at, BLOCK)),
        b'|' => Some((at, COMMENT)),
        _ => None,
    })
}

/// Splits the inside of a tag into tokens, blanks among them, up to its end; `None` if it has none.
fn tokens<'t>(text: &'t str, close: &str) -> Option<(Vec<&'t str>, usize)> {
    let mut tokens = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if depth == 0 && rest.starts_with(close) {
            return Some((tokens, at));
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let until = |end: Option<usize>| end.unwrap_or(rest.len());
        let length = match first {
            '\'' | '"' => {
                let mut escaped = false;
                let end = rest.char_indices().skip(1).find(|(_, c)| {
                    let is_end = !escaped && *c == first;
                    escaped = !escaped && *c == '\\';
                    is_end
                });
                end?.0 + 1
            }
            c if c.is_whitespace() => until(rest.find(|c: char| !c.is_whitespace())),
            c if is_word(c) => until(rest.find(|c: char| !is_word(c))),
            c => {
                match c {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                c.len_utf8()
            }
        };
        tokens.push(&rest[..length]);
        at += length;
    }
    None
}

/// Writes tokens, with a text and a `%` behind it as a call of `format`.
fn formatted(tokens: &[&str], output: &mut String) {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let after = skip_blanks(tokens, at + 1);
        let is_format = is_text(token) && tokens.get(after) == Some(&"%");
        let start = skip_blanks(tokens, after + 1);
        let end = operand(tokens, start);
        if !is_format || end == start {
            output.push_str(token);
            at += 1;
            continue;
        }
        output.push('(');
        output.push_str(token);
        output.push_str("|format(");
        output.extend(tokens[at + 1..after].iter().chain(&tokens[after + 1..start]).copied());
        // A list in parentheses gives each of its items to a place of the text.
        let inner = (tokens[start] == "(" && closing(tokens, start) + 1 == end)
            .then(|| &tokens[start + 1..end - 1]);
        formatted(inner.unwrap_or(&tokens[start..end]), output);
        output.push_str("))");
        at = end;
    }
}

/// Returns the end of an operand: a sign, a value, what is taken of it, and filters.
fn operand(tokens: &[&str], start: usize) -> usize {
    let mut at = start;
    while matches!(tokens.get(at), Some(&("-" | "+"))) {
        at = skip_blanks(tokens, at + 1);
    }
    let Some(first) = tokens.get(at) else { return start };
    at = match *first {
        "(" | "[" | "{" => closing(tokens, at) + 1,
        word if is_text(word) || word.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
            at + 1
        }
        _ => return start,
    };
    loop {
        let next = skip_blanks(tokens, at);
        at = match tokens.get(next).copied() {
            Some("(" | "[") => closing(tokens, next) + 1,
            Some("." | "|") => skip_blanks(tokens, next + 1) + 1,
            _ => return at.min(tokens.len()),
        };
    }
}

/// Returns the place of the bracket that closes the one at `start`, or the last token.
fn closing(tokens: &[&str], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len().saturating_sub(1)
}

fn skip_blanks(tokens: &[&str], start: usize) -> usize {
    let blanks = tokens.iter().skip(start).take_while(|token| token.trim().is_empty());
    start + blanks.count()
}

fn is_text(token: &str) -> bool {
    token.starts_with(['\'', '"'])
}

const BLOCK: &str = "%#";
const COMMENT: &str = "#|";

/// Tokens of a tag: expressions are compiled and dropped by recursion, a level for each operator.
const MOST_TOKENS: usize = 1_000;

/// Branches of a template, which nest in each other.
const MOST_BRANCHES: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_become_calls() {
        for (template, expected) in [
            ("#{ '%s' % name }#", "#{ ('%s'|format(  name)) }#"),
            ("#{'%03d'%n}#", "#{('%03d'|format(n))}#"),
            ("#{ '%s-%s' % (a, b) ~ c }#", "#{ ('%s-%s'|format(  a, b)) ~ c }#"),
            ("#{ '%s' % a.b[0].c() | upper }#", "#{ ('%s'|format(  a.b[0].c() | upper)) }#"),
            ("#{ f('%s' % ('global')) }#", "#{ f(('%s'|format(  'global'))) }#"),
            ("#{ '%s' % ('%d' % 1) }#", "#{ ('%s'|format(  ('%d'|format(  1)))) }#"),
            ("#{ '%d' % -1 }#", "#{ ('%d'|format(  -1)) }#"),
            ("#{ 5 % 2 }#", "#{ 5 % 2 }#"),
            ("#{ '%s' }#", "#{ '%s' }#"),
            ("#% set a = '}#' %#x", "#% set a = '}#' %#x"),
            ("text '%s' % x", "text '%s' % x"),
            ("#| '%s' % x #|#{ '%s' % x }#", "#| '%s' % x #|#{ ('%s'|format(  x)) }#"),
            (
                "#% raw %##{ ' '%s' % x }##%- endraw %##{ '%s' % x }#",
                "#% raw %##{ ' '%s' % x }##%- endraw %##{ ('%s'|format(  x)) }#",
            ),
            ("#{ '%s' % ", "#{ '%s' % "),
            ("#{ '%s' % }#", "#{ '%s' % }#"),
            ("#{ '%s' % ( }#", "#{ '%s' % ( }#"),
        ] {
            assert_eq!(rewrite(template).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn long_tags_are_refused() {
        for chain in ["-", "not ", "1 + ", "x.", "x | f | "] {
            let template = format!("a\n#{{ {}1 }}#", chain.repeat(100_000));
            assert_eq!(rewrite(&template), Err(TooLong { line: 2 }), "{chain}");
        }
        let branches = "#% elif x %#\n".repeat(10_000);
        assert_eq!(rewrite(&branches), Err(TooLong { line: 501 }));
    }
}
