//! The test levels and what each of them needs.
//!
//! A level is a test target: tests in `tests/interop.rs` of any crate belong to the level `interop`. They
//! are marked `#[ignore]` with a reason, so that plain `cargo test` runs the pure level alone and says
//! what it left out.

use anyhow::{Context, Result, bail};

use crate::peers::{self, Peer};
use crate::talos;
use crate::workspace::{Workspace, succeed};

/// A set of tests with the same needs.
pub(super) struct Level {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The real programs that its tests run.
    pub(super) peers: &'static [&'static str],
    /// Debian packages with programs that its tests run.
    pub(super) packages: &'static [&'static str],
    /// Whether it needs real Talos nodes, with the programs that they are made of.
    pub(super) nodes: bool,
}

pub(super) const LEVELS: &[Level] = &[
    Level {
        name: PURE,
        about: "everything that needs nothing but Rust",
        peers: &[],
        packages: &[],
        nodes: false,
    },
    Level {
        name: "system",
        about: "with real programs of the operating system",
        peers: &[],
        packages: &["bash", "fish", "python3-jinja2", "zsh"],
        nodes: false,
    },
    Level {
        name: "golden",
        about: "what is written, beside what talosctl and talhelper write",
        peers: &["talosctl-1.14.1", "talosctl-1.13.9", "talosctl-1.12.0", "talhelper", "sops"],
        packages: &[],
        nodes: false,
    },
    Level {
        name: "interop",
        about: "with the real programs that Ichor is compared with",
        peers: &["talosctl-1.14.1", "kubectl", "sops", "etcd", "kube-apiserver"],
        packages: &["openssl"],
        nodes: false,
    },
    Level {
        name: "talos",
        about: "with real Talos nodes",
        peers: &["talosctl-1.13.9", "kubectl", "etcdutl"],
        packages: &["iproute2"],
        nodes: true,
    },
];

/// The level whose tests are not ignored; it has no target of its own.
const PURE: &str = "pure";

impl Level {
    /// The names of all real programs that must be there before it runs.
    pub(super) fn needs(&self) -> Vec<&'static str> {
        let of_nodes = if self.nodes { talos::PROGRAMS } else { &[] };
        let more = of_nodes.iter().filter(|name| !self.peers.contains(name));
        self.peers.iter().chain(more).copied().collect()
    }

    /// The programs that are to be built for it; an error is the reason why it cannot run here, whatever is built.
    pub(super) fn missing(&self) -> Result<Vec<Peer>> {
        if self.nodes {
            talos::possible()?;
        }
        peers::missing(&self.needs())
    }

    pub(super) fn run(&self, workspace: &Workspace) -> Result<()> {
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

/// An ignored test outside every level would never run, and no report would show it.
pub(super) fn no_test_without_level(workspace: &Workspace) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn each_level_names_exactly_the_peers_that_its_tests_run() {
        for level in LEVELS {
            let sources = sources(level.name);
            let mut run: BTreeSet<&str> = sources
                .split("program(\"")
                .skip(1)
                .filter_map(|rest| rest.split_once('"').map(|(name, _)| name))
                .collect();
            // Where the release is a variable, it stands in the test that gives it.
            if sources.contains("program(&format!(\"talosctl-{release}\"))") {
                let releases = testkit::peers::all().filter_map(|(_, program)| {
                    let release = program.name.strip_prefix("talosctl-")?;
                    sources.contains(&format!("\"{release}\"")).then_some(program.name)
                });
                run.extend(releases);
            }
            assert_eq!(run, level.peers.iter().copied().collect(), "{}", level.name);
        }
    }

    /// All tests of a level, as text.
    fn sources(level: &str) -> String {
        let root = crate::workspace::package().join("..");
        let crates = fs_err::read_dir(root.join("crates")).expect("the crates");
        let crates = crates.map(|entry| entry.expect("a crate").path());
        let mut text = String::new();
        for directory in crates.chain([root.join("xtask")]) {
            read(&directory.join("tests").join(level), &mut text);
            read(&directory.join("tests").join(level).with_extension("rs"), &mut text);
        }
        text
    }

    fn read(path: &Path, text: &mut String) {
        if path.is_dir() {
            for entry in fs_err::read_dir(path).expect("a folder of tests") {
                read(&entry.expect("a file of tests").path(), text);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") && path.exists() {
            text.push_str(&fs_err::read_to_string(path).expect("a file of tests"));
        }
    }
}
