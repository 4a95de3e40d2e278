//! The five ways to write text in YAML, from the first character to what the text is.

use super::SyntaxError;
use super::cursor::Cursor;

/// What surrounds a scalar, as far as it decides where the scalar ends.
#[derive(Clone, Copy)]
pub(super) struct ScalarContext {
    /// The column of the block around it; minus one at the top.
    pub(super) indent: i64,
    /// Whether it stands within brackets or braces.
    pub(super) in_flow: bool,
}

/// Reads a plain scalar. It may go on over several lines; blanks behind it are left unread, line breaks
/// are not.
pub(super) fn plain(cursor: &mut Cursor<'_>, around: ScalarContext) -> Result<String, SyntaxError> {
    let mut text = String::new();
    let mut gap = Gap::default();
    loop {
        if cursor.at_any_marker() || cursor.byte(0) == b'#' {
            break;
        }
        while !cursor.ends_word(0) && !ends_plain(cursor, around.in_flow) {
            gap.join(&mut text);
            let run = cursor.step_run(|byte| !PLAIN_SPECIAL[usize::from(byte)]);
            text.push_str(run);
            if run.is_empty() {
                text.extend(cursor.step());
            }
        }
        if cursor.at_end() || !cursor.ends_word(0) {
            break;
        }
        gap.read(cursor, |cursor, broken| {
            let abused =
                broken && i64::from(cursor.column()) <= around.indent && cursor.byte(0) == b'\t';
            if abused { Err("found a tab character that violates indentation") } else { Ok(()) }
        })?;
        if !around.in_flow && i64::from(cursor.column()) <= around.indent {
            break;
        }
    }
    Ok(text)
}

/// Whether the character here ends a plain scalar though no blank stands before it.
fn ends_plain(cursor: &Cursor<'_>, in_flow: bool) -> bool {
    match cursor.byte(0) {
        b':' => cursor.ends_word(1) || (in_flow && matches!(cursor.byte(1), b',' | b']' | b'}')),
        b',' | b'[' | b']' | b'{' | b'}' => in_flow,
        b'?' => in_flow && cursor.ends_word(1),
        _ => false,
    }
}

/// Reads `'…'`.
pub(super) fn single(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    quoted(cursor, |cursor, text| match (cursor.byte(0), cursor.byte(1)) {
        (b'\'', b'\'') => {
            text.push('\'');
            cursor.step_ascii(2);
            Ok(Quoted::More)
        }
        (b'\'', _) => Ok(Quoted::End),
        _ => {
            text.extend(cursor.step());
            Ok(Quoted::More)
        }
    })
}

/// Reads `"…"`.
pub(super) fn double(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    quoted(cursor, |cursor, text| match cursor.byte(0) {
        b'"' => Ok(Quoted::End),
        b'\\' => {
            cursor.step_ascii(1);
            if cursor.line_break().is_some() {
                cursor.step_line();
                return Ok(Quoted::Joined);
            }
            text.push(escape(cursor)?);
            Ok(Quoted::More)
        }
        _ => {
            text.extend(cursor.step());
            Ok(Quoted::More)
        }
    })
}

enum Quoted {
    More,
    /// A line break was escaped: the next line goes on without a space.
    Joined,
    End,
}

