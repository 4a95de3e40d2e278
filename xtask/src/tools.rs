//! Programs that checks and tests need besides Rust, installed where they are missing.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::say;
use crate::workspace::succeed;

/// A cargo subcommand in the version that we use.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

pub(crate) const NEXTEST: Tool = Tool { name: "cargo-nextest", version: "0.9.151" };
pub(crate) const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
pub(crate) const FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.2" };

/// Makes sure that a cargo subcommand is there, whatever its version: a person's newer one will do.
pub(crate) fn install(tool: &Tool) -> Result<()> {
    let there = quiet(Command::new(tool.name).arg("--version"));
    if there {
        return Ok(());
    }
    let package = format!("{}@{}", tool.name, tool.version);
    say::progress(&format!("installing {package} with cargo"));
    succeed(Command::new("cargo").args(["install", "--quiet", "--locked", &package]))
        .with_context(|| format!("{} is needed and could not be installed", tool.name))
}

/// Makes sure that Debian packages are there. The error says what a person has to install.
pub(crate) fn install_packages(packages: &BTreeSet<&str>) -> Result<()> {
    let missing: Vec<&str> =
        packages.iter().copied().filter(|package| !installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if !nix::unistd::geteuid().is_root() {
        bail!("missing Debian packages; as root: apt-get install {names}");
    }
    say::progress(&format!("installing Debian packages: {names}"));
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        succeed(&mut command)
    };
    apt(&["update"])?;
    apt(&[&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat())
        .with_context(|| format!("could not install {names}"))
}

fn installed(package: &str) -> bool {
    let output =
        Command::new("dpkg-query").args(["-W", "-f", "${db:Status-Status}", package]).output();
    output.is_ok_and(|output| output.stdout == b"installed")
}

fn quiet(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
