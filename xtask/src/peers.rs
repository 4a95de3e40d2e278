//! `cargo xtask peers`: builds the real programs that tests run against.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use testkit::peers::{self, Patch, Pin, Program};

use crate::say;

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
    go.args(["build", "-trimpath", "-buildvcs=false", "-ldflags", &pin.linker_flags(), "-o"])
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
    let replace = format!("-replace={}=./src", patch.module);
    peers::run(pin.go().current_dir(&folder).args(["mod", "edit", &replace]), pin.folder)?;
    Ok(folder)
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