fn quoted(
    cursor: &mut Cursor<'_>,
    mut next: impl FnMut(&mut Cursor<'_>, &mut String) -> Result<Quoted, SyntaxError>,
) -> Result<String, SyntaxError> {
    cursor.step_ascii(1);
    let mut text = String::new();
    loop {
        if cursor.at_any_marker() {
            return Err(cursor.error("found unexpected document indicator"));
        }
        if cursor.at_end() {
            return Err(cursor.error("found unexpected end of stream"));
        }
        let mut gap = Gap::default();
        while !cursor.ends_word(0) {
            match next(cursor, &mut text)? {
                Quoted::More => {}
                Quoted::Joined => {
                    gap = Gap::after_escaped_break();
                    break;
                }
                Quoted::End => {
                    cursor.step_ascii(1);
                    return Ok(text);
                }
            }
        }
        gap.read(cursor, |_, _| Ok(()))?;
        gap.join(&mut text);
    }
}

/// Reads what follows a backslash.
fn escape(cursor: &mut Cursor<'_>) -> Result<char, SyntaxError> {
    let digits = match cursor.byte(0) {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        letter => {
            let meaning = match letter {
                b'0' => '\0',
                b'a' => '\x07',
                b'b' => '\x08',
                b't' | b'\t' => '\t',
                b'n' => '\n',
                b'v' => '\x0b',
                b'f' => '\x0c',
                b'r' => '\r',
                b'e' => '\x1b',
                b' ' => ' ',
                b'"' => '"',
                b'\'' => '\'',
                b'/' => '/',
                b'\\' => '\\',
                b'N' => '\u{85}',
                b'_' => '\u{a0}',
                b'L' => '\u{2028}',
                b'P' => '\u{2029}',
                _ => return Err(cursor.error("found unknown escape character")),
            };
            cursor.step_ascii(1);
            return Ok(meaning);
        }
    };
    cursor.step_ascii(1);
    let hexadecimal =
        cursor.rest().get(..digits).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
    let Some(number) = hexadecimal.and_then(|text| u32::from_str_radix(text, 16).ok()) else {
        return Err(cursor.error("did not find expected hexadecimal number"));
    };
    let Some(meaning) = char::from_u32(number) else {
        return Err(cursor.error("found invalid Unicode character escape code"));
    };
    for _ in 0..digits {
        cursor.step_ascii(1);
    }
    Ok(meaning)
}

/// White space within a scalar that may turn out to be at its end.
#[derive(Default)]
struct Gap {
    blanks: String,
    /// The first line break, when there is one.
    first: Option<&'static str>,
    further: String,
}

impl Gap {
    fn after_escaped_break() -> Self {
        Self { first: Some(""), ..Self::default() }
    }

    /// Reads all blanks and line breaks that stand here.
    fn read(
        &mut self,
        cursor: &mut Cursor<'_>,
        check: impl Fn(&Cursor<'_>, bool) -> Result<(), &'static str>,
    ) -> Result<(), SyntaxError> {
        loop {
            if cursor.at_blank() {
                check(cursor, self.first.is_some()).map_err(|problem| cursor.error(problem))?;
                let blank = cursor.step();
                if self.first.is_none() {
                    self.blanks.extend(blank);
                }
            } else if cursor.line_break().is_some() {
                let meaning = cursor.step_line();
                match self.first {
                    None => self.first = Some(meaning),
                    Some(_) => self.further.push_str(meaning),
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Puts into the text what the gap means: blanks as they are, one line break as a space.
    fn join(&mut self, text: &mut String) {
        match self.first.take() {
            None => text.push_str(&self.blanks),
            Some("\n") if self.further.is_empty() => text.push(' '),
            Some("\n") => text.push_str(&self.further),
            Some(other) => {
                text.push_str(other);
                text.push_str(&self.further);
            }
        }
        self.blanks.clear();
        self.further.clear();
    }
}

/// Reads the lines of a `|` or `>`, from the end of its header on.
pub(super) fn block(
    cursor: &mut Cursor<'_>,
    header: Header,
    folded: bool,
    around: i64,
) -> Result<String, SyntaxError> {
    if !cursor.at_break_or_end() {
        return Err(cursor.error("did not find expected comment or line break"));
    }
    cursor.step_line();
    let mut indent = header.indent.map(|digit| around.max(0) + digit);
    let mut text = String::new();
    let mut trailing = String::new();
    block_gap(cursor, &mut indent, around, &mut trailing)?;
    // Set by the first gap in every case.
    let column = indent.unwrap_or(0);
    let mut last_break = "";
    let mut was_indented = false;
    while i64::from(cursor.column()) == column && !cursor.at_end() {
        let is_indented = cursor.at_blank();
        if folded && last_break == "\n" && !was_indented && !is_indented {
            if trailing.is_empty() {
                text.push(' ');
            }
        } else {
            text.push_str(last_break);
        }
        text.push_str(&trailing);
        trailing.clear();
        was_indented = is_indented;
        let begun = cursor.position();
        cursor.step_to_break();
        text.push_str(cursor.since(begun));
        last_break = cursor.step_line();
        block_gap(cursor, &mut indent, around, &mut trailing)?;
    }
    if header.chomp != Chomp::Strip {
        text.push_str(last_break);
    }
    if header.chomp == Chomp::Keep {
        text.push_str(&trailing);
    }
    Ok(text)
}

#[derive(Clone, Copy, PartialEq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}

/// What stands behind `|` or `>`.
#[derive(Clone, Copy)]
pub(super) struct Header {
    chomp: Chomp,
    indent: Option<i64>,
}

/// Reads `|` or `>` and its indicators, up to the comment that may follow.
pub(super) fn header(cursor: &mut Cursor<'_>) -> Result<Header, SyntaxError> {
    cursor.step_ascii(1);
    let mut header = Header { chomp: Chomp::Clip, indent: None };
    let mut chomped = false;
    // One indicator of either kind, in any order.
    for _ in 0..2 {
        match cursor.byte(0) {
            sign @ (b'+' | b'-') if !chomped => {
                header.chomp = if sign == b'+' { Chomp::Keep } else { Chomp::Strip };
                chomped = true;
            }
            b'0' if header.indent.is_none() => {
                return Err(cursor.error("found an indentation indicator equal to 0"));
            }
            digit @ b'1'..=b'9' if header.indent.is_none() => {
                header.indent = Some(i64::from(digit - b'0'));
            }
            _ => break,
        }
        cursor.step_ascii(1);
    }
    while cursor.at_blank() {
        cursor.step();
    }
    Ok(header)
}

/// Steps over indentation and empty lines; finds out the indentation where it is not known yet.
fn block_gap(
    cursor: &mut Cursor<'_>,
    indent: &mut Option<i64>,
    around: i64,
    breaks: &mut String,
) -> Result<(), SyntaxError> {
    let mut widest = 0;
    loop {
        let within =
            |cursor: &Cursor<'_>| indent.is_none_or(|indent| i64::from(cursor.column()) < indent);
        while within(cursor) && cursor.byte(0) == b' ' {
            cursor.step_ascii(1);
        }
        widest = widest.max(i64::from(cursor.column()));
        if within(cursor) && cursor.byte(0) == b'\t' {
            return Err(
                cursor.error("found a tab character where an indentation space is expected")
            );
        }
        if cursor.line_break().is_none() {
            break;
        }
        breaks.push_str(cursor.step_line());
    }
    indent.get_or_insert(widest.max(around + 1).max(0));
    Ok(())
}

/// What may end a plain scalar, or needs a closer look.
static PLAIN_SPECIAL: [bool; 256] = marked(b" \t\r\n:,[]{}?");

/// A table of bytes: most of a text is plain scalars, and certificates are long.
const fn marked(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}
