//! Secrets in a cluster's directory: `secrets.sops.yaml`, or `secrets.yaml` for those who keep them safe otherwise.

use std::io::Write;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use plan::Kind;
use talos_config::yaml::Dialect;
use talos_config::{Bundle, Secret, Source};

use crate::error::Trouble;
use crate::ports::Vault;

/// What opens encrypted files and closes them again.
pub trait Seal: Send + Sync {
    /// The plain text of a file.
    fn open(&self, text: String, path: &Path) -> Result<Secret<String>, Trouble>;

    /// What is written to a file.
    fn close(&self, text: &Secret<String>, path: &Path) -> Result<String, Trouble>;
}

/// The vault of a directory.
pub struct FileVault<'a> {
    directory: PathBuf,
    seal: &'a dyn Seal,
}

impl<'a> FileVault<'a> {
    /// The vault in a directory.
    pub fn new(directory: &Path, seal: &'a dyn Seal) -> Self {
        Self { directory: directory.to_owned(), seal }
    }

    /// Where the secrets are.
    pub fn file(&self) -> Option<PathBuf> {
        NAMES.iter().map(|name| self.directory.join(name)).find(|path| path.exists())
    }

    /// Writes a file that only its owner may read: all of it, or nothing.
    fn write(&self, path: &Path, text: &str, new: bool) -> std::io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".ichor-").tempfile_in(&self.directory)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        if new {
            file.persist_noclobber(path)?;
        } else {
            file.persist(path)?;
        }
        Ok(())
    }
}

#[async_trait]
impl Vault for FileVault<'_> {
    async fn read(&self) -> Result<Option<Bundle>, Trouble> {
        let Some(path) = self.file() else { return Ok(None) };
        let text = fs_err::read_to_string(&path).map_err(|error| unreadable(&error.to_string()))?;
        let text = self.seal.open(text, &path)?;
        let bundle = Bundle::parse(text.expose(), Source::default())
            .map_err(|error| unreadable(&format!("{}: {error}", path.display())))?;
        Ok(Some(bundle))
    }

    async fn create(&self, secrets: &Bundle) -> Result<(), Trouble> {
        let path = self.directory.join(NAMES[1]);
        let text = self.seal.close(&secrets.encode(Dialect::default()), &path)?;
        self.write(&path, &text, true).map_err(|error| Trouble {
            code: "vault.changed",
            kind: Kind::Retryable,
            message: format!("cannot make {}: {error}", path.display()),
        })
    }

    async fn has_kubeconfig(&self) -> bool {
        self.directory.join(KUBECONFIG).exists()
    }

    async fn keep_kubeconfig(&self, kubeconfig: &Secret<String>) -> Result<(), Trouble> {
        let path = self.directory.join(KUBECONFIG);
        self.write(&path, kubeconfig.expose(), false)
            .map_err(|error| unreadable(&format!("cannot write {}: {error}", path.display())))
    }
}

fn unreadable(message: &str) -> Trouble {
    Trouble { code: "vault.unreadable", kind: Kind::NeedsPerson, message: message.to_owned() }
}

const NAMES: [&str; 2] = ["secrets.sops.yaml", "secrets.yaml"];
const KUBECONFIG: &str = "kubeconfig";
