//! One run of Go for the programs of one pin.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use fs_err::File;
use testkit::peers::{self, Error, Library, Patch, Pin};

use super::{Batch, describe};
use crate::{output, tools};

impl Batch {
    /// Builds the programs and gives one line about each.
    pub(super) fn build(&self) -> Result<Vec<String>> {
        let Self { pin, programs } = self;
        let cache = peers::cache().join("peers");
        fs_err::create_dir_all(&cache)?;
        let lock = File::create(cache.join(format!("{}.lock", pin.folder)))?;
        // Another checkout may build the same at this moment; what it has built is not built again.
        lock.file().lock()?;
        let mut lines = Vec::new();
        let mut missing = Vec::new();
        for program in programs {
            match pin.locate(program) {
                Ok(path) => lines.push(describe(program, "there", &path)?),
                // A directory that was promised to hold everything is never filled behind its owner's back.
                Err(error @ Error::NotProvided(..)) => bail!(error),
                Err(_) => missing.push(*program),
            }
        }
        if missing.is_empty() {
            return Ok(lines);
        }
        let names: Vec<_> = missing.iter().map(|program| program.name).collect();
        output::progress(&format!("building {} (minutes, once)", names.join(", ")));
        let begun = Instant::now();
        let scratch = scratch(&cache, pin)?;
        let output = scratch.path().join("programs");
        fs_err::create_dir(&output)?;
        let mut go = prepare(pin, scratch.path())?;
        go.args(["build", "-trimpath", "-buildvcs=false", "-ldflags", &pin.linker_flags()])
            .arg(format!("-tags={}", pin.tags.join(",")))
            // The linker leaves debugging information out anyway; not making it takes an eighth less time. The key does not
            // cover this: the program does the same.
            .arg("-gcflags=all=-dwarf=false")
            .arg("-o")
            .arg(&output)
            .args(missing.iter().map(|program| program.package));
        peers::run(&mut go, pin.folder)?;

        let seconds = begun.elapsed().as_secs();
        let state = match missing.len() {
            1 => format!("built in {seconds} s"),
            count => format!("{count} built in {seconds} s"),
        };
        for program in missing {
            let built = output.join(program.executable());
            program.check_release(&built)?;
            let target = pin.cached(program)?;
            fs_err::create_dir_all(target.parent().context("a program's directory")?)?;
            // Moved there whole, so that what is found is never half a program.
            fs_err::rename(&built, &target)?;
            lines.push(describe(program, &state, &target)?);
        }
        Ok(lines)
    }
}

/// Makes the folder in which a pin is built. Only the holder of the pin's lock may call it, and so removes what a build
/// left that was killed.
fn scratch(cache: &Path, pin: &Pin) -> Result<tempfile::TempDir> {
    let name = format!("build-{}", pin.folder);
    if cache.join(&name).exists() {
        fs_err::remove_dir_all(cache.join(&name))?;
    }
    Ok(tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(cache)?)
}

/// Go for a pin, with what the pin needs besides its own folder.
fn prepare(pin: &'static Pin, scratch: &Path) -> Result<Command> {
    let mut go = pin.go();
    if let Some(patch) = &pin.patch {
        let folder = patched(pin, patch, scratch)?;
        // The changed module has no checksum, and Go has to note down that it is replaced.
        go.current_dir(folder).env("GOFLAGS", "-mod=mod").env("GONOSUMDB", "*");
    }
    if let Some(library) = &pin.library {
        link(&mut go, library, scratch)?;
    }
    Ok(go)
}

/// Copies the pin and the module that it patches, and gives the folder to build in.
fn patched(pin: &'static Pin, patch: &Patch, scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join("pin");
    let sources = folder.join("src");
    copy_tree(&pin.path(), &folder)?;
    copy_tree(&pin.module(patch.module)?, &sources)?;
    for file in patch.remove {
        fs_err::remove_file(sources.join(file))?;
    }
    for (from, to) in patch.add {
        fs_err::copy(folder.join(from), sources.join(to))?;
    }
    for (file, from, to) in patch.edit {
        let text = fs_err::read_to_string(sources.join(file))?;
        if text.matches(from).count() != 1 {
            bail!("{file} of {} has {from:?} not exactly once", patch.module);
        }
        fs_err::write(sources.join(file), text.replacen(from, to, 1))?;
    }
    let replace = format!("-replace={}=./src", patch.module);
    peers::run(pin.go().current_dir(&folder).args(["mod", "edit", &replace]), pin.folder)?;
    Ok(folder)
}

/// Lets Go find a library in a Debian package that is unpacked in the scratch folder, and not installed.
fn link(go: &mut Command, library: &Library, scratch: &Path) -> Result<()> {
    let unpacked = scratch.join("library");
    tools::unpack_package(library.package, &unpacked)?;
    let archive = format!("lib{}.a", library.name);
    let mut directories = Vec::new();
    for entry in fs_err::read_dir(unpacked.join("usr/lib"))? {
        directories.push(entry?.path());
    }
    let directory = directories
        .iter()
        .find(|directory| directory.join(&archive).exists())
        .with_context(|| format!("no {archive} in {}", library.package))?;
    go.env("CGO_CFLAGS", format!("-I{}", unpacked.join("usr/include").display()))
        .env("CGO_LDFLAGS", format!("-L{} -l{}", directory.display(), library.name))
        // Go would ask this program where the library is, and it knows installed ones only.
        .env("PKG_CONFIG", "true");
    Ok(())
}

/// Contents only: the module cache is read-only, and its modes must not come along.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs_err::write(target, fs_err::read(entry.path())?)?;
        }
    }
    Ok(())
}
