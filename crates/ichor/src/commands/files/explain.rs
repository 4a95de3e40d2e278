//! `ichor explain`: where a value comes from and what it means.

use std::fmt;

use plan::{Explained, MachineName, RenderError};
use serde::Serialize;
use talos_config::yaml::Dialect;
use talos_config::{Confidential, Explanation, FieldDocs, Patched, SourceId, explain, field_docs};

use super::patch::{apply_all, read_patches};
use crate::args::OutputFormat;
use crate::directory::{self, KnownMachine, OpenedDirectory};
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::printer::Printer;
use crate::settings::{ClusterLocation, Input};
use crate::sources::SourceMap;
use crate::table::Table;
use crate::{Error, ExitStatus, runtime};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf =
    || serde_json::json!({"anyOf": [Report::json_schema(), Documentation::json_schema()]});

pub(in crate::commands) fn run(
    path: &str,
    file: &Input,
    patches: &[Input],
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut sources = SourceMap::default();
    let (text, source) = sources.read(file)?;
    let patches = read_patches(patches, &mut sources)?;
    // Applied once for its errors, which then name the patch that does not fit.
    apply_all(Patched::new(text.clone(), source), source, &patches, Dialect::default(), &sources)?;
    let (patches, patch_sources): (Vec<_>, Vec<_>) = patches.into_iter().unzip();
    let explanation = explain(&text, source, &patches, path, &Confidential::default())
        .map_err(|error| sources.locate(&error, source))?;
    // The layers as they are counted in a history: the configuration, then the patches.
    let layers: Vec<SourceId> = std::iter::once(source).chain(patch_sources).collect();
    let history = explanation
        .history
        .iter()
        .map(|change| Change {
            place: match sources.place(change.origin) {
                Some(location) => location.to_string(),
                None => sources.name(layers[change.layer]).to_owned(),
            },
            value: change.value.clone(),
        })
        .collect();
    printer.value(&Report::new(explanation, history), output)
}

/// Explains a field of a machine in the cluster directory.
pub(in crate::commands) fn of_machine(
    path: &str,
    machine: Option<&str>,
    location: &ClusterLocation,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    // What is asked for is a field, not a machine's value.
    if machine.is_none() && location.directory.is_none() && !directory::is_in_cluster()? {
        return documented(path, output, printer);
    }
    runtime::run(async {
        // Layers are kept apart for one machine, so that is found first.
        directory::find(location.directory.as_deref())?;
        let name = meant(&directory::known_machines(location)?, machine)?;
        let directory = OpenedDirectory::open_to_explain(location, &name).await?;
        directory.tell_warnings(printer);
        let explained = directory.cluster.renderer().explain(&name, path);
        let Explained { explanation, history } = explained.map_err(|error| match error {
            RenderError::Explain { error, .. } => {
                SourceMap::default().locate(&error, SourceId::default())
            }
            other => Error::Engine(other.into()),
        })?;
        let history = history.into_iter().map(|(place, value)| Change { place, value }).collect();
        printer.value(&Report::new(explanation, history), output)
    })
}

/// Describes a field where there is no cluster whose value could be shown.
fn documented(
    path: &str,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let docs = field_docs(path)
        .map_err(|error| SourceMap::default().locate(&error, SourceId::default()))?;
    let FieldDocs { kind, path, content, about, since, secret, fields } = docs;
    let fields = fields.into_iter().map(|(name, about)| DocumentedField { name, about }).collect();
    let since = since.to_string().split_off(1);
    printer.value(
        &Documentation {
            document: kind,
            path,
            value: None,
            history: Vec::new(),
            content,
            about,
            since,
            secret,
            fields,
        },
        output,
    )?;
    printer.note("no cluster directory here: pass machine configuration to see the value and where it comes from");
    Ok(ExitStatus::Done)
}

#[derive(Serialize)]
struct Documentation {
    document: &'static str,
    path: String,
    /// As where there is a configuration.
    value: Option<String>,
    history: Vec<Change>,
    content: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    about: &'static str,
    since: String,
    secret: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<DocumentedField>,
}

