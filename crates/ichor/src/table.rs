//! Tables, laid out as talosctl does it: columns as wide as their widest cell and three blanks, the last one not filled.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

/// A line of a table, which is also an object for programs.
pub(crate) trait Row: Serialize {
    /// The heads of the columns, without the machine's.
    const COLUMNS: &'static [&'static str];

    /// The cells, in the order of the columns.
    fn cells(&self) -> Vec<String>;
}

/// Rows, each of one machine.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Rows<R>(pub(crate) Vec<NodeRow<R>>);

/// Something of one machine.
#[derive(Serialize)]
pub(crate) struct NodeRow<R> {
    pub(crate) node: String,
    #[serde(flatten)]
    pub(crate) what: R,
}

impl<R: Row> fmt::Display for Rows<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = std::iter::once("NODE").chain(R::COLUMNS.iter().copied());
        let mut table = Table::new(head.map(str::to_owned).collect());
        for NodeRow { node, what } in &self.0 {
            let mut cells = vec![node.clone()];
            cells.extend(what.cells());
            table.push(cells);
        }
        table.fmt(f)
    }
}

/// A cell of a table, in its colour.
#[derive(Debug)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, Style::new())
    }
}

/// Any table. The width that it is formatted with is that of the terminal: what does not fit is cut.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
    /// Columns of lines that were taken out stay as wide as they were.
    widths: Vec<usize>,
}

impl Table {
    pub(crate) fn new(head: Vec<String>) -> Self {
        let mut table = Self::default();
        table.push(head);
        table
    }

    /// Adds a line. What would spoil the terminal or the table is made visible.
    pub(crate) fn push<C: Into<Cell>>(&mut self, cells: Vec<C>) {
        let visible = |cell: C| {
            let Cell { text, style } = cell.into();
            Cell::styled(visible(&text), style)
        };
        self.rows.push(cells.into_iter().map(visible).collect());
    }

    /// Takes the rows out. Later rows keep the widths of the columns.
    pub(crate) fn take(&mut self) -> Option<Self> {
        self.widths = self.widths();
        let rows = std::mem::take(&mut self.rows);
        (!rows.is_empty()).then(|| Self { rows, widths: self.widths.clone() })
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).chain([self.widths.len()]).max().unwrap_or(0);
        let width = |column: usize| {
            // A cell that ends its line is not part of a column.
            let cells = self.rows.iter().filter(|row| row.len() > column + 1);
            let widest = cells.map(|row| row[column].width()).max().unwrap_or(0);
            widest.max(self.widths.get(column).copied().unwrap_or(0))
        };
        (0..columns).map(width).collect()
    }

    /// Returns the widths of the columns that fit into a line: the widest give way first.
    fn fitting(&self, line: usize) -> Vec<usize> {
        let mut widths = self.widths();
        for row in &self.rows {
            if let Some((last, cell)) = row.len().checked_sub(1).zip(row.last()) {
                widths[last] = widths[last].max(cell.width());
            }
        }
        let gaps = GAP * widths.len().saturating_sub(1);
        loop {
            let excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(line);
            let widest = widths.iter().copied().max().unwrap_or(0);
            if excess == 0 || widest <= NARROWEST {
                return widths;
            }
            let next = widths.iter().copied().filter(|width| *width < widest).max();
            let next = next.unwrap_or(0).max(NARROWEST);
            let count = widths.iter().filter(|width| **width == widest).count();
            let narrower = widest.saturating_sub(excess.div_ceil(count)).max(next);
            for width in &mut widths {
                *width = (*width).min(narrower);
            }
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = f.width().map_or_else(|| self.widths(), |line| self.fitting(line));
        for (number, row) in self.rows.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            for (column, cell) in row.iter().enumerate() {
                let is_last = column + 1 == row.len();
                let Cell { text, style } = cell;
                let (mut width, longest) = (cell.width(), widths[column]);
                write!(f, "{style}")?;
                if width > longest && f.width().is_some() {
                    text.chars().take(longest - 1).try_for_each(|letter| f.write_char(letter))?;
                    f.write_char('…')?;
                    width = longest;
                } else {
                    f.write_str(text)?;
                }
                write!(f, "{style:#}")?;
                if !is_last {
                    // Not by the width of a format: that ends at 65,535.
                    (width..longest + GAP).try_for_each(|_| f.write_char(' '))?;
                }
            }
        }
        Ok(())
    }
}

/// The blanks between columns.
const GAP: usize = 3;
/// Columns are not cut below this: names would not be recognised.
const NARROWEST: usize = 8;

pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Escapes control characters, as talosctl does since 1.14: cells come from machines, and must not move the cursor,
/// colour or reorder text.
pub(crate) fn visible(cell: &str) -> Cow<'_, str> {
    if cell.contains(is_hidden) { escaped(cell, is_hidden).into() } else { cell.into() }
}

/// Escapes control characters but line breaks and tabs in text of several lines.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    let is_hidden = |character| is_hidden(character) && !matches!(character, '\n' | '\t');
    if text.contains(is_hidden) { escaped(text, is_hidden).into() } else { text.into() }
}

