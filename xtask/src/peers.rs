//! `cargo xtask peers`: builds the real programs that tests run against.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use testkit::peers::{self, Library, Patch, Pin, Program};

use crate::say;
use crate::workspace::succeed;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Programs to build; all of them when none is named
    names: Vec<String>,

    /// Only show which there are and where, building nothing
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let wanted: Vec<_> = if args.names.is_empty() {
        peers::all().collect()
    } else {
        args.names.iter().map(|name| peers::find(name)).collect::<Result<_, _>>()?
    };
    for (pin, program) in wanted {
        let line = match pin.locate(program) {
            Ok(path) => describe(program, "there", &path)?,
            Err(error) if args.list => format!("{:<24} {error}", program.name),
            Err(_) => build(pin, program)?,
        };
        say::data(&line);
    }
    Ok(())
}

/// Builds those of the named programs that are missing.
pub(crate) fn ensure<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<()> {
    for name in names {
        let (pin, program) = peers::find(name)?;
        if pin.locate(program).is_err() {
            say::progress(&build(pin, program)?);
        }
    }
    Ok(())
}

fn build(pin: &'static Pin, program: &'static Program) -> Result<String> {
    // A directory that was promised to hold everything is never filled behind its owner's back.
    if let Err(error @ peers::Error::NotProvided(..)) = pin.locate(program) {
        bail!(error);
    }
    let target = pin.cached(program)?;
    say::progress(&format!("building {} (minutes, once)", program.name));
    let begun = Instant::now();
    let directory = target.parent().context("a program's directory")?;
    fs_err::create_dir_all(directory)?;
    // Built beside its place and moved there whole, so that what is found is never half a program.
    let scratch = tempfile::Builder::new().prefix("build-").tempdir_in(directory)?;
    let output = scratch.path().join(program.name);

    let mut go = pin.go();
    if let Some(patch) = &pin.patch {
        let folder = patched(pin, patch, scratch.path())?;
        // The changed module has no checksum, and Go has to note down that it is replaced.
        go.current_dir(folder).env("GOFLAGS", "-mod=mod").env("GONOSUMDB", "*");
    }
    if let Some(library) = &pin.library {
        link(&mut go, library, scratch.path())?;
    }
    go.args(["build", "-trimpath", "-buildvcs=false", "-ldflags", &pin.linker_flags()])
        .arg(format!("-tags={}", pin.tags.join(",")))
        .arg("-o")
        .arg(&output)
        .arg(program.package);
    peers::run(&mut go, pin.folder)?;
    fs_err::rename(&output, &target)?;

    let seconds = begun.elapsed().as_secs();
    describe(program, &format!("built in {seconds} s"), &target)
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
    unpack(library.package, &unpacked)?;
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

/// Fetches a Debian package and unpacks it into a folder; the system stays as it is.
pub(crate) fn unpack(package: &str, folder: &Path) -> Result<()> {
    let download = tempfile::tempdir()?;
    let mut fetch = Command::new("apt-get");
    // The sandbox's user may not write to our folder, and apt would warn about that.
    fetch.current_dir(download.path()).args([
        "-qq",
        "-o",
        "APT::Sandbox::User=root",
        "download",
        package,
    ]);
    succeed(&mut fetch).with_context(|| {
        format!("cannot fetch the Debian package {package}; `apt-get update` may help")
    })?;
    for entry in fs_err::read_dir(download.path())? {
        succeed(Command::new("dpkg-deb").arg("-x").arg(entry?.path()).arg(folder))?;
    }
    Ok(())
}

/// Copies contents only: the module cache is read-only, and its modes must not come along.
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

fn describe(program: &Program, state: &str, path: &Path) -> Result<String> {
    let megabytes = fs_err::metadata(path)?.len() / 1_000_000;
    Ok(format!("{:<24} {state:<14} {megabytes:>4} MB  {}", program.name, path.display()))
}
