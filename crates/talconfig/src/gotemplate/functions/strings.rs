//! Functions that make text of text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex_lite::Regex;
use talos_config::rules::quoted;

use super::{Arguments, MOST, check_length};
use crate::gotemplate::value::GoValue;

pub(super) fn call<'d>(
    name: &str,
    arguments: &Arguments<'_, 'd>,
) -> Result<Option<GoValue<'d>>, String> {
    let (first, second, third) = (arguments.text(0), arguments.text(1), arguments.text(2));
    Ok(Some(match name {
        "upper" => GoValue::Text(first.chars().map(upper).collect::<Result<String, String>>()?),
        "lower" => GoValue::Text(first.chars().filter_map(|c| c.to_lowercase().next()).collect()),
        "title" => GoValue::Text(title(first)?),
        "trim" => GoValue::text(first.trim()),
        "trimAll" => GoValue::text(second.trim_matches(|c: char| first.contains(c))),
        "trimPrefix" => GoValue::text(second.strip_prefix(first).unwrap_or(second)),
        "trimSuffix" => GoValue::text(second.strip_suffix(first).unwrap_or(second)),
        "trunc" => GoValue::text(cut(second, arguments.number(0))?),
        "contains" => GoValue::Bool(second.contains(first)),
        "hasPrefix" => GoValue::Bool(second.starts_with(first)),
        "hasSuffix" => GoValue::Bool(second.ends_with(first)),
        "replace" => {
            check_length(third.matches(first).count().saturating_mul(second.len()))?;
            GoValue::Text(third.replace(first, second))
        }
        "repeat" => GoValue::Text(repeated(second, arguments.number(0))?),
        "nospace" => GoValue::Text(without_blanks(first)),
        "quote" => GoValue::Text(each(arguments, |text| quoted(&text))?),
        "squote" => GoValue::Text(each(arguments, |text| format!("'{text}'"))?),
        "cat" => GoValue::Text(each(arguments, |text| text)?),
        "indent" => GoValue::Text(indented(second, arguments.number(0))?),
        "nindent" => GoValue::Text(format!("\n{}", indented(second, arguments.number(0))?)),
        "toString" => GoValue::Text(arguments.value(0).print()?),
        "b64enc" => GoValue::Text(STANDARD.encode(first)),
        "b64dec" => GoValue::Text(decoded(first)?),
        "regexMatch" => GoValue::Bool(pattern(first)?.is_match(second)),
        "regexFind" => match pattern(first)?.find(second) {
            Some(found) => GoValue::text(found.as_str()),
            None => GoValue::text(""),
        },
        "regexReplaceAll" => {
            let pattern = pattern(first)?;
            // Each `$` of the replacement may repeat a match.
            let repeats = third.matches('$').count().saturating_mul(second.len());
            let matches = pattern.find_iter(second).count();
            check_length(matches.saturating_mul(third.len()).saturating_add(repeats))?;
            GoValue::Text(pattern.replace_all(second, third).into_owned())
        }
        _ => return Ok(None),
    }))
}

/// Formats every argument that is not nil.
fn each(arguments: &Arguments<'_, '_>, shown: fn(String) -> String) -> Result<String, String> {
    let values = arguments.0.iter().filter(|value| !matches!(value, GoValue::Nil("")));
    let words: Result<Vec<String>, String> = values.map(|value| value.print().map(shown)).collect();
    Ok(words?.join(" "))
}

/// Returns the capital letter, if it is a single one; Go leaves the others unchanged.
fn upper(character: char) -> Result<char, String> {
    // Of these Go has one where Rust has two, or a third that is neither small nor capital.
    let special = matches!(
        character,
        '\u{1c4}'..='\u{1cc}'
            | '\u{1f1}'..='\u{1f3}'
            | '\u{10d0}'..='\u{10ff}'
            | '\u{1f80}'..='\u{1fff}'
    );
    if special {
        return Err(format!("Ichor does not know the capital letter of {character:?}"));
    }
    let mut capital = character.to_uppercase();
    Ok(match (capital.next(), capital.next()) {
        (Some(one), None) => one,
        _ => character,
    })
}