/// The same for text with styles of our own in it, which stay.
pub(crate) fn visible_styled(text: &str) -> Cow<'_, str> {
    if !text.contains(|character| is_hidden(character) && !matches!(character, '\n' | '\t')) {
        return text.into();
    }
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\x1b') {
        shown.push_str(&visible_lines(before));
        let style = STYLES.iter().find(|style| behind.starts_with(**style));
        shown.push_str(style.map_or("\\x1b", |_| "\x1b"));
        let style = style.copied().unwrap_or_default();
        shown.push_str(style);
        rest = &behind[style.len()..];
    }
    shown.push_str(&visible_lines(rest));
    shown.into()
}

/// Escapes in JSON, which says the same then, what reorders text. Control characters are escaped in it already.
pub(crate) fn visible_json(json: &str) -> Cow<'_, str> {
    let is_hidden = |character: char| is_hidden(character) && !character.is_control();
    if json.contains(is_hidden) { escaped(json, is_hidden).into() } else { json.into() }
}

/// The ends of the sequences that our styles are made of: bold, the colours, and their end. Whatever else writes them
/// can colour text, and no more.
const STYLES: [&str; 6] = ["[0m", "[1m", "[31m", "[32m", "[33m", "[36m"];

fn escaped(text: &str, is_hidden: impl Fn(char) -> bool) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        let number = u32::from(character);
        // Writing to a string cannot fail.
        let _ = match number {
            _ if !is_hidden(character) => write!(escaped, "{character}"),
            0..=0xff => write!(escaped, "\\x{number:02x}"),
            _ => write!(escaped, "\\u{number:04x}"),
        };
    }
    escaped
}

fn is_hidden(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::{Cell, GOOD, Table, visible_json, visible_lines, visible_styled};

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["NODE", "ID", "LAST"].map(str::to_owned).to_vec());
        table.push(["127.0.0.1", "ü", ""].map(str::to_owned).to_vec());
        let expected = "NODE        ID   LAST\n127.0.0.1   ü    ";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn later_lines_stand_in_the_same_columns() {
        let mut table = Table::new(["ID", "X"].map(str::to_owned).to_vec());
        table.push(["longer", "1"].map(str::to_owned).to_vec());
        assert_eq!(table.take().unwrap().to_string(), "ID       X\nlonger   1");
        assert!(table.take().is_none());
        table.push(["a", "2"].map(str::to_owned).to_vec());
        assert_eq!(table.take().unwrap().to_string(), "a        2");
    }

    #[test]
    fn nothing_in_a_cell_moves_the_cursor() {
        let table = Table::new(vec!["a\tb\u{1b}[2J\u{202e}\nü".to_owned()]);
        assert_eq!(table.to_string(), r"a\x09b\x1b[2J\u202e\x0aü");
    }

    #[test]
    fn a_cell_of_any_length_is_written() {
        let mut table = Table::new(vec!["A".to_owned(), "B".to_owned()]);
        table.push(vec!["x".repeat(1 << 20), "y".to_owned()]);
        assert!(table.to_string().ends_with("x   y"));
    }

    #[test]
    fn table_that_is_wider_than_the_terminal_is_cut_where_it_is_widest() {
        let mut table = Table::new(["NODE", "MESSAGE", "AT"].map(str::to_owned).to_vec());
        table.push(vec!["cp-1".to_owned(), "a message that is long".to_owned(), "now".to_owned()]);
        let cut = format!("{table:26}");
        assert_eq!(cut, "NODE   MESSAGE         AT\ncp-1   a message th…   now");
        assert!(cut.lines().all(|line| line.chars().count() <= 26), "{cut}");
        assert_eq!(format!("{table:80}"), table.to_string());
        // No narrower than what is needed to tell names apart.
        assert_eq!(format!("{table:1}"), "NODE   MESSAGE    AT\ncp-1   a messa…   now");
    }

    #[test]
    fn table_cuts_its_last_column_too() {
        let mut table = Table::new(["NODE", "MESSAGE"].map(str::to_owned).to_vec());
        table.push(vec!["cp-1", "x".repeat(100).as_str()]);
        assert_eq!(format!("{table:20}"), "NODE   MESSAGE\ncp-1   xxxxxxxxxxxx…");
    }

    #[test]
    fn colour_takes_no_room() {
        let mut table = Table::new(vec!["STATE".to_owned(), "X".to_owned()]);
        table.push(vec![Cell::styled("ready", GOOD), "1".into()]);
        assert_eq!(table.to_string(), "STATE   X\n\u{1b}[32mready\u{1b}[0m   1");
    }

    #[test]
    fn text_keeps_our_styles_and_no_other_sequence() {
        let hostile = "\x1b]0;x\x07\x1b[2J\x1b[32mgreen\x1b[0m\u{202e}";
        assert_eq!(visible_styled(hostile), "\\x1b]0;x\\x07\\x1b[2J\x1b[32mgreen\x1b[0m\\u202e");
        assert_eq!(visible_json("{\"a\": \"\u{202e}b\"}"), "{\"a\": \"\\u202eb\"}");
    }

    #[test]
    fn messages_keep_line_breaks_and_move_no_cursor() {
        assert_eq!(visible_lines("one\n\ttwo"), "one\n\ttwo");
        assert_eq!(visible_lines("\x1b]0;x\x07a\u{202e}b\r"), "\\x1b]0;x\\x07a\\u202eb\\x0d");
    }
}
