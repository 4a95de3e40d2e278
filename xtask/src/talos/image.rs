//! Container images from files of this machine, in a folder that [`super::registry`] serves: `blobs/DIGEST` with
//! layers, configurations and manifests, and `tags/NAME:TAG` with the digest of a manifest.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err::File;
use serde_json::json;
use sha2::{Digest, Sha256};

/// What one image holds.
pub(super) struct Image<'a> {
    /// Its name without a host, and its tag.
    pub(super) reference: &'a str,
    /// The program that it starts; none where whoever uses it names one.
    pub(super) entrypoint: Option<&'a str>,
    /// Folders that are empty.
    pub(super) folders: &'a [&'a str],
    /// Where a file is put, and which.
    pub(super) files: &'a [(&'a str, PathBuf)],
    /// Symbolic links and their targets.
    pub(super) links: &'a [(&'a str, &'a str)],
}

impl Image<'_> {
    pub(super) fn write(&self, registry: &Path) -> Result<()> {
        let blobs = registry.join("blobs");
        fs_err::create_dir_all(&blobs)?;
        // Not compressed: it is read on the machine on which it is written.
        let partial = blobs.join("partial");
        let layer = self.write_layer(Hashed::new(File::create(&partial)?))?;
        fs_err::rename(&partial, blobs.join(&layer.digest))?;

        let mut settings = json!({
            "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "WorkingDir": "/",
        });
        if let Some(entrypoint) = self.entrypoint {
            settings["Entrypoint"] = json!([entrypoint]);
        }
        let config = put(
            &blobs,
            &json!({
                "architecture": architecture(),
                "os": "linux",
                "config": settings,
                "rootfs": { "type": "layers", "diff_ids": [layer.name()] },
            }),
        )?;
        let manifest = put(
            &blobs,
            &json!({
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": config.describe("application/vnd.oci.image.config.v1+json"),
                "layers": [layer.describe("application/vnd.oci.image.layer.v1.tar")],
            }),
        )?;
        let tag = registry.join("tags").join(self.reference);
        fs_err::create_dir_all(tag.with_file_name(""))?;
        fs_err::write(tag, manifest.digest)?;
        Ok(())
    }

    fn write_layer(&self, output: Hashed<File>) -> Result<Blob> {
        let mut archive = tar::Builder::new(output);
        let parents = self
            .files
            .iter()
            .map(|(path, _)| *path)
            .chain(self.links.iter().map(|(path, _)| *path));
        let folders: BTreeSet<&Path> = parents
            .flat_map(|path| Path::new(path).ancestors().skip(1))
            .chain(self.folders.iter().flat_map(|path| Path::new(path).ancestors()))
            .filter(|path| !path.as_os_str().is_empty())
            .collect();
        // Sorted, so that a folder comes before what is in it.
        for folder in folders {
            archive.append_data(&mut header(tar::EntryType::Directory, 0), folder, io::empty())?;
        }
        for (path, source) in self.files {
            let file = File::open(source)?;
            let size = file.metadata()?.len();
            archive.append_data(&mut header(tar::EntryType::Regular, size), path, file)?;
        }
        for (path, target) in self.links {
            archive.append_link(&mut header(tar::EntryType::Symlink, 0), path, target)?;
        }
        Ok(archive.into_inner()?.finish())
    }
}

/// The media type of a manifest, which the registry names too.
pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

struct Blob {
    digest: String,
    size: u64,
}

impl Blob {
    fn name(&self) -> String {
        format!("sha256:{}", self.digest)
    }

    fn describe(&self, media_type: &str) -> serde_json::Value {
        json!({ "mediaType": media_type, "digest": self.name(), "size": self.size })
    }
}

fn put(blobs: &Path, value: &serde_json::Value) -> Result<Blob> {
    let mut bytes = Hashed::new(Vec::new());
    serde_json::to_writer(&mut bytes, value)?;
    let content = bytes.output.clone();
    let blob = bytes.finish();
    fs_err::write(blobs.join(&blob.digest), content)?;
    Ok(blob)
}

/// What is written is also counted and hashed.
struct Hashed<W> {
    output: W,
    hash: Sha256,
    size: u64,
}

impl<W> Hashed<W> {
    fn new(output: W) -> Self {
        Self { output, hash: Sha256::new(), size: 0 }
    }

    fn finish(self) -> Blob {
        Blob { digest: hex(&self.hash.finalize()), size: self.size }
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn header(kind: tar::EntryType, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(0o755);
    header.set_size(size);
    header.set_mtime(0);
    header
}

/// What Go calls this machine's architecture.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