/// Capitalizes every word; anything but a letter, a digit or an underscore ends a word.
fn title(text: &str) -> Result<String, String> {
    let mut output = String::new();
    let mut begins = true;
    for character in text.chars() {
        output.push(if begins { upper(character)? } else { character });
        begins = if character.is_ascii() {
            !character.is_ascii_alphanumeric() && character != '_'
        } else {
            character.is_whitespace()
        };
    }
    Ok(output)
}

/// Returns the first bytes of a text, or with a negative length the last ones.
fn cut(text: &str, length: i64) -> Result<&str, String> {
    let wanted = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
    let part = if length < 0 {
        text.get(text.len().saturating_sub(wanted)..)
    } else {
        text.get(..wanted.min(text.len()))
    };
    part.ok_or_else(|| "this cuts a letter in two, which Ichor does not".to_owned())
}

fn repeated(text: &str, count: i64) -> Result<String, String> {
    let count = usize::try_from(count).map_err(|_| "strings: negative Repeat count".to_owned())?;
    let most = usize::try_from(MOST).unwrap_or(usize::MAX);
    if text.len().saturating_mul(count) > most {
        return Err(format!("Ichor does not make more than {MOST} bytes of it"));
    }
    Ok(text.repeat(count))
}

/// Removes blanks. If there are any, Go treats every byte as a letter.
fn without_blanks(text: &str) -> String {
    let kept: String = text.bytes().map(char::from).filter(|c| !c.is_whitespace()).collect();
    if kept.chars().count() == text.len() { text.to_owned() } else { kept }
}

fn indented(text: &str, columns: i64) -> Result<String, String> {
    let pad = repeated(" ", columns)?;
    check_length(text.matches('\n').count().saturating_mul(pad.len()))?;
    Ok(format!("{pad}{}", text.replace('\n', &format!("\n{pad}"))))
}

/// Decodes base64; an error is returned as the text, as in sprig.
fn decoded(text: &str) -> Result<String, String> {
    match bytes_behind(text) {
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|_| "what is encoded here is no text, which Ichor does not have".to_owned()),
        Err(at) => Ok(format!("illegal base64 data at input byte {at}")),
    }
}

/// Decodes base64, or returns the position of the error. The crate is stricter than Go, and counts
/// differently.
fn bytes_behind(text: &str) -> Result<Vec<u8>, usize> {
    let mut letters = text.bytes().enumerate().filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'));
    let mut output = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_usize);
    while let Some((at, byte)) = letters.next() {
        if let Some(value) = six_bits(byte) {
            bits = (bits << 6) | value;
            count += 1;
            if count == 4 {
                output.extend_from_slice(&bits.to_be_bytes()[1..]);
                (bits, count) = (0, 0);
            }
            continue;
        }
        if byte != b'=' || count < 2 {
            return Err(at);
        }
        if count == 2 {
            match letters.next() {
                Some((_, b'=')) => {}
                // Go points at the character before it.
                other => return Err(other.map_or(text.len(), |(at, _)| at - 1)),
            }
        }
        if let Some((at, _)) = letters.next() {
            return Err(at);
        }
        let bits = bits << (6 * (4 - count));
        output.extend_from_slice(&bits.to_be_bytes()[1..count]);
        return Ok(output);
    }
    if count > 0 { Err(text.len() - count) } else { Ok(output) }
}

