//! Programs that checks and tests need besides Rust, installed where they are missing.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use fs_err::File;
use testkit::peers::cache;

use crate::output;
use crate::workspace::succeed;

/// A cargo subcommand in the version that we use.
#[derive(Debug, PartialEq)]
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

pub(crate) const NEXTEST: Tool = Tool { name: "cargo-nextest", version: "0.9.151" };
pub(crate) const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
pub(crate) const FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.2" };

/// Makes sure that cargo subcommands are there, whatever their versions: a person's newer one will do.
pub(crate) fn install(tools: &[&Tool]) -> Result<()> {
    let there = |tool: &Tool| quiet(Command::new(tool.name).arg("--version"));
    let missing: Vec<String> = tools
        .iter()
        .filter(|tool| !there(tool))
        .map(|tool| format!("{}@{}", tool.name, tool.version))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    output::progress(&format!("installing {names} with cargo"));
    fs_err::create_dir_all(cache())?;
    // One directory for all of them, so that what they have in common is compiled once, and none of the workspace's.
    let target = tempfile::Builder::new().prefix("tools-").tempdir_in(cache())?;
    let mut cargo = Command::new("cargo");
    cargo
        .args(["install", "--quiet", "--locked", "--debug", "--target-dir"])
        .arg(target.path())
        .args(&missing)
        // They run for seconds; their release profiles would compile for many minutes on two cores.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
    succeed(&mut cargo).with_context(|| format!("{names} could not be installed"))
}

/// Makes sure that Debian packages are there. The error says what a person has to install.
pub(crate) fn install_packages(packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> =
        packages.iter().copied().filter(|package| !installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if !nix::unistd::geteuid().is_root() {
        bail!("missing Debian packages; as root: apt-get install {names}");
    }
    output::progress(&format!("installing Debian packages: {names}"));
    let here = Path::new(".");
    apt_get(here, &["update"])?;
    apt_get(here, &[&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat())
        .with_context(|| format!("could not install {names}"))
}

/// Fetches a Debian package and unpacks it into a folder; the system stays as it is.
pub(crate) fn unpack_package(package: &str, folder: &Path) -> Result<()> {
    let download = tempfile::tempdir()?;
    // The sandbox's user may not write to our folder, and apt would warn about that.
    let arguments = ["-o", "APT::Sandbox::User=root", "download", package];
    let fetch = || apt_get(download.path(), &arguments);
    // A fresh machine has no lists of packages, and old lists name files that are gone.
    fetch()
        .or_else(|_| apt_get(download.path(), &["update"]).and_then(|()| fetch()))
        .with_context(|| format!("cannot fetch the Debian package {package}"))?;
    for entry in fs_err::read_dir(download.path())? {
        succeed(Command::new("dpkg-deb").arg("-x").arg(entry?.path()).arg(folder))?;
    }
    Ok(())
}

/// Runs apt-get in a directory. One at a time: it fails at once when another one has its lists.
fn apt_get(directory: &Path, arguments: &[&str]) -> Result<()> {
    fs_err::create_dir_all(cache())?;
    let lock = File::create(cache().join("apt.lock"))?;
    lock.file().lock()?;
    let mut command = Command::new("apt-get");
    command
        .current_dir(directory)
        // Another program of the machine may be installing.
        .args(["-qq", "-o", "DPkg::Lock::Timeout=120"])
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null());
    succeed(&mut command)
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
