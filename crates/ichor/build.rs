//! Stamps the revision into the program, where there is one to stamp.

use std::path::Path;
use std::process::Command;

fn main() {
    // A packager without the repository says it; a checkout is asked.
    let revision = option_env!("ICHOR_REVISION")
        .map(str::to_owned)
        .or_else(revision_of_checkout)
        .unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=ICHOR_REVISION={revision}");
    println!("cargo::rerun-if-env-changed=ICHOR_REVISION");
}

fn revision_of_checkout() -> Option<String> {
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    // Written by every commit and checkout. A path that is not there would rerun us on every build.
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    } else {
        println!("cargo::rerun-if-changed=build.rs");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