fn six_bits(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

/// Compiles a regular expression. Go supports more; for an invalid one sprig may find no match
/// instead.
fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| format!("Ichor does not understand the regexp: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn texts_become_what_sprig_makes_of_them() {
        check(&[
            ("{{ b64dec \"!!\" }}", "illegal base64 data at input byte 0"),
            ("{{ b64dec \"YQ\" }}", "illegal base64 data at input byte 0"),
            (
                "{{ b64dec \"YQ==\" }} {{ b64dec \"YR==\" }} {{ b64dec \"YWI=\" }} {{ b64dec \"YWJj\\nYQ==\" }} {{ b64dec \"\" }}|",
                "a a ab abca |",
            ),
            ("{{ b64dec \"YW=\" }}", "illegal base64 data at input byte 3"),
            ("{{ b64dec \"YQ=a\" }}", "illegal base64 data at input byte 2"),
            ("{{ b64dec \"YQ==a\" }}", "illegal base64 data at input byte 4"),
            ("{{ b64dec \"=\" }}", "illegal base64 data at input byte 0"),
            ("{{ b64dec \"a b\" }}", "illegal base64 data at input byte 1"),
            ("{{ b64enc \"é\" }}", "w6k="),
            (
                "{{ title \"don't stop-me now_x é\" }} {{ upper \"straße ŉ é\" }} {{ lower \"ΑΣ İ\" }}",
                "Don'T Stop-Me Now_x É STRAßE ŉ É ασ i",
            ),
            (
                "{{ trunc 2 \"é\" }} {{ trunc -1 \"abc\" }} {{ trunc -5 \"abc\" }} {{ trunc 5 \"abc\" }} {{ trunc -3 \"abc\" }} {{ trunc 0 \"abc\" }}|",
                "é c abc abc abc |",
            ),
            ("{{ cat 1 nil \"a\" \" \" }}|{{ cat }}|", "1 a  ||"),
            (
                "{{ quote \"a\" nil 1 .MachineConfig.MachineCertSANs }} {{ squote \"a\" nil 1 }} {{ quote }}|",
                "\"a\" \"1\" \"[a.lan b.lan]\" 'a' '1' |",
            ),
            (
                "{{ quote .ClusterConfig.ControlPlane.Endpoint }} {{ toString nil }} {{ toString 1.5 }} {{ toString (list 1) }}",
                "\"https://[fd00::1]:6443\" <nil> 1.5 [1]",
            ),
            ("{{ replace \"\" \"x\" \"ab\" }} {{ replace \"a\" \"b\" \"aaa\" }}", "xaxbx bbb"),
            ("{{ nospace \" a b\\tc\" }} {{ nospace \"é\" }} {{ nospace \"é a\" }}", "abc é Ã©a"),
            (
                "{{ trim \" \\u00a0a\\n\" }}|{{ trimAll \"xy\" \"xyaxy\" }} {{ trimAll \"\" \"a\" }} {{ trimPrefix \"a\" \"aab\" }} {{ trimSuffix \"b\" \"abb\" }}",
                "a|a a ab ab",
            ),
            ("{{ indent 2 \"a\\n\\nb\" }}{{ nindent 2 \"a\" }}", "  a\n  \n  b\n  a"),
            (
                "{{ repeat 3 \"ab\" }} {{ contains \"b\" \"abc\" }} {{ hasPrefix \"a\" \"abc\" }} {{ hasSuffix \"c\" \"abc\" }}",
                "ababab true true true",
            ),
            (
                "{{ repeat -1 \"a\" }}",
                "ERR 1:3: executing \"template\" at <repeat -1 \"a\">: error calling repeat: strings: negative Repeat count",
            ),
            (
                "{{ indent -1 \"a\" }}",
                "ERR 1:3: executing \"template\" at <indent -1 \"a\">: error calling indent: strings: negative Repeat count",
            ),
            (
                "{{ regexMatch \"a+\" \"caat\" }} {{ regexFind \"a+\" \"caat\" }} {{ regexFind \"x\" \"caat\" }}|",
                "true aa |",
            ),
            (
                "{{ regexReplaceAll \"a(x*)b\" \"-ab-axxb-\" \"${1}W\" }} {{ regexReplaceAll \"a(x*)b\" \"-ab-axxb-\" \"$1W\" }} {{ regexReplaceAll \"a\" \"bab\" \"$$\" }}",
                "-W-xxW- --- b$b",
            ),
        ]);
    }

    #[test]
    fn what_would_be_no_text_or_too_long_is_refused() {
        assert!(cut("é", 1).is_err());
        assert!(decoded("/w==").is_err());
        assert!(repeated("x", 9_999_999_999).is_err());
        assert!(title("ǆ").is_err());
        assert!(pattern("(").is_err());
    }
}
