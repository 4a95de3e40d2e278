//! `cargo xtask test`: every check, then every test level, then what ran and what did not.
//!
//! A level is a test target: tests in `tests/peers.rs` of any crate belong to the level `peers`. They
//! are marked `#[ignore]` with a reason, so that plain `cargo test` runs the pure level alone and says
//! what it left out.

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use testkit::peers;

use crate::checks::CHECKS;
use crate::workspace::{Workspace, succeed};
use crate::{say, talos, tools};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only these checks and levels
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,

    /// Leave these checks and levels out
    #[arg(long, value_name = "NAME", num_args = 1..)]
    except: Vec<String>,

    /// Show what there is to run
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let names =
        || CHECKS.iter().map(|c| (c.name, c.about)).chain(LEVELS.iter().map(|l| (l.name, l.about)));
    if args.list {
        names().for_each(|(name, about)| say::data(&format!("{name:<10} {about}")));
        return Ok(());
    }
    let mut named = args.only.iter().chain(&args.except);
    if let Some(name) = named.find(|named| names().all(|(name, _)| name != **named)) {
        bail!("nothing is called {name:?}; `cargo xtask test --list` shows what there is");
    }
    let among = |list: &[String], name: &str| list.iter().any(|listed| listed == name);
    let wanted = |name: &str| {
        (args.only.is_empty() || among(&args.only, name)) && !among(&args.except, name)
    };

    let mut report = Report::default();
    for check in CHECKS.iter().filter(|check| wanted(check.name)) {
        report.step(check.name, || (check.run)(workspace))?;
    }
    let levels: Vec<&Level> = LEVELS.iter().filter(|level| wanted(level.name)).collect();
    if !levels.is_empty() {
        tools::install(&tools::NEXTEST)?;
        report.step("levels", || no_test_without_level(workspace))?;
    }
    for level in levels {
        match level.prepare() {
            Ok(()) => report.step(level.name, || level.run(workspace))?,
            Err(reason) => report.skip(level.name, &reason),
        }
    }
    report.close()
}

/// A set of tests with the same needs.
struct Level {
    name: &'static str,
    about: &'static str,
    peers: Peers,
    packages: &'static [&'static str],
    /// Whether it needs real Talos nodes, with the programs that they are made of.
    nodes: bool,
}

/// Which of the real programs a level needs.
enum Peers {
    None,
    These(&'static [&'static str]),
    Compared,
}

const LEVELS: &[Level] = &[
    Level {
        name: "pure",
        about: "everything that needs nothing but Rust",
        peers: Peers::None,
        packages: &[],
        nodes: false,
    },
    Level {
        name: "parts",
        about: "with real programs of the operating system",
        peers: Peers::None,
        packages: &["bash", "fish", "python3-jinja2", "zsh"],
        nodes: false,
    },
    Level {
        name: "bytes",
        about: "what is written, beside what talosctl and talhelper write",
        peers: Peers::These(&[
            "talosctl-1.14.1",
            "talosctl-1.13.9",
            "talosctl-1.12.0",
            "talhelper",
            "sops",
        ]),
        packages: &[],
        nodes: false,
    },
    Level {
        name: "peers",
        about: "with the real programs that Ichor is compared with",
        peers: Peers::Compared,
        packages: &["openssl"],
        nodes: false,
    },
    Level {
        name: "talos",
        about: "with real Talos nodes",
        peers: Peers::These(&["talosctl-1.13.9", "kubectl", "etcdutl"]),
        packages: &["iproute2"],
        nodes: true,
    },
];

/// The level whose tests are not ignored; it has no target of its own.
const PURE: &str = "pure";

impl Level {
    /// Gets what the level needs; an error is the reason why it cannot run here.
    fn prepare(&self) -> Result<()> {
        if self.nodes {
            talos::prepare()?;
        }
        tools::install_packages(&self.packages.iter().copied().collect::<BTreeSet<_>>())?;
        match self.peers {
            Peers::None => Ok(()),
            Peers::These(names) => crate::peers::ensure(names.iter().copied()),
            Peers::Compared => {
                crate::peers::ensure(peers::compared().map(|(_, program)| program.name))
            }
        }
    }

    fn run(&self, workspace: &Workspace) -> Result<()> {
        if self.name == PURE {
            workspace.run_cargo(&["test", "--quiet", "--workspace", "--all-features", "--doc"])?;
            return workspace.run_cargo(&["nextest", "run", "--workspace", "--all-features"]);
        }
        let filter = format!("binary(={})", self.name);
        let mut nextest = workspace.cargo(&[
            "nextest",
            "run",
            "--workspace",
            "--all-features",
            "--run-ignored",
            "only",
            "-E",
            &filter,
        ]);
        let harness = self.nodes.then(talos::Harness::start).transpose()?;
        if let Some(harness) = &harness {
            nextest.env(testkit::talos::VARIABLE, &harness.directory);
            // However many processors there are: such tests wait most of the time.
            nextest.args(["--test-threads", "4"]);
        }
        succeed(&mut nextest)
    }
}

/// An ignored test outside every level would never run and nobody would notice.
fn no_test_without_level(workspace: &Workspace) -> Result<()> {
    let levels: Vec<_> = LEVELS
        .iter()
        .filter(|level| level.name != PURE)
        .map(|level| format!("binary(={})", level.name))
        .collect();
    let filter = format!("not ({})", levels.join(" | "));
    let listed = workspace.read_cargo(&[
        "nextest",
        "list",
        "--workspace",
        "--all-features",
        "--run-ignored",
        "only",
        "-E",
        &filter,
        "--message-format",
        "json",
    ])?;
    let listed: serde_json::Value = serde_json::from_str(&listed)?;
    let suites = listed["rust-suites"].as_object().context("suites in nextest's list")?;
    let mut lost = Vec::new();
    for (suite, tests) in suites {
        for (name, test) in tests["testcases"].as_object().context("tests in nextest's list")? {
            if test["filter-match"]["status"] == "matches" {
                lost.push(format!("{suite}: {name}"));
            }
        }
    }
    if !lost.is_empty() {
        bail!(
            "ignored tests that belong to no level:\n  {}\nmove them into tests/LEVEL.rs, one of: {}",
            lost.join("\n  "),
            LEVELS.iter().map(|level| level.name).collect::<Vec<_>>().join(", ")
        );
    }
    Ok(())
}

#[derive(Default)]
struct Report {
    ran: Vec<String>,
    skipped: Vec<String>,
}

impl Report {
    fn step(&mut self, name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
        say::progress(&format!("── {name}"));
        let begun = Instant::now();
        run().with_context(|| format!("{name} failed"))?;
        self.ran.push(format!("{name} {:.0} s", begun.elapsed().as_secs_f64()));
        Ok(())
    }

    fn skip(&mut self, name: &str, reason: &anyhow::Error) {
        say::progress(&format!("── {name}\nskipped: {reason:#}"));
        self.skipped.push(format!("{name} ({reason:#})"));
    }

    fn close(self) -> Result<()> {
        say::progress(&format!("── done\nran      {}", self.ran.join(", ")));
        for skipped in &self.skipped {
            say::progress(&format!("skipped  {skipped}"));
        }
        if !self.skipped.is_empty() && std::env::var_os("CI").is_some_and(|value| value == "true") {
            bail!("a skipped level is an error when CI=true");
        }
        Ok(())
    }
}
