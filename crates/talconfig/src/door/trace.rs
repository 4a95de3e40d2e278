//! The configuration after each layer, and the locations of errors in it.

use std::borrow::Cow;

use plan::{LayerSnapshot, LayerSource};
use talos_config::{Coded, Confidential, Config, Location, SourceId};

use crate::door::source_text;
use crate::error::{Error, ErrorDetail};

/// The configuration after each layer; recorded only for `ichor explain` and for errors.
#[derive(Default)]
pub(crate) struct LayerTrace {
    pub(crate) list: Vec<LayerSnapshot>,
    /// The texts of patches, by the number that places in them carry, less one.
    pub(crate) texts: Vec<TracedText>,
    /// The values of encrypted patches and manifests, and the fields that they set.
    pub(crate) confidential: Confidential,
    pub(crate) enabled: bool,
    /// Errors name locations in the files.
    pub(crate) located: bool,
}

/// The text of a patch. Its lines are paired with those of its file only when a location is needed.
pub(crate) struct TracedText {
    pub(crate) file: String,
    /// The key of the talconfig, unless it is a file.
    pub(crate) key: String,
    pub(crate) lines: PatchLines,
}

pub(crate) enum PatchLines {
    Known(Vec<u32>),
    /// Those of a file, from which the text was made.
    Of {
        written: String,
        text: String,
    },
}

impl TracedText {
    pub(crate) fn layer_source(&self) -> LayerSource {
        let lines = match &self.lines {
            PatchLines::Known(lines) => lines.clone(),
            PatchLines::Of { written, text } => source_text::line_map(written, text),
        };
        LayerSource { file: self.file.clone(), key: self.key.clone(), lines }
    }
}

impl LayerTrace {
    /// Returns a trace that records.
    pub(crate) fn enabled() -> Self {
        Self { enabled: true, ..Self::default() }
    }

    /// Records the result of a layer.
    pub(crate) fn push(
        &mut self,
        layer: impl FnOnce() -> String,
        config: impl FnOnce() -> Option<Config>,
    ) {
        // An intermediate configuration may be invalid; the next layer then shows both changes.
        if self.enabled
            && let Some(config) = config()
        {
            self.list.push(LayerSnapshot { layer: layer(), config });
        }
    }

    /// Adds the text of a patch and returns its id.
    pub(crate) fn text(&mut self, text: TracedText) -> SourceId {
        self.texts.push(text);
        SourceId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX))
    }

    /// Converts an error about a patch, with the name of its file or key.
    pub(crate) fn patch_error(&self, error: &talos_config::Error) -> Error {
        match self.locate(error) {
            Error::Machine(detail) => Error::Patch(detail),
            other => other,
        }
    }

    /// Converts an error, with its location if its text has a name.
    pub(crate) fn locate(&self, error: &talos_config::Error) -> Error {
        let message = match error {
            talos_config::Error::Document(problems) => {
                let lines = problems.iter().map(|problem| {
                    match problem.location.and_then(|at| self.location(at)) {
                        Some(location) => format!("{location}: {}", problem.message),
                        None => problem.message.clone(),
                    }
                });
                lines.collect::<Vec<_>>().join("\n")
            }
            talos_config::Error::Syntax(syntax) => match self.location(syntax.origin) {
                Some(location) => format!("{location}: {syntax}"),
                None => format!("line {}: {syntax}", syntax.origin.line),
            },
            // The line is that of the duplicate, not of the dashes before it.
            talos_config::Error::Conflict { message, origin } => {
                match message.rsplit_once("(line ") {
                    Some((said, _)) => format!("{said}(line {})", origin.line),
                    None => message.clone(),
                }
            }
            other => other.to_string(),
        };
        Error::Machine(ErrorDetail { message, hint: error.hint().map(Cow::into_owned) })
    }

    /// Returns a location for people. Users of talhelper see the key or the path, with the line in
    /// the rewritten text.
    fn location(&self, origin: Location) -> Option<String> {
        let index = usize::try_from(origin.source.0).unwrap_or(0).checked_sub(1)?;
        let text = self.texts.get(index)?;
        if self.located {
            return Some(text.layer_source().location(origin.line));
        }
        let name = if text.key.is_empty() { &text.file } else { &text.key };
        Some(format!("{name}:{}:{}", origin.line, origin.column))
    }
}

/// Converts an error about generated text.
pub(crate) fn plain(error: &talos_config::Error) -> Error {
    LayerTrace::default().locate(error)
}
