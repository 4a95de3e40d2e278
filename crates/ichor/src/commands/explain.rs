//! `ichor explain`: where a value comes from and what it means.

use std::fmt;

use serde::Serialize;
use talos_config::yaml::Dialect;
use talos_config::{Patched, Source, explain};

use super::patch::{apply_all, read_patches};
use crate::args::Output;
use crate::printer::Printer;
use crate::settings::Input;
use crate::texts::Texts;
use crate::{Error, ExitStatus};

pub(super) fn run(
    path: &str,
    file: &Input,
    patches: &[Input],
    output: Output,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut texts = Texts::default();
    let (text, source) = texts.read(file)?;
    let patches = read_patches(patches, &mut texts)?;
    // Applied once for its errors, which then name the patch that does not fit.
    apply_all(Patched::new(text.clone(), source), source, &patches, Dialect::default(), &texts)?;
    let (patches, sources): (Vec<_>, Vec<_>) = patches.into_iter().unzip();
    let explanation =
        explain(&text, source, &patches, path).map_err(|error| texts.locate(&error, source))?;
    // The layers as they are counted in a history: the configuration, then the patches.
    let layers: Vec<Source> = std::iter::once(source).chain(sources).collect();
    let history = explanation
        .history
        .into_iter()
        .map(|change| Change {
            place: texts
                .place(change.origin)
                .unwrap_or_else(|| texts.name(layers[change.layer]).to_owned()),
            value: change.value,
        })
        .collect();
    let report = Report {
        document: explanation.document,
        path: explanation.path,
        value: explanation.value,
        history,
        about: Some(explanation.about).filter(|about| !about.is_empty()),
        since: explanation.since.map(|release| format!("{}.{}", release.0, release.1)),
    };
    printer.value(&report, output)
}

#[derive(Serialize)]
struct Report {
    document: String,
    path: String,
    value: Option<String>,
    history: Vec<Change>,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
}

#[derive(Serialize)]
struct Change {
    place: String,
    value: Option<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, path, value, history, about, since } = self;
        match value {
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
                Some(value) => write!(f, "\n  {}  {value}", change.place)?,
                None => write!(f, "\n  {}  taken away", change.place)?,
            }
        }
        Ok(())
    }
}

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
