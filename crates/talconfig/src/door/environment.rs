//! Variables, and the files that set them.

use std::collections::{BTreeMap, BTreeSet};

use talos_config::Confidential;

use crate::door::dotenv;
use crate::door::sops_files;
use crate::error::{Error, ErrorDetail};
use crate::host::Host;

/// The variables that texts may refer to. They may hold secrets, so there is no `Debug`.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// Values from encrypted files.
    encrypted: Confidential,
    /// The variables that have them.
    encrypted_names: BTreeSet<String>,
}

impl Environment {
    /// Returns the value of a variable that is set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Returns the values from encrypted files.
    pub(crate) fn encrypted(&self) -> &Confidential {
        &self.encrypted
    }

    /// Returns true if a template names a variable from an encrypted file: its output must then be
    /// treated as secret.
    pub(crate) fn is_encrypted_in(&self, template: &str) -> bool {
        template.contains("{{") && self.encrypted_names.iter().any(|name| template.contains(name))
    }

    /// Adds the variables of env files, in their order; missing files are skipped.
    pub(crate) fn load(&mut self, files: &[String], host: &dyn Host) -> Result<(), Error> {
        for file in files {
            match host.stat(file) {
                Ok(()) => {}
                Err(error) if error.is_missing() => continue,
                Err(error) => {
                    return Err(Error::EnvFile(format!("trying to stat {file}: {error}").into()));
                }
            }
            host.debug(&|| format!("loading environment variables from {file}"));
            let wrong = |detail: ErrorDetail| {
                Error::EnvFile(detail.within(&format!("trying to decrypt {file} with sops: ")))
            };
            let bytes = host.read(file).map_err(|error| wrong(error.to_string().into()))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let opened = sops_files::decrypt_yaml(text.clone(), file, self, host)
                .map_err(|unopened| wrong(unopened.detail))?;
            let encrypted_names = match &opened.encrypted {
                Some(values) => {
                    self.encrypted.extend(values);
                    sops_files::encrypted_keys(&text)
                }
                None => BTreeSet::new(),
            };
            let lines = dotenv::without_separators(&opened.text);
            let variables = dotenv::parse(&lines).map_err(|error| {
                Error::EnvFile(ErrorDetail::new(format!("{file}: {error}")).hint(NO_DOTENV))
            })?;
            for (name, dotenv::Variable { value, .. }) in variables {
                // Encrypted values and keys must not appear in a log.
                let is_secret = opened.encrypted.is_some() || name.starts_with("SOPS_");
                let shown = if is_secret { talos_config::REDACTED } else { &value };
                host.debug(&|| format!("loaded environment variable: {name}={shown}"));
                if FROM_PROCESS_ONLY.contains(&name.as_str()) {
                    host.warn(&format!(
                        "{file}: {name} is ignored: no file says where keys come from; set it in the environment"
                    ));
                }
                if encrypted_names.contains(&name) {
                    // It need not be written as it was encrypted: quotes and references are gone.
                    self.encrypted.add_value(&value);
                    // Lines of a text may be put together in another way.
                    for line in value.lines() {
                        self.encrypted.add_value(line);
                    }
                    self.encrypted_names.insert(name.clone());
                } else {
                    self.encrypted_names.remove(&name);
                }
                self.variables.insert(name, value);
            }
        }
        Ok(())
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self { variables: variables.into_iter().collect(), ..Self::default() }
    }
}

/// Variables that name a program to run or a file to read for keys. A file of the directory must
/// not set them: opening a directory would then obey its author.
const FROM_PROCESS_ONLY: [&str; 2] = ["SOPS_AGE_KEY_CMD", "SOPS_AGE_KEY_FILE"];

const NO_DOTENV: &str = "env files are lines of `NAME: value` or `NAME=value`: no lists, no blocks, no dashes and no quotes \
                         in names";
