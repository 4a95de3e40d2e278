//! Tables, laid out as talosctl does it: columns as wide as their widest cell and three blanks, the last one not filled.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

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

/// Any table.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
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
    pub(crate) fn push(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| visible(&cell).into_owned()).collect());
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
            let widest = cells.map(|row| row[column].chars().count()).max().unwrap_or(0);
            let width = widest.max(self.widths.get(column).copied().unwrap_or(0));
            // The widest that a format takes; what a machine or a file names may be longer.
            width.min(usize::from(u16::MAX))
        };
        (0..columns).map(width).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (number, row) in self.rows.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            for (column, cell) in row.iter().enumerate() {
                if column + 1 == row.len() {
                    f.write_str(cell)?;
                } else {
                    write!(f, "{cell:<width$}   ", width = widths[column])?;
                }
            }
        }
        Ok(())
    }
}

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
    use super::{Table, visible_lines};

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
    fn messages_keep_line_breaks_and_move_no_cursor() {
        assert_eq!(visible_lines("one\n\ttwo"), "one\n\ttwo");
        assert_eq!(visible_lines("\x1b]0;x\x07a\u{202e}b\r"), "\\x1b]0;x\\x07a\\u202eb\\x0d");
    }
}