schema!(
    Documentation,
    plain { document, path, value, history, content, since, secret }
    optional { about, fields }
);

#[derive(Serialize)]
struct DocumentedField {
    name: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    about: &'static str,
}

schema!(DocumentedField, plain { name } optional { about });

impl fmt::Display for Documentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, path, value: _, history: _, content, about, since, secret, fields } =
            self;
        write!(f, "{}: {content}", Field { document, path })?;
        if !about.is_empty() {
            write!(f, "\n\n{about}")?;
        }
        write!(f, "\n\nsince Talos {since}")?;
        if *secret {
            write!(f, "\n\nsecret: never shown")?;
        }
        if fields.is_empty() {
            return Ok(());
        }
        write!(f, "\n\nfields\n")?;
        let mut table = Table::default();
        for DocumentedField { name, about } in fields {
            table.push(vec![format!("  {name}"), (*about).to_owned()]);
        }
        for line in
            format!("{table:width$}", width = f.width().unwrap_or(usize::from(u16::MAX))).lines()
        {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Selects a machine by name, host name or address; without one the only machine.
fn meant(machines: &[KnownMachine], machine: Option<&str>) -> Result<MachineName, Error> {
    let found = match (machine, machines) {
        (None, [only]) => Some(only),
        (None, _) => None,
        (Some(text), _) => KnownMachine::find(machines, text),
    };
    found.and_then(KnownMachine::machine_name).ok_or_else(|| {
        let names = machines.iter().filter_map(KnownMachine::machine_name);
        let names: Vec<String> = names.map(String::from).collect();
        Error::Usage {
            message: match machine {
                Some(text) => format!("the cluster has no machine {text}"),
                None => "the cluster has more than one machine".to_owned(),
            },
            hint: format!("pass one of {} with -n", names.join(", ")),
        }
    })
}

#[derive(Serialize)]
struct Report {
    document: String,
    path: String,
    value: Option<String>,
    #[serde(skip)]
    block: Option<String>,
    history: Vec<Change>,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
}

schema!(Report, plain { document, path, value, history } optional { about, since } skip { block });

impl Report {
    fn new(explanation: Explanation, history: Vec<Change>) -> Self {
        let Explanation { document, path, value, block, about, since, history: _ } = explanation;
        Self {
            document,
            path,
            value,
            block,
            history,
            about: Some(about).filter(|about| !about.is_empty()),
            since: since.map(|contract| contract.to_string().split_off(1)),
        }
    }
}

#[derive(Serialize)]
struct Change {
    place: String,
    value: Option<String>,
}

schema!(Change, plain { place, value });

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, path, value, block, history, about, since } = self;
        match value {
            Some(value) if is_large(value) => {
                let block = block.as_ref().unwrap_or(value);
                write!(f, "{}:", Field { document, path })?;
                block.lines().try_for_each(|line| write!(f, "\n  {line}"))?;
            }
            Some(value) => write!(f, "{}: {value}", Field { document, path })?,
            None => write!(f, "{} is not set", Field { document, path })?,
        }
        if let Some(about) = about {
            write!(f, "\n\n{about}")?;
        }
        if let Some(since) = since {
            write!(f, "\n\nsince Talos {since}")?;
        }
        if !history.is_empty() {
            write!(f, "\n\nset by")?;
        }
        for change in history {
            match &change.value {
                // It is above.
                value @ Some(large) if is_large(large) && value == &self.value => {
                    write!(f, "\n  {}", change.place)?;
                }
                Some(value) => write!(f, "\n  {}  {value}", change.place)?,
                None => write!(f, "\n  {}  removed", change.place)?,
            }
        }
        Ok(())
    }
}

/// Returns whether a value is an object or a list that is hard to read in one line.
fn is_large(value: &str) -> bool {
    value.starts_with(['{', '[']) && value.chars().count() > LONGEST_LINE
}

/// In characters: about half a line of a terminal.
const LONGEST_LINE: usize = 40;

/// A document, or a field of it.
struct Field<'a> {
    document: &'a str,
    path: &'a str,
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path {
            "" => f.write_str(self.document),
            path => write!(f, "{} {path}", self.document),
        }
    }
}
