//! `ichor diff` of files: what differs between two machine configurations.

use std::fmt;

use anstyle::Style;
use plan::FieldChange;
use serde::Serialize;
use talos_config::{Config, Difference, diff};

use crate::args::OutputFormat;
use crate::json_schema::{JsonSchema, SchemaOf, schema};
use crate::printer::Printer;
use crate::settings::Input;
use crate::sources::SourceMap;
use crate::table::{BAD, DOUBTFUL, GOOD, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed for two files.
pub(in crate::commands) const SCHEMA: SchemaOf = Report::json_schema;
/// Schema of what is printed for machines: rows with the name of a machine.
pub(in crate::commands) const OF_NODES: SchemaOf = Rows::<Row>::json_schema;

pub(in crate::commands) fn run(
    before: &Input,
    after: &Input,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut sources = SourceMap::default();
    let (before, _) = sources.parse(before, Config::parse)?;
    let (after, _) = sources.parse(after, Config::parse)?;
    let report = Report::new(diff(&before, &after));
    let pending = !report.0.is_empty();
    if pending || !matches!(output, OutputFormat::Table) {
        printer.value(&report, output)?;
    }
    Ok(if pending { ExitStatus::Pending } else { ExitStatus::Done })
}

/// Differences, with secrets hidden.
#[derive(Serialize)]
#[serde(transparent)]
pub(in crate::commands) struct Report(pub(in crate::commands) Vec<Row>);

impl JsonSchema for Report {
    fn json_schema() -> serde_json::Value {
        <Vec<Row>>::json_schema()
    }
}

impl Report {
    pub(in crate::commands) fn new(differences: Vec<Difference>) -> Self {
        Self(differences.into_iter().map(Row::from).collect())
    }
}

#[derive(Serialize)]
pub(in crate::commands) struct Row {
    document: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    before: Option<String>,
    after: Option<String>,
}

schema!(Row, plain { document, before, after } optional { path });

impl From<Difference> for Row {
    fn from(difference: Difference) -> Self {
        let Difference { document, path, before, after } = difference;
        Self { document, path, before, after }
    }
}

impl From<FieldChange> for Row {
    fn from(change: FieldChange) -> Self {
        let FieldChange { document, path, before, after } = change;
        Self { document, path, before, after }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut document = None;
        for (index, row) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            if document != Some(&row.document) {
                let sign = match (row.path.as_str(), &row.before, &row.after) {
                    ("", Some(_), None) => "- ",
                    ("", None, Some(_)) => "+ ",
                    _ => "",
                };
                let style = match sign {
                    "- " => BAD,
                    "+ " => GOOD,
                    _ => Style::new(),
                };
                write!(f, "{style}{sign}{}{style:#}", row.document)?;
                if !row.path.is_empty() {
                    writeln!(f)?;
                }
                document = Some(&row.document);
            }
            match (row.path.as_str(), &row.before, &row.after) {
                ("", _, _) | (_, None, None) => {}
                (path, None, Some(after)) => write!(f, "  {GOOD}+ {path}: {}{GOOD:#}", cut(after))?,
                (path, Some(before), None) => write!(f, "  {BAD}- {path}: {}{BAD:#}", cut(before))?,
                (path, Some(before), Some(after)) => {
                    write!(
                        f,
                        "  {DOUBTFUL}~ {path}: {} → {}{DOUBTFUL:#}",
                        cut(before),
                        cut(after)
                    )?;
                }
            }
        }
        Ok(())
    }
}

/// The beginning of a text that is too long for a line.
fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST_SHOWN {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONGEST_SHOWN / 2).collect();
    format!("{start}… ({} characters)", text.chars().count())
}

/// In characters: what still fits into a line of a terminal beside its path.
const LONGEST_SHOWN: usize = 60;
