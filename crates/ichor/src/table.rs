//! Tables, laid out as talosctl does it: columns as wide as their widest cell and three blanks, the last one not filled.

use std::fmt::{self, Write as _};

use serde::Serialize;

/// A line of a table, which is also an object for programs.
pub(crate) trait Row: Serialize {
    /// The heads of the columns, without the machine's.
    const COLUMNS: &'static [&'static str];

    /// What stands in them.
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
        self.rows.push(cells.into_iter().map(visible).collect());
    }

    /// Takes out the lines that are there. Later ones stand in the same columns.
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
            widest.max(self.widths.get(column).copied().unwrap_or(0))
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

/// Cells come from machines. What moves the cursor, colours or reorders what people read is written out, as talosctl
/// does it since 1.14.
fn visible(cell: String) -> String {
    if !cell.contains(is_hidden) {
        return cell;
    }
    let mut text = String::new();
    for character in cell.chars() {
        let number = u32::from(character);
        // Writing to a string cannot fail.
        let _ = match number {
            _ if !is_hidden(character) => write!(text, "{character}"),
            0..=0xff => write!(text, "\\x{number:02x}"),
            _ => write!(text, "\\u{number:04x}"),
        };
    }
    text
}

fn is_hidden(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::Table;

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
}
