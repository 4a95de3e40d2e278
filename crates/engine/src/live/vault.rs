//! Secrets in a cluster's directory: `secrets.sops.yaml`, or `secrets.yaml` for those who keep them safe otherwise.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use domain::ErrorKind;
use talos_config::{Bundle, FileLocation, Location, Secret, SourceId};

use crate::error::{self, PortError};
use crate::ports::Vault;
use crate::{atomic_file, bounded_file};

/// A decryptor of encrypted files.
pub trait Seal: Send + Sync {
    /// Returns the plain text of a file.
    fn open(&self, text: String, path: &Path) -> Result<Secret<String>, PortError>;
}

/// The vault of a directory.
pub struct FileVault {
    directory: PathBuf,
    /// The file of the secrets, where it has another name.
    secrets: Option<PathBuf>,
    seal: Box<dyn Seal>,
}

impl FileVault {
    /// Returns the vault in a directory.
    pub fn new(directory: &Path, seal: Box<dyn Seal>) -> Self {
        Self { directory: directory.to_owned(), secrets: None, seal }
    }

    /// Returns the same with the secrets in another file.
    #[must_use]
    pub fn with_secrets(self, file: &Path) -> Self {
        Self { secrets: Some(file.to_owned()), ..self }
    }

    /// Returns the file that holds the secrets, if there is one.
    pub fn file(&self) -> Option<PathBuf> {
        if self.secrets.is_some() {
            return self.secrets.clone();
        }
        NAMES.iter().map(|name| self.directory.join(name)).find(|path| path.exists())
    }
}

#[async_trait]
impl Vault for FileVault {
    async fn read(&self) -> Result<Option<Bundle>, PortError> {
        let Some(path) = self.file() else { return Ok(None) };
        let text =
            bounded_file::read_to_string(&path).map_err(|error| unreadable(&error.to_string()))?;
        let text = self.seal.open(text, &path)?;
        let bundle = Bundle::parse(text.expose(), SourceId::default()).map_err(|error| {
            let Location { line, column, .. } = error.origin().unwrap_or_default();
            let location = FileLocation { file: path.display().to_string(), line, column };
            unreadable(&format!("{location}: {error}"))
        })?;
        let problems = bundle.problems();
        if !problems.is_empty() {
            let lines: Vec<String> =
                problems.iter().map(|problem| format!("{}: {problem}", path.display())).collect();
            return Err(unreadable(&lines.join("\n  ")));
        }
        Ok(Some(bundle))
    }

    async fn has_kubeconfig(&self) -> bool {
        self.directory.join(KUBECONFIG).exists()
    }

    async fn keep_kubeconfig(&self, kubeconfig: &Secret<String>) -> Result<(), PortError> {
        let path = self.directory.join(KUBECONFIG);
        atomic_file::write(&path, kubeconfig.expose())
            .map_err(|error| unreadable(&format!("cannot write {}: {error}", path.display())))
    }
}

fn unreadable(message: &str) -> PortError {
    PortError::new(error::VAULT_UNREADABLE, ErrorKind::NeedsPerson, message)
}

const NAMES: [&str; 2] = ["secrets.sops.yaml", "secrets.yaml"];
const KUBECONFIG: &str = "kubeconfig";
