//! Values as text.

use std::fmt::Write;

use talos_config::rules::quoted;

use super::{MOST, check_length};
use crate::gotemplate::value::GoValue;

/// Joins values, with a blank between two of them that are not text.
pub(super) fn joined(values: &[GoValue<'_>]) -> Result<String, String> {
    let mut output = String::new();
    let mut after_text = true;
    for value in values {
        let is_text = matches!(value, GoValue::Text(_));
        if !is_text && !after_text {
            output.push(' ');
        }
        output.push_str(&value.print()?);
        after_text = is_text;
    }
    Ok(output)
}

/// Formats all values on a line, with blanks between them.
pub(super) fn line(values: &[GoValue<'_>]) -> Result<String, String> {
    let words: Result<Vec<String>, String> = values.iter().map(GoValue::print).collect();
    Ok(words?.join(" ") + "\n")
}

/// Formats values with a format string.
pub(super) fn formatted(form: &str, values: &[GoValue<'_>]) -> Result<String, String> {
    let mut output = String::new();
    let mut values = values.iter();
    let mut rest = form;
    while let Some((before, behind)) = rest.split_once('%') {
        output.push_str(before);
        check_length(output.len())?;
        let (padding, behind) = Padding::read(behind)?;
        let mut characters = behind.chars();
        let verb = characters.next();
        rest = characters.as_str();
        match verb {
            None => output.push_str("%!(NOVERB)"),
            Some('%') => output.push('%'),
            Some(verb @ ('s' | 'd' | 'v' | 'q' | 't')) => match values.next() {
                Some(value) => output.push_str(&padding.around(verb, value)?),
                // Writing to a string cannot fail.
                None => {
                    let _ = write!(output, "%!{verb}(MISSING)");
                }
            },
            Some(verb) => return Err(format!("Ichor does not have %{verb}")),
        }
    }
    output.push_str(rest);
    let surplus: Result<Vec<String>, String> = values.map(with_type).collect();
    let surplus = surplus?;
    if !surplus.is_empty() {
        let _ = write!(output, "%!(EXTRA {})", surplus.join(", "));
    }
    Ok(output)
}

/// The width and alignment of a formatted value.
struct Padding {
    width: usize,
    left: bool,
    zeros: bool,
}

impl Padding {
    /// Reads the flags between a percent sign and its verb.
    fn read(text: &str) -> Result<(Self, &str), String> {
        let bare = text.trim_start_matches(['-', '0']);
        let flags = &text[..text.len() - bare.len()];
        let rest = bare.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let digits = &bare[..bare.len() - rest.len()];
        let width = if digits.is_empty() { Some(0) } else { digits.parse::<usize>().ok() };
        let most = usize::try_from(MOST).unwrap_or(usize::MAX);
        let width = width.filter(|width| *width <= most);
        let width = width.ok_or_else(|| format!("Ichor does not print {digits} characters"))?;
        let left = flags.contains('-');
        Ok((Self { width, left, zeros: flags.contains('0') && !left }, rest))
    }

    fn around(&self, verb: char, value: &GoValue<'_>) -> Result<String, String> {
        let Some(text) = plain(verb, value) else {
            return if self.width == 0 { parts(verb, value) } else { Err(unsure(verb, value)) };
        };
        let missing = self.width.saturating_sub(text.chars().count());
        if self.left {
            return Ok(text + &" ".repeat(missing));
        }
        if !self.zeros {
            return Ok(" ".repeat(missing) + &text);
        }
        match value {
            GoValue::Int(_) | GoValue::Long(_) => {
                let digits = text.trim_start_matches('-');
                let sign = &text[..text.len() - digits.len()];
                Ok(format!("{sign}{}{digits}", "0".repeat(missing)))
            }
            _ if missing == 0 => Ok(text),
            _ => Err(unsure(verb, value)),
        }
    }
}

/// Formats a value with a verb that supports it.
fn plain(verb: char, value: &GoValue<'_>) -> Option<String> {
    match (verb, value) {
        ('s' | 'v', GoValue::Text(text) | GoValue::Url(text) | GoValue::Named(_, text)) => {
            Some(text.clone())
        }
        ('q', GoValue::Text(text) | GoValue::Url(text) | GoValue::Named(_, text)) => {
            Some(quoted(text))
        }
        ('d' | 'v', GoValue::Int(_) | GoValue::Long(_)) => value.print().ok(),
        ('t' | 'v', GoValue::Bool(_)) => value.print().ok(),
        ('v', GoValue::Float(_)) => value.print().ok(),
        _ => None,
    }
}

/// Formats a collection, or a value with a verb that does not support it.
fn parts(verb: char, value: &GoValue<'_>) -> Result<String, String> {
    let part = |value: &GoValue<'_>| match (plain(verb, value), value) {
        (Some(text), _) => Ok(text),
        // Go does not report a mistake here.
        (None, GoValue::Nil("")) => value.print(),
        (None, _) => parts(verb, value),
    };
    match value {
        _ if verb == 'v' => value.print(),
        GoValue::List(_, items) => {
            let items: Result<Vec<String>, String> = items.iter().map(part).collect();
            Ok(format!("[{}]", items?.join(" ")))
        }
        GoValue::Map(_, map) => {
            let mut entries = Vec::new();
            for (key, value) in map {
                entries.push(format!("{}:{}", part(&GoValue::text(key))?, part(value)?));
            }
            Ok(format!("map[{}]", entries.join(" ")))
        }
        GoValue::Int(_) | GoValue::Long(_) if verb == 'q' => Err(unsure(verb, value)),
        GoValue::Nil(pointed) if !pointed.is_empty() && verb == 'd' => Err(unsure(verb, value)),
        GoValue::Nil(_)
        | GoValue::Text(_)
        | GoValue::Int(_)
        | GoValue::Long(_)
        | GoValue::Float(_)
        | GoValue::Bool(_) => Ok(format!("%!{verb}({})", with_type(value)?)),
        _ => Err(unsure(verb, value)),
    }
}

/// `type=value`
fn with_type(value: &GoValue<'_>) -> Result<String, String> {
    let text = value.print()?;
    Ok(if matches!(value, GoValue::Nil("")) {
        text
    } else {
        format!("{}={text}", value.type_name())
    })
}

fn unsure(verb: char, value: &GoValue<'_>) -> String {
    format!("Ichor does not have %{verb} in this form for values of type {}", value.type_name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn values_are_printed_as_go_does() {
        check(&[
            (
                "{{ print 1 2 }} {{ print \"a\" 1 }} {{ print 1 \"a\" 2 }} {{ print \"a\" \"b\" }} {{ print 1 2 \"a\" \"b\" 3 4 }}",
                "1 2 a1 1a2 ab 1 2ab3 4",
            ),
            (
                "{{ print nil nil }} {{ print true 1.5 }} {{ print (list) (dict) }} {{ print .MachineConfig.MachineNodeLabels.none }}",
                "<nil> <nil> true 1.5 [] map[] <nil>",
            ),
            (
                "{{ print .MachineConfig.MachineCertSANs 1 }} {{ print .MachineConfig.MachineInstall.InstallBootloader }}",
                "[a.lan b.lan] 1 <nil>",
            ),
            (
                "{{ print .ClusterConfig.ControlPlane.Endpoint }} {{ list 1 \"a\" nil }} {{ .MachineConfig.MachineNodeLabels }}",
                "https://[fd00::1]:6443 [1 a <nil>] map[one:1 zone:z]",
            ),
            (
                "{{ println \"a\" \"b\" }}|{{ println 1 2 \"a\" }}|{{ println }}|",
                "a b\n|1 2 a\n|\n|",
            ),
            (
                "{{ html \"<a & 'b' \\\"c\\\">\" }} {{ html 1 2 }} {{ html .MachineConfig.MachineInstall.InstallWipe }} {{ html }} {{ html nil }}",
                "&lt;a &amp; &#39;b&#39; &#34;c&#34;&gt; 1 2 false  &lt;no value&gt;",
            ),
            (
                "{{ printf \"%s-%d\" \"a\" 3 }} {{ printf \"%t\" true }} {{ printf \"%v\" 1.5 }} {{ printf \"%q\" \"a\\\"b\" }} {{ printf \"%%\" }} {{ printf \"a\" }}",
                "a-3 true 1.5 \"a\\\"b\" % a",
            ),
            (
                "{{ printf \"%d\" \"a\" }} {{ printf \"%s\" 3 }} {{ printf \"%s\" true }} {{ printf \"%t\" \"a\" }} {{ printf \"%d\" true }}",
                "%!d(string=a) %!s(int=3) %!s(bool=true) %!t(string=a) %!d(bool=true)",
            ),
            (
                "{{ printf \"%d\" 1.5 }} {{ printf \"%s\" 1.5 }} {{ printf \"%s\" (add 1 2) }} {{ printf \"%d\" (add 1 2) }}",
                "%!d(float64=1.5) %!s(float64=1.5) %!s(int64=3) 3",
            ),
            (
                "{{ printf \"%s\" nil }} {{ printf \"%v\" nil }} {{ printf \"%d\" nil }} {{ printf \"%s\" .MachineConfig.MachineInstall.InstallBootloader }}",
                "%!s(<nil>) <nil> %!d(<nil>) %!s(*bool=<nil>)",
            ),
            (
                "{{ printf \"%s\" }} {{ printf \"%d %d\" 1 }} {{ printf \"%q\" }} {{ printf \"%\" }} {{ printf \"a%\" 1 }}",
                "%!s(MISSING) 1 %!d(MISSING) %!q(MISSING) %!(NOVERB) a%!(NOVERB)%!(EXTRA int=1)",
            ),
            (
                "{{ printf \"a\" 1 \"b\" nil }} {{ printf \"%s\" \"a\" \"b\" }}",
                "a%!(EXTRA int=1, string=b, <nil>) a%!(EXTRA string=b)",
            ),
            (
                "{{ printf \"a\" (add 1 2) .MachineConfig.MachineCertSANs 1.5 true }}",
                "a%!(EXTRA int64=3, []string=[a.lan b.lan], float64=1.5, bool=true)",
            ),
            (
                "{{ printf \"%5d|%-5d|%05d|%-05d|%05d|%02d\" 3 4 5 6 -7 123 }}",
                "    3|4    |00005|6    |-0007|123",
            ),
            (
                "{{ printf \"%5s|%-5s|%5t|%8q|%5v|%-5v|%3s\" \"ab\" \"cd\" true \"a\" 1 \"a\" \"é\" }}",
                "   ab|cd   | true|     \"a\"|    1|a    |  é",
            ),
            (
                "{{ printf \"%s %v %q\" .MachineConfig.MachineCertSANs .MachineConfig.MachineCertSANs .MachineConfig.MachineCertSANs }}",
                "[a.lan b.lan] [a.lan b.lan] [\"a.lan\" \"b.lan\"]",
            ),
            (
                "{{ printf \"%d %d\" .MachineConfig.MachineCertSANs (list 1 \"a\" nil) }}",
                "[%!d(string=a.lan) %!d(string=b.lan)] [1 %!d(string=a) <nil>]",
            ),
            (
                "{{ printf \"%s %v\" (list 1 \"a\" nil) (list 1 \"a\" nil) }}",
                "[%!s(int=1) a <nil>] [1 a <nil>]",
            ),
            (
                "{{ printf \"%s %v %q\" .MachineConfig.MachineNodeLabels .MachineConfig.MachineNodeLabels .MachineConfig.MachineNodeLabels }}",
                "map[one:1 zone:z] map[one:1 zone:z] map[\"one\":\"1\" \"zone\":\"z\"]",
            ),
            (
                "{{ printf \"%s %s\" .ClusterConfig.ControlPlane.Endpoint .Machine.Type }}",
                "https://[fd00::1]:6443 worker",
            ),
        ]);
    }

    #[test]
    fn other_forms_are_refused() {
        for form in ["%x", "%.2f", "%+d", "%[1]d", "%*d", "%999999999d"] {
            assert!(formatted(form, &[GoValue::Int(1)]).is_err(), "{form}");
        }
        assert!(formatted("%05s", &[GoValue::text("a")]).is_err());
        assert!(formatted("%5d", &[GoValue::text("a")]).is_err());
        assert!(formatted("%v", &[GoValue::Flag(true)]).is_err());
    }
}
