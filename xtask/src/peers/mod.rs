//! `cargo xtask peers`: builds the real programs that tests run against.

mod background;
mod build;

use std::path::Path;

use anyhow::Result;
use testkit::peers::{self, Error, Pin, Program};

use crate::output;

pub(crate) use background::{Builds, command};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Programs to build; all of them when none is named
    names: Vec<String>,

    /// Only show which there are and where, building nothing
    #[arg(long)]
    list: bool,

    /// End with standard input, and end every process of the group
    #[arg(long, hide = true)]
    tied: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if args.tied {
        background::end_with_stdin();
    }
    let wanted: Vec<_> = if args.names.is_empty() {
        peers::all().collect()
    } else {
        args.names.iter().map(|name| peers::find(name)).collect::<Result<_, _>>()?
    };
    let mut missing = Vec::new();
    for (pin, program) in wanted {
        match pin.locate(program) {
            Ok(path) => output::data(&describe(program, "there", &path)?),
            Err(error) if args.list => output::data(&format!("{:<24} {error}", program.name)),
            Err(_) => missing.push((pin, program)),
        }
    }
    for batch in batches(missing) {
        batch.build()?.iter().for_each(|line| output::data(line));
    }
    Ok(())
}

/// Builds those of the named programs that are missing.
pub(crate) fn ensure(names: &[&str]) -> Result<()> {
    for batch in batches(missing(names)?) {
        batch.build()?.iter().for_each(|line| output::progress(line));
    }
    Ok(())
}

/// Those of the named programs that are to be built. An error says why one can be neither found nor built.
pub(crate) fn missing(names: &[&str]) -> Result<Vec<Peer>> {
    let mut missing = Vec::new();
    for name in names {
        let (pin, program) = peers::find(name)?;
        match pin.locate(program) {
            Ok(_) => {}
            Err(Error::NotBuilt(_)) => missing.push((pin, program)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(missing)
}

/// A program with the pin that it is built from.
pub(crate) type Peer = (&'static Pin, &'static Program);

/// Programs of one pin, built by one run of Go: it loads the packages once, and links one program while it
/// compiles for another.
pub(crate) struct Batch {
    pin: &'static Pin,
    programs: Vec<&'static Program>,
}

impl Batch {
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.programs.iter().map(|program| program.name).collect()
    }
}

/// Puts programs of one pin together, at the place of the first of them.
pub(crate) fn batches(peers: impl IntoIterator<Item = Peer>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for (pin, program) in peers {
        match batches.iter_mut().find(|batch| batch.pin.folder == pin.folder) {
            Some(batch) => batch.programs.push(program),
            None => batches.push(Batch { pin, programs: vec![program] }),
        }
    }
    batches
}

fn describe(program: &Program, state: &str, path: &Path) -> Result<String> {
    let megabytes = fs_err::metadata(path)?.len() / 1_000_000;
    Ok(format!("{:<24} {state:<14} {megabytes:>4} MB  {}", program.name, path.display()))
}
