//! Tables, laid out as talosctl does it: columns as wide as their widest cell and three blanks, the last one not filled.

use std::fmt;

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
pub(crate) struct Rows<R>(pub(crate) Vec<OfNode<R>>);

/// Something of one machine.
#[derive(Serialize)]
pub(crate) struct OfNode<R> {
    pub(crate) node: String,
    #[serde(flatten)]
    pub(crate) what: R,
}

impl<R: Row> fmt::Display for Rows<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = std::iter::once("NODE").chain(R::COLUMNS.iter().copied());
        let mut table = Table::new(head.map(str::to_owned).collect());
        for OfNode { node, what } in &self.0 {
            let mut cells = vec![node.clone()];
            cells.extend(what.cells());
            table.push(cells);
        }
        table.fmt(f)
    }
}

/// Any table.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn new(head: Vec<String>) -> Self {
        Self(vec![head])
    }

    pub(crate) fn push(&mut self, cells: Vec<String>) {
        self.0.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            // A cell that ends its line is not part of a column.
            let cells = self.0.iter().filter(|row| row.len() > column + 1);
            cells.map(|row| row[column].chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (number, row) in self.0.iter().enumerate() {
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
}
