//! `ichor version`: which program this is and what it is built for.

use std::fmt;

use serde::Serialize;

use crate::args::Output;
use crate::printer::Printer;
use crate::{Error, ExitStatus};

pub(super) fn run(output: Output, printer: &mut Printer) -> Result<ExitStatus, Error> {
    printer.value(&Version::of_this_program(), output)
}

#[derive(Serialize)]
struct Version {
    version: &'static str,
    revision: &'static str,
    talos: Supported,
}

/// The Talos releases that this program is built for.
#[derive(Serialize)]
struct Supported {
    /// Machines that it talks to.
    machines: Range,
    /// Version contracts that it writes configuration for.
    contracts: Range,
}

#[derive(Serialize)]
struct Range {
    first: &'static str,
    last: &'static str,
}

impl Version {
    fn of_this_program() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            revision: env!("ICHOR_REVISION"),
            talos: Supported {
                machines: Range { first: "1.5", last: "1.14" },
                contracts: Range { first: "1.0", last: "1.15" },
            },
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, revision, talos } = self;
        writeln!(f, "ichor {version} ({revision})")?;
        write!(f, "Talos {} (configuration for {})", talos.machines, talos.contracts)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.first, self.last)
    }
}
