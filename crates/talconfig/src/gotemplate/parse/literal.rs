//! Constants.

use super::Operand;

/// Reads a number; its notation decides whether it is an integer.
pub(super) fn number(text: &str) -> Result<Operand, String> {
    if let Some(number) = whole(text) {
        return Ok(Operand::Int(number));
    }
    if text.ends_with('i') {
        return Err("Ichor does not have complex numbers".to_owned());
    }
    let float = text.parse::<f64>().ok().filter(|number| number.is_finite());
    match float {
        Some(number) if text.contains(['.', 'e', 'E']) => Ok(Operand::Float(number)),
        Some(_) => Err(format!("integer overflow: {text:?}")),
        None => Err(format!("illegal number syntax: {text:?}")),
    }
}

/// Reads an integer in Go's notation, whose prefix may give its base.
pub(in crate::gotemplate) fn whole(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    // An underscore may be between two digits or after the prefix.
    let digits = if radix == 10 { digits } else { digits.strip_prefix('_').unwrap_or(digits) };
    if digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    let digits = digits.replace('_', "");
    // Rust would take another sign.
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let number = i128::from_str_radix(&digits, radix).ok()?;
    i64::try_from(if text.starts_with('-') { -number } else { number }).ok()
}

/// Parses a character in single quotes to its number.
pub(super) fn character(text: &str) -> Result<i64, String> {
    let inner = unquoted(text, '\'')?;
    let mut characters = inner.chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) => Ok(i64::from(u32::from(one))),
        (None, _) => Err(INVALID.to_owned()),
        _ => Err(format!("malformed character constant: {text}")),
    }
}

/// Returns the contents of quotes.
pub(super) fn unquoted(text: &str, quote: char) -> Result<String, String> {
    let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    let mut characters = inner.unwrap_or_default().chars();
    let mut output = String::new();
    while let Some(character) = characters.next() {
        let read = if character == '\\' { escaped(&mut characters, quote)? } else { character };
        output.push(read);
    }
    Ok(output)
}

/// Parses an escape after its backslash.
fn escaped(characters: &mut std::str::Chars<'_>, quote: char) -> Result<char, String> {
    let first = characters.next().ok_or(INVALID)?;
    let mut digits = |begun: u32, count: usize, radix: u32| {
        (0..count).try_fold(begun, |number, _| {
            let digit = characters.next()?.to_digit(radix)?;
            Some(number * radix + digit)
        })
    };
    let number = match first {
        'a' => Some(7),
        'b' => Some(8),
        't' => Some(9),
        'n' => Some(10),
        'v' => Some(11),
        'f' => Some(12),
        'r' => Some(13),
        'x' => digits(0, 2, 16),
        'u' => digits(0, 4, 16),
        'U' => digits(0, 8, 16),
        '0'..='7' => first.to_digit(8).and_then(|begun| digits(begun, 2, 8)),
        _ if first == quote || first == '\\' => Some(u32::from(first)),
        _ => None,
    };
    // These two speak of bytes, of which several make a letter.
    if matches!(first, 'x' | '0'..='7') && number.is_some_and(|number| number > 0x7f) {
        return Err("Ichor does not have escapes for bytes that are no letters".to_owned());
    }
    number.and_then(char::from_u32).ok_or_else(|| INVALID.to_owned())
}

const INVALID: &str = "invalid syntax";

#[cfg(test)]
mod tests {
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn constants_are_what_go_reads() {
        check(&[
            (
                "{{ 1000000.0 }} {{ 1.0 }} {{ 1e3 }} {{ 1e21 }} {{ 0.00001 }} {{ -1.5 }} {{ 123456789.0 }} {{ .5 }}",
                "1e+06 1 1000 1e+21 1e-05 -1.5 1.23456789e+08 0.5",
            ),
            (
                "{{ 010 }} {{ 0x10 }} {{ 0B11 }} {{ 0o17 }} {{ 1_000 }} {{ 0_7 }} {{ +5 }} {{ 'a' }} {{ '\\n' }} {{ '\\'' }}",
                "8 16 3 15 1000 7 5 97 10 39",
            ),
            ("{{ 08 }}", "ERR 1: integer overflow: \"08\""),
            ("{{ 1__0 }}", "ERR 1: illegal number syntax: \"1__0\""),
            ("{{ 1_ }}", "ERR 1: illegal number syntax: \"1_\""),
            ("{{ 0x }}", "ERR 1: illegal number syntax: \"0x\""),
            ("{{ 99999999999999999999 }}", "ERR 1: integer overflow: \"99999999999999999999\""),
            ("{{ 1.Foo }}", "ERR 1: bad number syntax: \"1.F\""),
            ("{{ 1a }}", "ERR 1: bad number syntax: \"1a\""),
            ("{{ +inf }}", "ERR 1: bad number syntax: \"+in\""),
            ("{{ 1e400 }}", "ERR 1: illegal number syntax: \"1e400\""),
            ("{{1-}}", "ERR 1: bad number syntax: \"1-\""),
            ("{{--1 -}}", "ERR 1: bad number syntax: \"--1\""),
            ("{{- -}}", "ERR 1: illegal number syntax: \"-\""),
            ("{{ '' }}", "ERR 1: invalid syntax"),
            ("{{ 'ab' }}", "ERR 1: malformed character constant: 'ab'"),
            (
                "{{ \"\\a\\b\\f\\v\\x41\\u00e9\\U0001F600\\101\\\\\\\"\" }}",
                "\u{7}\u{8}\u{c}\u{b}Aé😀A\\\"",
            ),
            ("{{ \"\\'\" }}", "ERR 1: invalid syntax"),
            ("{{ \"\\q\" }}", "ERR 1: invalid syntax"),
            ("{{ \"\\ud800\" }}", "ERR 1: invalid syntax"),
            ("{{ `a\n\\b\"` }}", "a\n\\b\""),
            ("{{ true }} {{ false }}", "true false"),
        ]);
    }

    #[test]
    fn bytes_that_are_no_letters_are_refused() {
        let problem = "ERR 1: Ichor does not have escapes for bytes that are no letters";
        check(&[("{{ \"\\xff\" }}", problem), ("{{ \"\\377\" }}", problem)]);
    }
}
