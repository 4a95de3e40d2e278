//! Texts that commands read, and the names by which errors speak of them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use talos_config::yaml::Limits;
use talos_config::{Confidential, Diagnostic, FileLocation, Location, SourceId};

use crate::Error;
use crate::diagnostics::{self, Diagnostics};
use crate::settings::Input;
use crate::sops_files::{self, SopsKeys};

/// Everything that was read so far, by the number that places in it carry.
#[derive(Default)]
pub(crate) struct SourceMap {
    names: Vec<String>,
    inline: usize,
    /// Keys for encrypted files; without them files are read as they are.
    keys: Option<SopsKeys>,
    /// The values of texts that were encrypted.
    encrypted: BTreeMap<SourceId, Confidential>,
}

impl SourceMap {
    /// Reads encrypted files as what is in them.
    pub(crate) fn with_keys(keys: &SopsKeys) -> Self {
        Self { keys: Some(keys.clone()), ..Self::default() }
    }

    /// Reads a text. One that is too long to be configuration is refused before it is read.
    pub(crate) fn read(&mut self, input: &Input) -> Result<(String, SourceId), Error> {
        let (name, bytes) = match input {
            // It may have been meant as text, and text may be a secret.
            Input::FileOrText(path)
                if path.to_string_lossy().contains([':', '{']) && !path.exists() =>
            {
                return Err(Error::Usage {
                    message: "a patch is neither a file nor text".to_owned(),
                    hint: "text has a space, a line break or a bracket in front".to_owned(),
                });
            }
            Input::File(path) | Input::FileOrText(path) => {
                let read = fs_err::File::open(path).and_then(bounded);
                (path.display().to_string(), read.map_err(Error::Input)?)
            }
            Input::Stdin => ("stdin".to_owned(), bounded(std::io::stdin()).map_err(Error::Input)?),
            Input::Inline(text) => {
                self.inline += 1;
                (format!("<patch {}>", self.inline), text.clone().into_bytes())
            }
        };
        let source = self.add(&name);
        match String::from_utf8(bytes) {
            Ok(text) => match &self.keys {
                Some(keys) => {
                    let path = Path::new(&self.names[self.names.len() - 1]);
                    let (text, values) = sops_files::decrypt_with_values(text, path, keys)?;
                    self.encrypted.extend(values.map(|values| (source, values)));
                    Ok((text, source))
                }
                None => Ok((text, source)),
            },
            Err(error) => {
                let valid =
                    String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()])
                        .into_owned();
                let line = 1 + valid.matches('\n').count();
                Err(Error::NotText {
                    place: format!("{}:{line}", self.names[self.names.len() - 1]),
                })
            }
        }
    }

    /// The values of a text that was encrypted.
    pub(crate) fn encrypted(&self, text: SourceId) -> Option<&Confidential> {
        self.encrypted.get(&text)
    }

    /// Redacts the values of encrypted files in a text.
    pub(crate) fn redact(&self, text: &str) -> String {
        let redact = |text: String, values: &Confidential| values.redact(&text).into_owned();
        self.encrypted.values().fold(text.to_owned(), redact)
    }

    /// Adds a text that was read elsewhere, under the name that errors give it.
    pub(crate) fn add(&mut self, name: &str) -> SourceId {
        self.names.push(name.to_owned());
        SourceId(u32::try_from(self.names.len()).unwrap_or(u32::MAX))
    }

    /// Reads a text as something; an error names the place in it.
    pub(crate) fn parse<T>(
        &mut self,
        input: &Input,
        parse: impl FnOnce(&str, SourceId) -> Result<T, talos_config::Error>,
    ) -> Result<(T, SourceId), Error> {
        let (text, source) = self.read(input)?;
        let parsed = parse(&text, source).map_err(|error| self.locate(&error, source))?;
        Ok((parsed, source))
    }

    /// Adds file names to an error; one without a location is about `text`.
    pub(crate) fn locate(&self, error: &talos_config::Error, text: SourceId) -> Error {
        Diagnostics::new(self.diagnostics(error, text)).into()
    }

    /// Returns everything that an error says.
    pub(crate) fn diagnostics(
        &self,
        error: &talos_config::Error,
        text: SourceId,
    ) -> Vec<Diagnostic> {
        let whole =
            || Some(self.name(text)).filter(|name| !name.is_empty()).map(FileLocation::file);
        match error {
            talos_config::Error::Document(problems) => {
                let problems = problems.iter().cloned();
                problems.map(|problem| problem.in_file(|origin| self.place(origin))).collect()
            }
            other => {
                let location = match other.origin() {
                    Some(origin) => self.place(origin),
                    None => whole(),
                };
                vec![diagnostics::coded(other, other.to_string()).at(location)]
            }
        }
    }

    /// Names the file of a location; `None` where no text gave the value.
    pub(crate) fn place(&self, origin: Location) -> Option<FileLocation> {
        let file = Some(self.name(origin.source)).filter(|name| !name.is_empty())?.to_owned();
        Some(FileLocation { file, line: origin.line, column: origin.column })
    }

    /// Returns the name of a text.
    pub(crate) fn name(&self, text: SourceId) -> &str {
        let index = usize::try_from(text.0).unwrap_or(usize::MAX).wrapping_sub(1);
        self.names.get(index).map_or("", String::as_str)
    }
}

/// Reads at most what may be configuration, and one byte more, so that the parser sees the excess.
fn bounded(reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(Limits::default().bytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
