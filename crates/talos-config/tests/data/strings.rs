//! The table of strings, read.

/// Each text, and how talosctl 1.14.1 writes it as the value of a key in the first column.
pub(crate) fn rows() -> Vec<(String, String)> {
    let lines = include_str!("strings.txt").lines();
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let row = |line: &str| {
        let (text, written) = line.split_once(" => ").expect("a row");
        (unescape(text), unescape(written))
    };
    rows.map(row).collect()
}

fn unescape(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        result.push_str(&rest[..at]);
        let (character, length) = match rest.as_bytes()[at + 1] {
            b'n' => ('\n', 2),
            b't' => ('\t', 2),
            b'r' => ('\r', 2),
            b's' => (' ', 2),
            b'\\' => ('\\', 2),
            b'u' => (hexadecimal(&rest[at + 2..at + 6]), 6),
            _ => (hexadecimal(&rest[at + 2..at + 10]), 10),
        };
        result.push(character);
        rest = &rest[at + length..];
    }
    result + rest
}

fn hexadecimal(text: &str) -> char {
    char::from_u32(u32::from_str_radix(text, 16).expect("a number")).expect("a character")
}
