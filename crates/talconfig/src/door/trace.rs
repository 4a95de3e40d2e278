//! What a configuration was after each layer, and where what is wrong with one was written.

use plan::{LayerSnapshot, LayerSource};
use talos_config::{Confidential, Config, Location, SourceId};

use crate::error::{Error, ErrorDetail};

/// What a configuration was after each layer. Most want only the end, so that the rest is kept only for who asks.
#[derive(Default)]
pub(crate) struct LayerTrace {
    pub(crate) list: Vec<LayerSnapshot>,
    /// The texts of patches, by the number that places in them carry, less one.
    pub(crate) texts: Vec<LayerSource>,
    /// The values of encrypted patches and manifests, and the fields that they set.
    pub(crate) confidential: Confidential,
    /// Whether somebody asks.
    pub(crate) enabled: bool,
}

impl LayerTrace {
    /// For somebody who asks.
    pub(crate) fn enabled() -> Self {
        Self { enabled: true, ..Self::default() }
    }

    /// Notes what came out of a layer.
    pub(crate) fn push(
        &mut self,
        layer: impl FnOnce() -> String,
        config: impl FnOnce() -> Option<Config>,
    ) {
        // In between a configuration may be none yet; what it becomes is seen at the next layer.
        if self.enabled
            && let Some(config) = config()
        {
            self.list.push(LayerSnapshot { layer: layer(), config });
        }
    }

    /// Takes in the text of a patch and gives its number.
    pub(crate) fn text(&mut self, text: LayerSource) -> SourceId {
        self.texts.push(text);
        SourceId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX))
    }

    /// An error about a patch, with the name of the file or the key that it is in.
    pub(crate) fn patch_error(&self, error: &talos_config::Error) -> Error {
        match self.locate(error) {
            Error::Machine(detail) => Error::Patch(detail),
            other => other,
        }
    }

    /// An error with its place, where that is in a text that has a name.
    pub(crate) fn locate(&self, error: &talos_config::Error) -> Error {
        let message = match error {
            talos_config::Error::Document(problems) => {
                let lines = problems.iter().map(|problem| match self.location(problem.origin) {
                    Some(location) => format!("{location}: {}", problem.message),
                    None => problem.message.clone(),
                });
                lines.collect::<Vec<_>>().join("\n")
            }
            talos_config::Error::Syntax(syntax) => match self.location(syntax.origin) {
                Some(location) => format!("{location}: {syntax}"),
                None => format!("line {}: {syntax}", syntax.origin.line),
            },
            // Said with the line of what is there twice, not of the dashes before it.
            talos_config::Error::Conflict { message, origin } => {
                match message.rsplit_once("(line ") {
                    Some((said, _)) => format!("{said}(line {})", origin.line),
                    None => message.clone(),
                }
            }
            other => other.to_string(),
        };
        Error::Machine(ErrorDetail { message, hint: error.hint().map(str::to_owned) })
    }

    /// A place as it is told: for talhelper's users the key or the path with a line of what was made of it.
    fn location(&self, origin: Location) -> Option<String> {
        let index = usize::try_from(origin.source.0).unwrap_or(0).checked_sub(1)?;
        let text = self.texts.get(index)?;
        if self.enabled {
            return Some(text.location(origin.line));
        }
        let name = if text.key.is_empty() { &text.file } else { &text.key };
        Some(format!("{name}:{}:{}", origin.line, origin.column))
    }
}

/// An error about a text that nobody wrote.
pub(crate) fn plain(error: &talos_config::Error) -> Error {
    LayerTrace::default().locate(error)
}
