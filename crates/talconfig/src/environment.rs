//! Variables, and the files that set them.

use std::collections::BTreeMap;

use crate::dotenv;
use crate::error::{Error, Trouble};
use crate::sealed;
use crate::world::World;

/// The variables that texts may refer to. They may hold secrets, so there is no `Debug`.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The value of a variable that is set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Adds what env files set, in their order; files that are not there are passed over.
    pub(crate) fn load(&mut self, files: &[String], world: &dyn World) -> Result<(), Error> {
        for file in files {
            match world.stat(file) {
                Ok(()) => {}
                Err(error) if error.is_missing() => continue,
                Err(error) => {
                    return Err(Error::EnvFile(format!("trying to stat {file}: {error}").into()));
                }
            }
            world.debug(&|| format!("loading environment variables from {file}"));
            let wrong = |trouble: Trouble| {
                Error::EnvFile(trouble.within(&format!("trying to decrypt {file} with sops: ")))
            };
            let bytes = world.read(file).map_err(|error| wrong(error.to_string().into()))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let opened = sealed::open_yaml(text, file, self, world).map_err(wrong)?;
            let lines = dotenv::without_separators(&opened.text);
            let variables = dotenv::parse(&lines).map_err(|error| {
                Error::EnvFile(Trouble::new(format!("{file}: {error}")).hint(NO_DOTENV))
            })?;
            for (name, value) in variables {
                // What was encrypted, and keys, must not appear in a log.
                let is_secret = opened.was_sealed || name.starts_with("SOPS_");
                let shown = if is_secret { talos_config::REDACTED } else { &value };
                world.debug(&|| format!("loaded environment variable: {name}={shown}"));
                self.0.insert(name, value);
            }
        }
        Ok(())
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

const NO_DOTENV: &str = "env files are lines of `NAME: value` or `NAME=value`: no lists, no blocks, no dashes and no quotes \
                         in names";
